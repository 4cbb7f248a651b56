/** Measures the import of sessions of the bare library: its time, and the memory of the command and of the gateway. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeMadeSession } from '#test/support/made-sessions.ts';
import { numberOf, scaled, type Bench } from './bench.ts';
import { adminToken, startGateway } from './clients.ts';
import type { Memory } from './probe.ts';
import { databaseCpu } from './cost.ts';
import { importMessages } from './import-messages.ts';
import { startSandbox } from './sandbox.ts';
import { eventually, type Child } from './workshop.ts';

const sessions = 500;
const messages = 100_000;
/** The number of keys of a newly linked session, and of its conversations. */
const kept = { preKeys: 812, people: 50 };
/** The number of files that are written at the same time. */
const writtenAtOnce = 4;

const peakOf = (pid: number): number | null => {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return null;
  }
};

const writeAll = async (folder: string, count: number): Promise<void> => {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const number = numberOf(5, next++);
      await writeMadeSession(join(folder, number), { number, ...kept });
    }
  };
  await Promise.all(Array.from({ length: writtenAtOnce }, worker));
};

/** Waits for the report of the command. Returns its peak memory. In megabytes. */
const endOf = async (command: Child): Promise<number> => {
  let peak = 0;
  const look = (): true | null => {
    peak = Math.max(peak, peakOf(command.pid) ?? 0);
    return /Before you connect/.test(command.output()) ? true : null;
  };
  await eventually(look, 'the import to end', 600_000);
  return peak;
};

export const importing: Bench = {
  name: 'import',
  about: `${sessions} sessions of the bare library that move in, and an archive with ${messages} messages`,
  async run(setting) {
    const { workshop, say } = setting;
    const count = scaled(sessions, setting);
    const gateway = await startGateway(workshop, await startSandbox(workshop));
    const source = join(gateway.folder, 'sessions');
    await writeAll(source, count);
    say(`${count} folders are written`);
    const before = (await gateway.ask<Memory>('memory')).rss;
    const [start, busy, stored] = [performance.now(), await gateway.cpu(), databaseCpu(gateway.database)];
    const command = await workshop.start('src/import.ts', {
      args: ['--from', 'folder', '--path', source, '--to', gateway.address],
      env: { ADMIN_TOKEN: adminToken },
    });
    const peak = await endOf(command);
    const seconds = (performance.now() - start) / 1000;
    const cpu = {
      command: (await command.ask<number>('cpu')) / count,
      gateway: ((await gateway.cpu()) - busy) / count,
      database: (databaseCpu(gateway.database) - stored) / count,
    };
    const after = (await gateway.ask<Memory>('memory')).rss;
    const imported = command
      .output()
      .split('\n')
      .filter((line) => line.endsWith(' imported')).length;
    if (!command.output().includes(`${count} of ${count} sessions: ${count} imported`))
      throw new Error(`${imported} sessions were imported`);
    return [
      {
        name: `${count} sessions imported`,
        unit: 's',
        ours: seconds,
        baseline: null,
        judged: 'value',
        bound: { most: 60 },
        details: { processorMs: cpu },
      },
      {
        name: `${count} sessions imported: memory of the command`,
        unit: 'MB',
        ours: peak,
        baseline: null,
        judged: 'value',
        bound: { most: 400 },
      },
      {
        name: `${count} sessions imported: growth of the gateway`,
        unit: 'MB',
        ours: (after - before) / 1e6,
        baseline: null,
        judged: 'nothing',
      },
      ...(await importMessages(workshop, gateway, scaled(messages, setting), (pid) => peakOf(pid) ?? 0)),
    ];
  },
};
