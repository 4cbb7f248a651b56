/** The table of the sources that can be imported: one reader a store. */
import { archiveReader } from './readers/archive.ts';
import { folderReader } from './readers/folder.ts';
import type { Reader } from './session.ts';

export const readers: Readonly<Record<string, Reader>> = {
  folder: folderReader,
  dormouse: archiveReader,
};
