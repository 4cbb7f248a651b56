/** Finds programs of the machine by the search path. Only this folder may read the search path, because PATH is an environment variable. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

const canRun = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
};

/** Returns the absolute path of a program, given by its path or its name; null if this machine does not have it. */
export const findProgram = (name: string, searchPath = process.env['PATH'] ?? ''): string | null => {
  const folders = searchPath.split(delimiter).filter(isAbsolute);
  const paths = /[/\\]/.test(name) ? [resolve(name)] : folders.map((folder) => join(folder, name));
  return paths.find(canRun) ?? null;
};
