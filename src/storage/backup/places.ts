/** Folders that an operator names for a backup or a restore. */
import { mkdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative } from 'node:path';

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

const make = async (path: string): Promise<void> => {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) === 'EEXIST' && (await stat(path)).isDirectory()) return;
    const isThere = await stat(dirname(path)).catch(() => null);
    if (codeOf(error) !== 'ENOENT' || isThere !== null || dirname(path) === path) throw error;
    await make(dirname(path));
    await mkdir(path, { mode: 0o700 });
  }
};

/**
 * Makes a folder and its parents, with mode 0700. Throws a sentence for the operator. The recursive `mkdir` of Node never ends if a file system
 * answers ENOENT for a folder whose parent exists, as /proc does.
 */
export const makeFolder = async (path: string): Promise<void> => {
  try {
    await make(path);
  } catch (error) {
    throw new Error(`${path} cannot be made: ${reasons[codeOf(error)] ?? codeOf(error)}. Name another folder with --to.`, { cause: error });
  }
};

/** Returns the path with the links in its existing folders resolved. */
export const realPlace = async (path: string): Promise<string> =>
  realpath(path).catch(async () => (dirname(path) === path ? path : join(await realPlace(dirname(path)), basename(path))));
