/** Keeps two commands from filling one folder at the same time. Each would overwrite files that the other command has already checked. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { alive } from '../postgres/server-files.ts';

/** The name of the lock file, which has the id of the process. */
export const lockName = 'unfinished.pid';

/** Locks a folder until the lock is disposed. A lock of a killed process is replaced. Throws an error with a text for the operator. */
export const lockFolder = async (folder: string): Promise<AsyncDisposable> => {
  const path = join(folder, lockName);
  const holder = async (): Promise<number> => Number.parseInt(await readFile(path, 'utf8').catch(() => ''), 10);
  const isTaken = (pid: number): boolean => pid > 0 && pid !== process.pid && alive(pid);
  const refuse = (pid: number): never => {
    throw new Error(`Process ${pid} fills ${folder}: wait for its end. If it is neither a backup nor a restore, remove ${path}.`);
  };
  const found = await holder();
  if (isTaken(found)) refuse(found);
  await rm(path, { force: true });
  await writeFile(path, `${process.pid}\n`, { mode: 0o600, flag: 'wx' }).catch(async (error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    refuse(await holder());
  });
  return { [Symbol.asyncDispose]: () => rm(path, { force: true }) };
};
