/** The table of the sources that can be imported: one reader a store. */
import { archiveReader } from './readers/archive.ts';
import { evolutionReader } from './readers/evolution.ts';
import { fazerReader } from './readers/fazer.ts';
import { folderReader } from './readers/folder.ts';
import { wahaReader } from './readers/waha.ts';
import type { Reader } from './session.ts';

export const readers: Readonly<Record<string, Reader>> = {
  folder: folderReader,
  evolution: evolutionReader,
  waha: wahaReader,
  'fazer-ai': fazerReader,
  dormouse: archiveReader,
};
