/** Compares deliveries with a plain loop that posts the same number of bodies over the same number of connections. */
import { scaled, type Bench, type Measure, type Setting } from './bench.ts';
import { databaseCpu, profiled } from './cost.ts';
import { median, type Figure } from './report.ts';
import type { Arrivals } from './tally.ts';
import { databaseServerOf, eventually, type Child } from './workshop.ts';

const instances = 20;
const each = 1000;
const bytes = 1024;
const rounds = 5;
/** The number of rounds that do not count. */
const warmUp = 2;
/** The number of connections: the limit of the gateway for concurrent posts to one host. */
const connections = 64;

const perSecond = async (peers: Child, posts: number): Promise<number> => {
  const { first, last } = await eventually(async () => {
    const received = await peers.ask<Arrivals>('received');
    return received.count >= posts ? received : null;
  }, `${posts} posts`);
  return (posts / (last - first)) * 1000;
};

const startPeers = (setting: Setting): Promise<Child> => setting.workshop.start('test/bench/peers.ts');

interface Round {
  readonly perSecond: number;
  /** The processor time per post of the posting process. The next fields are those of the database server and the receiver. In milliseconds. */
  readonly cpu: number;
  readonly database: number;
  readonly receiver: number;
}

/** Measures the time from the first post to the last post. Later work of the gateway counts only as processor time. */
const measure = async (
  side: Child,
  peers: Child,
  posts: number,
  database: number | null,
  work: () => Promise<unknown>,
  after: () => Promise<unknown> = async () => undefined,
): Promise<Round> => {
  await peers.ask('reset');
  const cpus = (): Promise<[number, number]> => Promise.all([side.ask<number>('cpu'), peers.ask<number>('cpu')]);
  const [before, databaseBefore] = [await cpus(), databaseCpu(database)];
  await work();
  const rate = await perSecond(peers, posts);
  await after();
  const [ended, databaseEnded] = [await cpus(), databaseCpu(database)];
  return {
    perSecond: rate,
    cpu: (ended[0] - before[0]) / posts,
    receiver: (ended[1] - before[1]) / posts,
    database: (databaseEnded - databaseBefore) / posts,
  };
};

interface Sides {
  gateway(): Promise<Round>;
  plain(): Promise<Round>;
}

const open = async (setting: Setting, peers: Child, posts: number): Promise<Sides & { end(): Promise<void> }> => {
  const [loop, gateway] = await Promise.all([
    startPeers(setting),
    setting.workshop.start('test/bench/gateway-host.ts', { measured: true }),
  ]);
  const url = await peers.ask<string>('receive');
  await gateway.ask('open', { instances, urls: Array.from({ length: instances }, (_, n) => `${url}/${n}`) });
  const database = databaseServerOf(gateway.folder);
  const emptied = (): Promise<boolean> =>
    eventually(async () => ((await gateway.ask<number>('waiting')) === 0 ? true : null), 'an empty outbox');
  return {
    // Deliveries wait in the outbox before the round begins, so the round measures only deliveries.
    async gateway() {
      await gateway.ask('fill', { instances, each: posts / instances, bytes });
      return profiled(setting, gateway, 'deliveries-gateway', () =>
        measure(gateway, peers, posts, database, () => gateway.ask('start'), emptied),
      );
    },
    plain: () => measure(loop, peers, posts, null, () => loop.ask('post', { url, posts, bytes, connections })),
    end: async () => void (await Promise.all([loop.end(), gateway.end()])),
  };
};

const rate = async (setting: Setting): Promise<Figure> => {
  const peers = await startPeers(setting);
  const posts = instances * scaled(each, setting);
  const sides = await open(setting, peers, posts);
  const [ours, plain]: [Round[], Round[]] = [[], []];
  for (let round = 1 - warmUp; round <= rounds; round += 1) {
    const [theirs, own] = [await sides.plain(), await sides.gateway()];
    setting.say(`round ${round} of ${rounds}: ${own.perSecond.toFixed(0)}/s, plain ${theirs.perSecond.toFixed(0)}/s`);
    // In the first round both sides compile code and open connections.
    if (round < 1) continue;
    plain.push(theirs);
    ours.push(own);
  }
  await Promise.all([peers.end(), sides.end()]);
  const of = (all: readonly Round[], field: keyof Round): number[] => all.map((one) => one[field]);
  const micros = (all: readonly Round[], field: keyof Round): number => median(of(all, field)) * 1000;
  return {
    name: `deliveries, ${instances} instances, 1 KB`,
    unit: 'posts/s',
    ours: median(of(ours, 'perSecond')),
    baseline: median(of(plain, 'perSecond')),
    judged: 'ratio',
    bound: { least: 0.5 },
    details: {
      connections,
      ratios: ours.map((one, n) => one.perSecond / (plain[n]?.perSecond ?? NaN)),
      microsecondsOurs: { gateway: micros(ours, 'cpu'), database: micros(ours, 'database'), receiver: micros(ours, 'receiver') },
      microsecondsPlain: { loop: micros(plain, 'cpu'), receiver: micros(plain, 'receiver') },
    },
  };
};

export const deliveryRounds: Measure = {
  name: 'deliveries',
  about: `posts to receivers, of events that wait in the outbox`,
  rounds,
  warmUp,
  figures: {
    perSecond: { name: 'deliveries: rate', unit: 'posts/s', better: 'more' },
    cpu: { name: 'deliveries: processor', unit: 'ms/post', better: 'less' },
    database: { name: 'deliveries: database', unit: 'ms/post', better: 'less' },
  },
  async open(setting) {
    const { gateway } = await open(setting, await startPeers(setting), instances * scaled(each, setting));
    return async () => ({ ...(await gateway()) });
  },
};

export const deliveries: Bench = {
  name: 'deliveries',
  about: 'posts to receivers, against a plain loop',
  run: async (setting) => [await rate(setting)],
};
