/** Ends the processes and deletes the folders of tests that run the program for real. */
import assert from 'node:assert/strict';
import { globSync, mkdtempSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './until.ts';

/** Sends a signal. Returns false if there is no such process. A negative id is a process group. */
export const signalTo = (pid: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ESRCH');
    return false;
  }
};

/** Returns the content of a file, or '' if the file cannot be read. A database server deletes its PID file when the server ends. */
const readIfThere = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

/** Returns true if the process still runs. A zombie process does not count: its id stays until its parent collects it. */
export const isRunning = (pid: number): boolean => {
  if (!signalTo(pid, 0)) return false;
  const stat = process.platform === 'linux' ? readIfThere(`/proc/${pid}/stat`) : '';
  return !stat.slice(stat.lastIndexOf(')')).startsWith(') Z');
};

/** Creates a folder outside the project. */
export const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), 'dormouse-e2e-'));

/** Returns true if the working directory of the process is the folder. A stored process id is not enough, because ids are reused. */
const worksIn = (pid: number, folder: string): boolean => {
  try {
    return process.platform !== 'linux' || readlinkSync(`/proc/${pid}/cwd`) === folder;
  } catch {
    return false;
  }
};

/** Returns the ids of the embedded database servers below a folder. They survive a kill of the gateway. */
export const databaseServers = (folder: string): readonly number[] =>
  globSync('**/postmaster.pid', { cwd: folder }).flatMap((path) => {
    const pid = Number(readIfThere(join(folder, path)).split('\n', 1)[0]);
    return Number.isInteger(pid) && pid > 0 && worksIn(pid, join(folder, path, '..')) ? [pid] : [];
  });

/** Ends the database servers below the folder, then deletes the folder. */
export const removeFolder = async (folder: string): Promise<void> => {
  const servers = databaseServers(folder);
  for (const pid of servers) signalTo(pid, 'SIGQUIT');
  for (const pid of servers) await until(() => !isRunning(pid), `the database server ${pid} is gone`);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
};
