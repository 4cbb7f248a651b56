/** Measures the cost of work: the processor time of processes, and profiles of processes with a probe. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Setting } from './bench.ts';
import type { Client } from './clients.ts';
import type { Child } from './workshop.ts';

/** The length of a kernel tick, in which Linux counts the time of ended processes. In milliseconds. */
const tick = 10;

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // The process has ended in the meantime.
  }
};

/** Returns the processor time of the database server and its backends, including ended backends. Unreadable processes count 0. In milliseconds. */
export const databaseCpu = (server: number | null): number => {
  if (server === null || process.platform !== 'linux') return 0;
  let sum = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const stat = read(`/proc/${pid}/stat`);
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(pid) === server) sum += (Number(fields[13]) + Number(fields[14])) * tick;
    // Each backend is one thread, whose time `schedstat` gives in nanoseconds.
    if (Number(pid) === server || Number(fields[1]) === server) sum += Number(read(`/proc/${pid}/schedstat`).split(' ')[0]) / 1e6;
  }
  return sum;
};

/** The measured cost of a number of tasks. */
export interface Spent {
  readonly perSecond: number;
  /** The processor time of the client per task. In milliseconds. */
  readonly cpu: number;
  /** The processor time of the database server per task. In milliseconds. */
  readonly database: number;
}

/** Measures the time and the cost of `work`. If `work` returns a number of milliseconds, the rate uses that number. */
export const spent = async (client: Client, database: number | null, count: number, work: () => Promise<number | void>): Promise<Spent> => {
  const [before, databaseBefore, begun] = [await client.cpu(), databaseCpu(database), performance.now()];
  const ms = (await work()) ?? performance.now() - begun;
  const cpu = await client.cpu();
  return { perSecond: (count / ms) * 1000, cpu: (cpu - before) / count, database: (databaseCpu(database) - databaseBefore) / count };
};

/** Runs the work, with a processor profile of the child if profiles are requested. */
export const profiled = async <T>({ profiles }: Setting, child: Child, name: string, work: () => Promise<T>): Promise<T> => {
  if (profiles === null) return work();
  await child.ask('profile.start');
  const result = await work();
  await child.ask('profile.stop', join(profiles, `${name}.cpuprofile`));
  return result;
};
