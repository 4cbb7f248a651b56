/** What work costs: processor time of processes that answer no questions, and profiles of those that do. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Setting } from './bench.ts';
import type { Child } from './workshop.ts';

/** Milliseconds per kernel tick, in which Linux counts the time of other processes. */
const tick = 10;

/** Milliseconds of processor time of the database server with its backends; 0 where that cannot be read. */
export const databaseCpu = (server: number | null): number => {
  if (server === null || process.platform !== 'linux') return 0;
  const stats = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => {
      try {
        return readFileSync(join('/proc', name, 'stat'), 'utf8');
      } catch {
        return ''; // it ended while we looked
      }
    })
    .map((stat) => ({ pid: Number.parseInt(stat, 10), fields: stat.slice(stat.lastIndexOf(')') + 2).split(' ') }))
    .filter(({ pid, fields }) => pid === server || Number(fields[1]) === server);
  return stats.reduce((sum, { fields }) => sum + (Number(fields[11]) + Number(fields[12])) * tick, 0);
};

/** Runs the work, with a processor profile of the child when profiles are asked for. */
export const profiled = async <T>({ profiles }: Setting, child: Child, name: string, work: () => Promise<T>): Promise<T> => {
  if (profiles === null) return work();
  await child.ask('profile.start');
  const result = await work();
  await child.ask('profile.stop', join(profiles, `${name}.cpuprofile`));
  return result;
};
