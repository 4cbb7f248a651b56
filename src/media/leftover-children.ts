/** Programs that a killed gateway left behind: they work on for nobody, and write into files that are gone. */
import { readdir, readlink, realpath } from 'node:fs/promises';

/**
 * Ends every process that runs in this folder, as those of `child.ts` do. For a start, before the folder is used. Answers how many. On systems that do not
 * show their processes as files it ends none: there the limit on processor time ends a conversion.
 */
export const endLeftoverChildren = async (folder: string): Promise<number> => {
  const real = await realpath(folder).catch(() => folder);
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid) => pid !== process.pid && (await readlink(`/proc/${pid}/cwd`).catch(() => '')) === real),
  );
  const leftovers = pids.filter((_pid, index) => found[index]);
  for (const pid of leftovers) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
  return leftovers.length;
};
