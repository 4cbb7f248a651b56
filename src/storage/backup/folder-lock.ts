/** Keeps two commands from filling one folder at the same time. Each would overwrite files that the other command has already checked. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { alive } from '../postgres/server-files.ts';

/** The name of the lock file, which has the id of the process, the name of its host and a random word. */
export const lockName = 'unfinished.pid';

/**
 * The contents of the lock files that this process wrote. In a container, a new process may get the id of the killed process, so the id alone does not identify
 * a lock.
 */
const own = new Set<string>();

const read = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');

/** The pause between two signs of life from the holder of a lock. A sign is the modification time of the lock file. In milliseconds. */
const signMs = 10_000;
/**
 * If the last sign is older than this, a lock of another host counts as left by a killed process. The clocks of two hosts may differ by some seconds. In
 * milliseconds.
 */
const silenceMs = 60_000;

const ageOf = async (path: string): Promise<number> => Date.now() - ((await stat(path).catch(() => null))?.mtimeMs ?? 0);

/**
 * Returns true if the process of a lock may still run. A process of another host, such as a container, is known by its signs only. A lock without a host counts
 * as a lock of this host.
 */
const isTaken = async (path: string, content: string): Promise<boolean> => {
  const [id = '', host = hostname()] = content.trim().split(' ');
  const pid = Number.parseInt(id, 10);
  if (!(pid > 0)) return false;
  if (host !== hostname()) return (await ageOf(path)) < silenceMs;
  return pid === process.pid ? own.has(content) : alive(pid);
};

/** Removes a lock that a killed process left. Returns false, and puts the file back, if another command has replaced the lock since `found` was read. */
const removeStale = async (path: string, found: string): Promise<boolean> => {
  // On a read-only disk, a rename of an absent file fails with EROFS instead of ENOENT.
  if (!existsSync(path)) return true;
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return true;
  }
  const isSame = (await read(aside)) === found;
  await (isSame ? rm(aside, { force: true }) : rename(aside, path));
  return isSame;
};

/** Locks a folder until the lock is disposed. A lock of a killed process is replaced. Throws an error with a text for the operator. */
export const lockFolder = async (folder: string): Promise<AsyncDisposable> => {
  const path = join(folder, lockName);
  const refuse = (content: string): never => {
    const pid = Number.parseInt(content, 10);
    const holder = pid > 0 ? `Process ${pid}` : 'Another process';
    throw new Error(`${holder} fills ${folder}: wait for its end. If it is neither a backup nor a restore, remove ${path}.`);
  };
  const found = await read(path);
  if ((await isTaken(path, found)) || !(await removeStale(path, found))) refuse(await read(path));
  const content = `${process.pid} ${hostname()} ${randomUUID()}\n`;
  own.add(content);
  try {
    await writeFile(path, content, { mode: 0o600, flag: 'wx' }).catch(async (error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      refuse(await read(path));
    });
    // Another command may have read the former lock, and moved the new lock away.
    const written = await read(path);
    if (written !== content) refuse(written);
  } catch (error) {
    own.delete(content);
    throw error;
  }
  const signs = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => undefined), signMs).unref();
  return {
    [Symbol.asyncDispose]: async () => {
      clearInterval(signs);
      own.delete(content);
      if ((await read(path)) === content) await rm(path, { force: true });
    },
  };
};
