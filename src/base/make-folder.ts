/** Makes folders on any file system. */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and its missing parents, with mode 0700. A folder that exists keeps its mode. Throws the error of the system. The recursive `mkdir` of Node is
 * not used, because it never returns if a file system, such as /proc, answers ENOENT for a folder whose parent exists.
 */
export const makeFolder = (path: string): void => {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(path).isDirectory()) return;
    const above = dirname(path);
    if (code !== 'ENOENT' || above === path || existsSync(above)) throw error;
    makeFolder(above);
    makeFolder(path);
  }
};
