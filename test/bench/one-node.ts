/** Compares a node with NATS and a single gateway, with texts in both directions and rounds in turns. */
import { openGateway, openStage } from './arrivals.ts';
import { numberOf, scaled, type Bench, type Setting } from './bench.ts';
import { Shared } from './cluster.ts';
import { profiled, spent, type Spent } from './cost.ts';
import { median, type Figure } from './report.ts';
import { startSandbox } from './sandbox.ts';
import { openPool, sendTexts } from './sends.ts';

const rounds = 9;
/** The number of texts per round. A round lasts one to two seconds, so it includes the work that a node does once a second. */
const perRound = { out: 1_200, in: 3_000 };
/** The number of rounds that do not count. In these rounds both sides compile code. */
const warmUp = 3;

type Direction = keyof typeof perRound;
/** Runs one round with `count` texts. */
type Round = (count: number) => Promise<Spent>;

interface Pair {
  readonly alone: Round;
  readonly node: Round;
}

/** Starts the platform. For sent texts the platform only acknowledges frames, so its own work is small. Arriving texts need its encryption. */
const openPlatform = async (setting: Setting, direction: Direction) => {
  if (direction === 'in') return openStage(setting);
  return { sandbox: await startSandbox(setting.workshop), stage: null };
};

const openPair = async (setting: Setting, direction: Direction): Promise<Pair> => {
  const { stage, sandbox } = await openPlatform(setting, direction);
  const shared = await Shared.open(setting.workshop, sandbox);
  const open = async (name: string | null, series: number): Promise<Round> => {
    const url = await shared.newDatabase(name ?? 'alone');
    const side = await openGateway(setting, sandbox, numberOf(series, 0), (env) => shared.start(url, name, { env }));
    const pool = openPool(side.client.address);
    setting.workshop.atEnd(() => pool.close());
    const send: Round = (count) => spent(side.client, side.database, count, () => sendTexts(pool, [side.token], count));
    const round: Round = (count) =>
      profiled(setting, side.client, `${name ?? 'alone'}-${direction}`, () => (stage === null ? send(count) : stage.burst(side, count)));
    await round(scaled(perRound[direction], setting));
    await (await shared.look(url)).rows({ name: '', text: 'analyze' }, []);
    return round;
  };
  return { alone: await open(null, 1), node: await open('node', 2) };
};

interface Measured {
  readonly alone: Spent;
  readonly node: Spent;
}

/** Returns the comparison by the median of the ratios of the rounds, because both sides of a round ran under the same load. */
const compared = (
  name: string,
  unit: string,
  values: readonly (readonly [node: number, alone: number])[],
  bound: Figure['bound'],
): Figure => {
  const ratios = values.map(([node, alone]) => node / alone);
  const baseline = median(values.map(([, alone]) => alone));
  const details = { ratios, median: median(values.map(([node]) => node)) };
  return { name, unit, ours: baseline * median(ratios), baseline, judged: 'ratio', ...(bound === undefined ? {} : { bound }), details };
};

const figuresOf = (measured: readonly Measured[], direction: Direction): readonly Figure[] => {
  const of = (pick: (spent: Spent) => number) => measured.map(({ node, alone }) => [pick(node), pick(alone)] as const);
  const name = `one node with NATS, texts ${direction}`;
  return [
    compared(
      `${name}: rate`,
      'messages/s',
      of(({ perSecond }) => perSecond),
      { least: 0.95 },
    ),
    compared(
      `${name}: processor, with the database`,
      'ms/message',
      of(({ cpu, database }) => cpu + database),
      { most: 1.05 },
    ),
  ];
};

const measure = async (setting: Setting, direction: Direction): Promise<readonly Figure[]> => {
  const { alone, node } = await openPair(setting, direction);
  const count = scaled(perRound[direction], setting);
  const measured: Measured[] = [];
  for (let round = 1 - warmUp; round <= rounds; round += 1) {
    const first = round % 2 === 0 ? null : await node(count);
    const without = await alone(count);
    const one = { alone: without, node: first ?? (await node(count)) };
    if (round < 1) continue;
    measured.push(one);
    setting.say(`${direction}, round ${round} of ${rounds}: ${one.node.perSecond.toFixed(0)}/s, alone ${without.perSecond.toFixed(0)}/s`);
  }
  return figuresOf(measured, direction);
};

export const oneNode: Bench = {
  name: 'one-node',
  about: 'texts in and out of one node with NATS, against a gateway that has its database for itself',
  run: async (setting) => [...(await measure(setting, 'out')), ...(await measure(setting, 'in'))],
};
