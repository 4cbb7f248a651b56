/** Ends the processes and deletes the folders of tests that run the program for real. */
import assert from 'node:assert/strict';
import { globSync, mkdtempSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './until.ts';

/** False when there is no such process. A negative id is a group. */
export const signalTo = (pid: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ESRCH');
    return false;
  }
};

/** A server that ends takes its file along. */
const readIfThere = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

/** Returns true if the process still runs. A dead process keeps its id until its parent collects it, which an init may do late. */
export const isRunning = (pid: number): boolean => {
  if (!signalTo(pid, 0)) return false;
  const stat = process.platform === 'linux' ? readIfThere(`/proc/${pid}/stat`) : '';
  return !stat.slice(stat.lastIndexOf(')')).startsWith(') Z');
};

/** A folder outside the project. */
export const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), 'dormouse-e2e-'));

/** The server's own folder is its working directory; an id in a file alone proves nothing. */
const worksIn = (pid: number, folder: string): boolean => {
  try {
    return process.platform !== 'linux' || readlinkSync(`/proc/${pid}/cwd`) === folder;
  } catch {
    return false;
  }
};

/** Ids of the embedded database servers below a folder; they outlive a gateway that is killed. */
export const databaseServers = (folder: string): readonly number[] =>
  globSync('**/postmaster.pid', { cwd: folder }).flatMap((path) => {
    const pid = Number(readIfThere(join(folder, path)).split('\n', 1)[0]);
    return Number.isInteger(pid) && pid > 0 && worksIn(pid, join(folder, path, '..')) ? [pid] : [];
  });

/** Ends the database servers below the folder, then the folder itself. */
export const removeFolder = async (folder: string): Promise<void> => {
  const servers = databaseServers(folder);
  for (const pid of servers) signalTo(pid, 'SIGQUIT');
  for (const pid of servers) await until(() => !isRunning(pid), `the database server ${pid} is gone`);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
};
