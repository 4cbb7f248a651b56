/** Measures the start of the program with disconnected or hibernated instances, compared with a start without instances. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { request } from 'undici';
import { scaled, type Bench, type Measure, type Setting } from './bench.ts';
import { startGateway, type GatewayClient } from './clients.ts';
import type { Memory } from './probe.ts';
import { median, type Figure } from './report.ts';
import { startSandbox, type BenchSandbox } from './sandbox.ts';
import type * as seed from './seed.ts';
import { tokenOf, type Registered } from './seed.ts';
import { watchVariable, type Stall } from './stalls.ts';
import { eventually, pause } from './workshop.ts';

const instances = 10_000;
const rounds = 3;
/** The rule for an idle process: its thread uses less than `most` milliseconds of processor time in `each` milliseconds. */
const quietMs = { each: 500, most: 75 };
/** The time of two rounds of the periodic workers, whose intervals are shortened for the bench. In milliseconds. */
const sweepMs = 2_500;
const sweeps = { HIBERNATE_AFTER_MS: '4000', WEBHOOK_SWEEP_MS: '1000' };

interface Start {
  /** The time from the start of the process until the readiness check succeeds. In milliseconds. */
  readonly ready: number;
  /** The longest stall, without the fixed cost of every start. */
  readonly stall: Stall;
  readonly memory: Memory;
}

const isReady = async (address: string): Promise<true | null> => {
  const { statusCode, body } = await request(`${address}/health/ready`);
  await body.dump();
  return statusCode === 200 ? true : null;
};

const settle = async (gateway: GatewayClient): Promise<void> => {
  let before = await gateway.cpu();
  await eventually(async () => {
    await pause(quietMs.each);
    const now = await gateway.cpu();
    const worked = now - before;
    before = now;
    return worked < quietMs.most ? true : null;
  }, 'the gateway to be at rest');
};

const checkToken = async ({ address }: GatewayClient, n: number): Promise<void> => {
  const { statusCode, body } = await request(`${address}/instance/status`, { headers: { token: tokenOf(n) } });
  await body.dump();
  if (statusCode !== 200) throw new Error(`GET /instance/status of instance ${n} answered ${statusCode}`);
};

const measure = async ({ workshop }: Setting, sandbox: BenchSandbox, folder: string, count: number): Promise<Start> => {
  const begun = performance.now();
  const gateway = await startGateway(workshop, sandbox, { folder, env: { ...sweeps, [watchVariable]: '1' } });
  await eventually(() => isReady(gateway.address), 'the gateway to be ready');
  const ready = performance.now() - begun;
  await settle(gateway);
  await pause(sweepMs);
  const stall = await gateway.ask<Stall>('stalls.stop');
  const memory = await gateway.ask<Memory>('memory');
  if (count > 0) await checkToken(gateway, count - 1);
  await gateway.end();
  return { ready, stall, memory };
};

/** Prepares a folder in which a gateway has run once, with instances of one kind. */
const prepare = async ({ workshop }: Setting, sandbox: BenchSandbox, count: number, kind: Registered): Promise<string> => {
  const folder = await workshop.folder();
  const gateway = await startGateway(workshop, sandbox, { folder });
  await gateway.end();
  // The measured checkout creates the tables and encrypts their values.
  const { register } = (await import(pathToFileURL(join(workshop.checkout, 'test/bench/seed.ts')).href)) as typeof seed;
  if (count > 0) await register(folder, count, kind);
  return folder;
};

const figuresOf = (what: string, count: number, ours: readonly Start[], empty: readonly Start[]): readonly Figure[] => {
  const middle = (starts: readonly Start[], of: (start: Start) => number): number => median(starts.map(of));
  const heap = ours.map(({ memory }, n) => (memory.heap - (empty[n]?.memory.heap ?? NaN)) / count / 1024);
  const rss = ours.map(({ memory }, n) => (memory.rss - (empty[n]?.memory.rss ?? NaN)) / count / 1024);
  const compared = (name: string, of: (start: Start) => number) => ({
    name: `${count} ${what}: ${name}`,
    unit: 'ms',
    ours: middle(ours, of),
    baseline: middle(empty, of),
    details: { rounds: ours.map(of), roundsEmpty: empty.map(of) },
  });
  return [
    { ...compared('start until ready', ({ ready }) => ready), judged: 'difference', bound: { most: 2_000 } },
    { ...compared('longest stall of the loop, work of the thread', ({ stall }) => stall.cpu), judged: 'value', bound: { most: 50 } },
    { ...compared('longest stall of the loop, by the clock', ({ stall }) => stall.wall), judged: 'nothing' },
    {
      name: `${count} ${what}: heap`,
      unit: 'KB/instance',
      ours: median(heap),
      baseline: null,
      judged: 'value',
      bound: { most: 12 },
      details: { rounds: heap, rss: median(rss) },
    },
  ];
};

export const registeredRounds: Measure = {
  name: 'registered',
  about: `the start with ${instances} instances that are not connected`,
  rounds: 5,
  warmUp: 0,
  figures: {
    ready: { name: `${instances} not connected: start until ready`, unit: 'ms', better: 'less' },
    stall: { name: `${instances} not connected: longest stall, work of the thread`, unit: 'ms', better: 'less' },
    heap: { name: 'an instance at rest: heap', unit: 'KB', better: 'less' },
    empty: { name: 'a start with no instance until ready', unit: 'ms', better: 'less' },
    emptyHeap: { name: 'a gateway without instances: heap', unit: 'KB', better: 'less' },
    emptyRss: { name: 'a gateway without instances: resident memory', unit: 'KB', better: 'less' },
  },
  async open(setting) {
    const count = scaled(instances, setting);
    const sandbox = await startSandbox(setting.workshop);
    const folders = [await prepare(setting, sandbox, 0, 'unpaired'), await prepare(setting, sandbox, count, 'unpaired')] as const;
    return async () => {
      const empty = await measure(setting, sandbox, folders[0], 0);
      const full = await measure(setting, sandbox, folders[1], count);
      return {
        ready: full.ready,
        stall: full.stall.cpu,
        heap: (full.memory.heap - empty.memory.heap) / count / 1024,
        empty: empty.ready,
        emptyHeap: empty.memory.heap / 1024,
        emptyRss: empty.memory.rss / 1024,
      };
    };
  },
};

export const registered: Bench = {
  name: 'registered',
  about: `the start with ${instances} instances that are not connected or hibernated, against a start with none`,
  async run(setting) {
    const count = scaled(instances, setting);
    const sandbox = await startSandbox(setting.workshop);
    const folders = {
      empty: await prepare(setting, sandbox, 0, 'unpaired'),
      unpaired: await prepare(setting, sandbox, count, 'unpaired'),
      hibernated: await prepare(setting, sandbox, count, 'hibernated'),
    };
    setting.say(`${count} instances of each kind are in their databases`);
    const starts = { empty: [] as Start[], unpaired: [] as Start[], hibernated: [] as Start[] };
    for (let round = 1; round <= rounds; round += 1) {
      starts.empty.push(await measure(setting, sandbox, folders.empty, 0));
      starts.unpaired.push(await measure(setting, sandbox, folders.unpaired, count));
      starts.hibernated.push(await measure(setting, sandbox, folders.hibernated, count));
      const shown = (start: Start | undefined): string => `${start?.ready.toFixed(0)} ms (stall ${start?.stall.cpu.toFixed(0)} ms)`;
      const { empty, unpaired, hibernated } = starts;
      setting.say(
        `round ${round} of ${rounds}: empty ${shown(empty.at(-1))}, not connected ${shown(unpaired.at(-1))}, hibernated ${shown(hibernated.at(-1))}`,
      );
    }
    return [
      ...figuresOf('not connected', count, starts.unpaired, starts.empty),
      ...figuresOf('hibernated', count, starts.hibernated, starts.empty),
    ];
  },
};
