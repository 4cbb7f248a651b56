/** Folders that an operator names for a backup or a restore. */
import { realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative } from 'node:path';
import { makeFolder } from '#src/base/make-folder.ts';

/** True if `path` is the folder or lies in it. */
export const isWithin = (folder: string, path: string): boolean => {
  const way = relative(folder, path);
  return way === '' || !(way.startsWith('..') || isAbsolute(way));
};

const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException | null)?.code ?? error);

const reasons: Readonly<Record<string, string>> = {
  EEXIST: 'a file has this name',
  ENOTDIR: 'a part of the path is a file',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the file system is read-only',
  ENOENT: 'this file system takes no folders',
  ENAMETOOLONG: 'the path is too long',
  ENOSPC: 'the disk is full',
};

/** Makes a folder and its parents, with mode 0700. Throws a sentence for the operator. */
export const makePlace = (path: string): void => {
  try {
    makeFolder(path);
  } catch (error) {
    throw new Error(`${path} cannot be made: ${reasons[codeOf(error)] ?? codeOf(error)}. Name another folder with --to.`, { cause: error });
  }
};

/** Returns the path with the links in its existing folders resolved. */
export const realPlace = async (path: string): Promise<string> =>
  realpath(path).catch(async () => (dirname(path) === path ? path : join(await realPlace(dirname(path)), basename(path))));
