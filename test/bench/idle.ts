/** Measures the memory and processor time of silent connected sessions, beside bare Baileys sockets with keys in memory. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { scaled, type Bench, type Measure, type Setting } from './bench.ts';
import { pairMany, startBare, startGateway, type Client, type GatewayClient } from './clients.ts';
import type { Memory } from './probe.ts';
import type { Figure } from './report.ts';
import { restored, restoreMs } from './restore.ts';
import { startSandbox } from './sandbox.ts';
import { eventually, pause } from './workshop.ts';

const sessions = 200;
/** The number of sessions that are paired before the first measurement. They cause the costs that do not grow with the sessions. */
const first = 5;
/** The pause after the logins. Baileys keeps their data for up to 30 s, and the thread pool ends after 30 s. In milliseconds. */
const settleMs = 40_000;
/** The measured time, which has one ping of every session. In milliseconds. */
const idleMs = 30_000;

interface Cost {
  /** The resident memory per session. In bytes. */
  readonly rss: number;
  readonly heap: number;
  readonly external: number;
  /** The processor time per session and second. In milliseconds. */
  readonly cpu: number;
  /** The memory of the process before the sessions. In bytes. */
  readonly start: Memory;
}

const measure = async (client: Client, series: number, count: number, setting: Setting): Promise<Cost> => {
  await pairMany(client, series, 0, first);
  await pause(settleMs);
  const start = await client.ask<Memory>('memory');
  await pairMany(client, series, first, first + count);
  setting.say(`${count} sessions of ${client.title} are connected`);
  await pause(settleMs);
  const before = await client.cpu();
  await pause(idleMs);
  const cpu = ((await client.cpu()) - before) / (first + count) / (idleMs / 1000);
  const end = await client.ask<Memory>('memory');
  const per = (field: keyof Memory): number => (end[field] - start[field]) / count;
  return { rss: per('rss'), heap: per('heap'), external: per('external'), cpu, start };
};

const kilobytes = (bytes: number): number => bytes / 1024;

const figuresOf = (ours: Cost, theirs: Cost, count: number, heapWithoutPreKeys: number): readonly Figure[] => {
  const memory = (name: string, field: 'rss' | 'heap'): Figure => ({
    name: `${count} idle sessions: ${name}`,
    unit: 'KB/session',
    ours: kilobytes(ours[field]),
    baseline: kilobytes(theirs[field]),
    judged: 'ratio',
    bound: { most: 1.25 },
    details: { startOurs: ours.start, startBare: theirs.start, externalOurs: ours.external, externalBare: theirs.external },
  });
  return [
    memory('resident memory', 'rss'),
    memory('heap', 'heap'),
    {
      name: `${count} idle sessions: heap, bare without one-time keys`,
      unit: 'KB/session',
      ours: kilobytes(ours.heap),
      baseline: kilobytes(heapWithoutPreKeys),
      judged: 'nothing',
    },
    { name: `${count} idle sessions: processor`, unit: 'ms/s/session', ours: ours.cpu, baseline: theirs.cpu, judged: 'nothing' },
  ];
};

export const idleRounds: Measure = {
  name: 'idle',
  about: `memory of ${sessions} idle connected sessions`,
  rounds: 3,
  warmUp: 0,
  figures: {
    rss: { name: 'an idle session: resident memory', unit: 'KB', better: 'less' },
    heap: { name: 'an idle session: heap', unit: 'KB', better: 'less' },
    cpu: { name: 'an idle session: processor', unit: 'ms/s', better: 'less' },
  },
  open: async (setting) => async () => {
    const sandbox = await startSandbox(setting.workshop);
    const gateway = await startGateway(setting.workshop, sandbox);
    const { rss, heap, cpu } = await measure(gateway, 2, scaled(sessions, setting), setting);
    await Promise.all([gateway.end(), sandbox.end()]);
    return { rss: kilobytes(rss), heap: kilobytes(heap), cpu };
  },
};

export const idle: Bench = {
  name: 'idle',
  about: `memory of ${sessions} idle connected sessions, against bare Baileys sockets with keys in memory`,
  async run(setting) {
    const { workshop, profiles } = setting;
    const count = scaled(sessions, setting);
    const sandbox = await startSandbox(workshop);
    const [gateway, bare] = await Promise.all([startGateway(workshop, sandbox), startBare(workshop, sandbox)]);
    const [ours, theirs] = await Promise.all([measure(gateway, 2, count, setting), measure(bare, 1, count, setting)]);
    const [connected, before] = await Promise.all([bare.ask<number>('connected'), bare.ask<Memory>('memory')]);
    if (connected !== first + count) throw new Error(`${connected} of ${first + count} bare sessions are connected`);
    await bare.ask('forgetPreKeys');
    const after = await bare.ask<Memory>('memory');
    if (profiles !== null) await gateway.ask('snapshot', join(profiles, 'idle-gateway.heapsnapshot'));
    return figuresOf(ours, theirs, count, theirs.heap - (before.heap - after.heap) / (first + count));
  },
};

const live = 1_000;
/** The time within which a quiet gateway returns the memory of its start to the system (`src/idle-memory.ts`). In milliseconds. */
const quietMs = 75_000;
/** The largest memory of the gateway with its database. In bytes. */
const liveMost = 500 * 1024 * 1024;

/** Returns the memory of a process and its children in bytes, with shared pages divided among their users. Unreadable processes count 0. */
const memoryOfTree = (root: number): number => {
  const read = (path: string): string => {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return ''; // The process has ended, or the system is not Linux.
    }
  };
  const parentOf = (pid: string): number => Number(/\) \S (\d+)/.exec(read(`/proc/${pid}/stat`))?.[1]);
  const pids = process.platform === 'linux' ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : [];
  const own = pids.filter((pid) => Number(pid) === root || parentOf(pid) === root);
  return own.reduce((sum, pid) => sum + Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) * 1024, 0);
};

/** Returns the memory of a gateway and of its database. In megabytes. */
const megabytesOf = async (gateway: GatewayClient) => {
  // This question comes first, because the garbage collections of the second question let V8 keep pages again.
  const rss = await gateway.ask<number>('resident');
  const { heap } = await gateway.ask<Memory>('memory');
  const [own, ofHeap, database] = [rss, heap, memoryOfTree(gateway.database ?? 0)].map((bytes) => bytes / 1024 / 1024) as [
    number,
    number,
    number,
  ];
  return { all: own + database, gateway: own, heap: ofHeap, database };
};

export const thousand: Bench = {
  name: 'thousand',
  about: `memory of ${live} idle connected sessions, with the database: after a restart, and after their pairing`,
  async run(setting) {
    const { workshop } = setting;
    const count = scaled(live, setting);
    const sandbox = await startSandbox(workshop);
    const first = await startGateway(workshop, sandbox);
    await pairMany(first, 2, 0, count);
    await pause(quietMs);
    const paired = await megabytesOf(first);
    await first.end();
    const gateway = await startGateway(workshop, sandbox, { folder: first.folder });
    await eventually(() => restored(gateway), `${count} sessions to be restored`, restoreMs);
    await pause(quietMs);
    const { all, ...details } = await megabytesOf(gateway);
    return [
      {
        name: `${count} idle sessions: gateway and database`,
        unit: 'MB',
        ours: all,
        baseline: null,
        judged: 'value',
        bound: { most: liveMost / 1024 / 1024 },
        details,
      },
      // The heap of a process that paired the sessions keeps data of the pairing until memory is short.
      { name: `${count} sessions just paired: gateway and database`, unit: 'MB', ours: paired.all, baseline: null, judged: 'nothing' },
    ];
  },
};
