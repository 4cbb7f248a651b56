/** Measures the cost of a second node for a command, with pairs of texts through the owner of the session and through another node. */
import { Pool } from 'undici';
import { numberOf, scaled, type Bench, type Setting } from './bench.ts';
import { type GatewayClient } from './clients.ts';
import { ownersOf, Shared } from './cluster.ts';
import { profiled } from './cost.ts';
import { median, percentile, type Figure } from './report.ts';
import { startSandbox } from './sandbox.ts';
import { contacts, postBy } from './sends.ts';
import { eventually } from './workshop.ts';

const rounds = 9;
const perRound = 100;
/** The number of rounds that do not count. They compile code and create Signal sessions with every contact. */
const warmUp = 4;
const number = numberOf(2, 0);

interface Way {
  readonly gateway: GatewayClient;
  readonly pool: Pool;
}

interface Ways {
  readonly token: string;
  readonly owner: Way;
  readonly other: Way;
}

const openWays = async (setting: Setting): Promise<Ways> => {
  const sandbox = await startSandbox(setting.workshop);
  const shared = await Shared.open(setting.workshop, sandbox);
  const url = await shared.newDatabase('nodes');
  const nodes = new Map<string, GatewayClient>();
  for (const name of ['first', 'second']) nodes.set(name, await shared.start(url, name));
  const token = await [...nodes.values()][0]!.pair(number);
  const database = await shared.look(url);
  const owner = await eventually(async () => (await ownersOf(database)).get(number) ?? null, 'an owner');
  const wayOf = (gateway: GatewayClient): Way => {
    const pool = new Pool(gateway.address, { connections: 1, pipelining: 1 });
    setting.workshop.atEnd(() => pool.close());
    return { gateway, pool };
  };
  const [first, second] = [wayOf(nodes.get('first')!), wayOf(nodes.get('second')!)];
  return owner === 'first' ? { token, owner: first, other: second } : { token, owner: second, other: first };
};

const timed = async (pool: Pool, token: string, n: number): Promise<number> => {
  const begun = performance.now();
  await postBy(pool, '/send/text', token, { number: contacts[n % contacts.length], text: `text number ${n} of the bench` });
  return performance.now() - begun;
};

interface Round {
  readonly owner: readonly number[];
  readonly other: readonly number[];
}

/** Sends pairs of texts one after the other. Each node is first in half of the pairs. */
const sendPairs = async ({ token, owner, other }: Ways, count: number): Promise<Round> => {
  const times = { owner: [] as number[], other: [] as number[] };
  for (let n = 0; n < count; n += 1)
    for (const way of n % 2 === 0 ? (['owner', 'other'] as const) : (['other', 'owner'] as const))
      times[way].push(await timed(way === 'owner' ? owner.pool : other.pool, token, n));
  return times;
};

const figureOf = (measured: readonly Round[]): Figure => {
  const middle = (way: keyof Round): readonly number[] => measured.map((round) => median(round[way]));
  const high = (way: keyof Round): number =>
    percentile(
      measured.flatMap((round) => round[way]),
      0.95,
    );
  return {
    name: 'a text through a node that does not own the session',
    unit: 'ms',
    ours: median(middle('other')),
    baseline: median(middle('owner')),
    judged: 'difference',
    bound: { most: 3 },
    details: {
      differences: measured.map((round) => median(round.other) - median(round.owner)),
      p95: { owner: high('owner'), other: high('other') },
    },
  };
};

export const nodeSends: Bench = {
  name: 'nodes',
  about: 'texts through a node that does not own the session, against those through its owner',
  async run(setting) {
    const ways = await openWays(setting);
    const count = scaled(perRound, setting);
    const measured: Round[] = [];
    for (let round = 1 - warmUp; round <= rounds; round += 1) {
      const one = await sendPairs(ways, count);
      if (round < 1) continue;
      measured.push(one);
      setting.say(`round ${round} of ${rounds}: ${median(one.other).toFixed(2)} ms, through the owner ${median(one.owner).toFixed(2)} ms`);
    }
    await profiled(setting, ways.other.gateway, 'nodes-other', () =>
      profiled(setting, ways.owner.gateway, 'nodes-owner', async () => void (await sendPairs(ways, count * 4))),
    );
    return [figureOf(measured)];
  },
};
