/** Measures the delay of events to healthy receivers, with and without a receiver that never answers. `greedy-finds.ts` measures searches. */
import { scaled, type Bench, type Setting } from './bench.ts';
import { greedyFinds } from './greedy-finds.ts';
import { median, percentile, type Figure } from './report.ts';
import type { Arrivals } from './tally.ts';
import { eventually, type Child } from './workshop.ts';

const rounds = 6;
const bytes = 1024;
const receivers = 100;
/** The number of events per second of all instances together, at an even pace. */
const perSecond = 100;
const events = 1500;
/** The number of events before the measurement, for the compilation of code and the opening of connections. */
const warmUp = 300;

interface Side {
  readonly gateway: Child;
  readonly peers: Child;
  readonly dead: number;
}

/** Starts a gateway whose first receivers never answer, in separate processes. */
const open = async ({ workshop }: Setting, dead: number): Promise<Side> => {
  const [peers, gateway] = await Promise.all([workshop.start('test/bench/peers.ts'), workshop.start('test/bench/gateway-host.ts')]);
  const url = await peers.ask<string>('receive');
  const urls = Array.from({ length: receivers }, (_, n) => (n < dead ? `${url}/dead/${n}` : `${url}/${n}`));
  await gateway.ask('open', { instances: receivers, urls });
  await gateway.ask('start');
  return { gateway, peers, dead };
};

/** Returns the delays of the events to healthy receivers. In milliseconds. */
const lateness = async ({ gateway, peers, dead }: Side, count: number): Promise<readonly number[]> => {
  await peers.ask('reset');
  await gateway.ask('pace', { instances: receivers, count, perSecond, bytes });
  const expected = count - Math.ceil(count / receivers) * dead;
  await eventually(async () => {
    const { count: arrived } = await peers.ask<Arrivals>('received');
    return arrived >= expected ? true : null;
  }, 'the events of the healthy receivers');
  return peers.ask<readonly number[]>('late');
};

const p99 = (values: readonly number[]): number => percentile(values, 0.99);

const measure = async (setting: Setting): Promise<Figure> => {
  const count = scaled(events, setting);
  const [well, ill]: [number[][], number[][]] = [[], []];
  for (let round = 1; round <= rounds; round += 1) {
    // Both sides run at the same time, so other load on the machine affects both. The side that starts first alternates.
    const order = round % 2 === 0 ? [0, 1] : [1, 0];
    const sides: Side[] = [];
    for (const dead of order) sides.push(await open(setting, dead));
    await Promise.all(sides.map((side) => lateness(side, warmUp)));
    const late = await Promise.all(sides.map((side) => lateness(side, count)));
    for (const [at, { dead }] of sides.entries()) (dead > 0 ? ill : well).push([...(late[at] ?? [])]);
    await Promise.all(sides.flatMap(({ gateway, peers }) => [gateway.end(), peers.end()]));
    setting.say(
      `round ${round} of ${rounds}: ${p99(ill.at(-1) ?? []).toFixed(1)} ms with a dead receiver, ${p99(well.at(-1) ?? []).toFixed(1)} ms without`,
    );
  }
  const [withDead, without] = [ill.map(p99), well.map(p99)];
  return {
    name: `one dead receiver of ${receivers}: p99 of the others, against none`,
    unit: 'times',
    // The two sides of a round are compared, because the load between rounds differs by more than the cost of a dead receiver.
    ours: median(withDead.map((one, round) => one / (without[round] ?? NaN))),
    baseline: null,
    judged: 'value',
    bound: { most: 1.1 },
    details: {
      perSecond,
      withDead,
      without,
      p99OfAllRounds: [p99(ill.flat()), p99(well.flat())],
      p50: [median(ill.flat()), median(well.flat())],
    },
  };
};

export const isolation: Bench = {
  name: 'isolation',
  about: 'what one receiver that never answers, and one token that searches all the time, cost the others',
  run: async (setting) => [await measure(setting), await greedyFinds(setting)],
};
