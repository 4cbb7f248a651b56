/** Finds programs of the machine: the search path is part of the environment. */
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

/** The absolute path of a program, given by its path or by a name to look for; null when this machine has none. */
export const findProgram = (name: string, searchPath = process.env['PATH'] ?? ''): string | null => {
  const folders = searchPath.split(delimiter).filter(isAbsolute);
  const places = /[/\\]/.test(name) ? [resolve(name)] : folders.map((folder) => join(folder, name));
  return places.find(canRun) ?? null;
};
