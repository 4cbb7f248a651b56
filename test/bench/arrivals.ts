/** Measures arriving texts of one session, from the socket of the platform to the answer of the receiver, and compares them with bare Baileys. */
import { numberOf, scaled, type Bench, type Measure, type Setting } from './bench.ts';
import { startBare, startGateway, type Client, type GatewayClient } from './clients.ts';
import { profiled, spent, type Spent } from './cost.ts';
import { analyze } from './fill.ts';
import { median, percentile, type Figure } from './report.ts';
import { postJson, startSandbox, type BenchSandbox } from './sandbox.ts';
import type { Arrivals } from './tally.ts';
import { eventually, type Child, type ChildOptions } from './workshop.ts';

const rounds = 7;
const perRound = 1000;
/** The number of rounds that do not count. The gateway has more code to compile than the library alone. */
const warmUp = 3;
const contacts = Array.from({ length: 20 }, (_, n) => numberOf(8, n));

const pacedRounds = 5;
const pace = 100;
const perPacedRound = 1000;

interface Side {
  /** The account that contacts write to. */
  readonly number: string;
  readonly client: Client;
  /** The last process on the path of the texts. */
  readonly end: Child;
  readonly database: number | null;
  /** The folder of the database. Empty without a database. */
  readonly folder: string;
}

class Stage {
  readonly #sandbox: BenchSandbox;
  readonly #dam: Child;

  constructor(sandbox: BenchSandbox, dam: Child) {
    this.#sandbox = sandbox;
    this.#dam = dam;
  }

  /** Measures the time from the release of all texts at once to the last arrival. */
  async burst({ number, client, end, database }: Side, count: number): Promise<Spent> {
    await end.ask('reset');
    await this.#dam.ask('hold');
    await this.#write(number, count);
    return spent(client, database, count, async () => {
      const released = await this.#dam.ask<number>('release');
      return (await this.#arrived(end, count)).last - released;
    });
  }

  /** Measures the delay of texts at a steady pace, from the request of the contact to the arrival. In milliseconds. */
  async paced({ number, end }: Side, count: number): Promise<{ readonly p50: number; readonly p99: number }> {
    await end.ask('reset');
    await this.#write(number, count, pace);
    await this.#arrived(end, count);
    const late = await end.ask<readonly number[]>('late');
    return { p50: percentile(late, 0.5), p99: percentile(late, 0.99) };
  }

  #write(to: string, count: number, perSecond?: number): Promise<void> {
    return this.#dam.ask('write', { control: this.#sandbox.control, from: contacts, to, count, perSecond });
  }

  #arrived(end: Child, count: number): Promise<Arrivals> {
    return eventually(async () => {
      const arrivals = await end.ask<Arrivals>('received');
      return arrivals.count >= count ? arrivals : null;
    }, `${count} texts in ${end.title}`);
  }
}

interface Sides {
  readonly ours: Side;
  readonly theirs: Side;
  /** Bare Baileys that posts each message. */
  readonly posting: Side;
}

const compareBursts = async (stage: Stage, { ours, theirs, posting }: Sides, setting: Setting): Promise<readonly Figure[]> => {
  const count = scaled(perRound, setting);
  const [own, bare, posted]: [Spent[], Spent[], Spent[]] = [[], [], []];
  for (let round = 1 - warmUp; round <= rounds; round += 1) {
    const [their, our, post] = [await stage.burst(theirs, count), await stage.burst(ours, count), await stage.burst(posting, count)];
    setting.say(`round ${round} of ${rounds}: ${our.perSecond.toFixed(0)}/s, bare ${their.perSecond.toFixed(0)}/s`);
    if (round < 1) continue;
    own.push(our);
    bare.push(their);
    posted.push(post);
  }
  await profiled(setting, ours.client, 'arrivals-gateway', () => stage.burst(ours, count * 4));
  await profiled(setting, theirs.client, 'arrivals-bare', () => stage.burst(theirs, count * 4));
  const of = (all: readonly Spent[], field: keyof Spent): number[] => all.map((one) => one[field]);
  const ratios = own.map((one, n) => one.perSecond / (bare[n]?.perSecond ?? NaN));
  return [
    {
      name: 'arrivals, one session: socket to receiver',
      unit: 'messages/s',
      ours: median(of(own, 'perSecond')),
      baseline: median(of(bare, 'perSecond')),
      judged: 'ratio',
      bound: { least: 0.6 },
      details: { aim: 0.9, ratios, medianRatio: median(ratios) },
    },
    {
      name: 'arrivals, one session: processor',
      unit: 'ms/message',
      ours: median(of(own, 'cpu')),
      baseline: median(of(bare, 'cpu')),
      judged: 'nothing',
      details: { databaseServer: median(of(own, 'database')), ratios: own.map((one, n) => one.cpu / (bare[n]?.cpu ?? NaN)) },
    },
    ...(['perSecond', 'cpu'] as const).map((field): Figure => ({
      name: `arrivals, one session, beside bare with a fetch a message: ${field === 'cpu' ? 'processor' : 'rate'}`,
      unit: field === 'cpu' ? 'ms/message' : 'messages/s',
      ours: median(of(own, field)),
      baseline: median(of(posted, field)),
      judged: 'nothing',
    })),
  ];
};

const comparePaced = async (stage: Stage, ours: Side, theirs: Side, setting: Setting): Promise<Figure> => {
  const count = scaled(perPacedRound, setting);
  const own: Awaited<ReturnType<Stage['paced']>>[] = [];
  const bare: typeof own = [];
  for (let round = 1; round <= pacedRounds; round += 1) {
    bare.push(await stage.paced(theirs, count));
    own.push(await stage.paced(ours, count));
    setting.say(`paced round ${round} of ${pacedRounds}: p99 ${own.at(-1)?.p99.toFixed(1)} ms, bare ${bare.at(-1)?.p99.toFixed(1)} ms`);
  }
  await profiled(setting, ours.client, 'arrivals-paced-gateway', () => stage.paced(ours, count));
  return {
    name: `arrivals at ${pace}/s: p99 from the contact to the receiver`,
    unit: 'ms',
    ours: median(own.map(({ p99 }) => p99)),
    baseline: median(bare.map(({ p99 }) => p99)),
    judged: 'value',
    bound: { most: 60 },
    details: { p50: median(own.map(({ p50 }) => p50)), p50Bare: median(bare.map(({ p50 }) => p50)), p99s: own.map(({ p99 }) => p99) },
  };
};

/** Opens a session of bare Baileys. It first writes to every contact, because otherwise each text of a contact would begin a new Signal session. */
const openBare = async ({ workshop }: Setting, sandbox: BenchSandbox, number = numberOf(1, 0)): Promise<Side> => {
  const client = await startBare(workshop, sandbox);
  await client.pair(number);
  await client.ask('send', { from: number, to: contacts, count: contacts.length, concurrency: 1 });
  return { number, client, end: client, database: null, folder: '' };
};

/** Opens a session of bare Baileys that posts each message to a receiver. */
const openPosting = async (setting: Setting, sandbox: BenchSandbox): Promise<Side> => {
  const [side, receiver] = [await openBare(setting, sandbox, numberOf(1, 1)), await setting.workshop.start('test/bench/peers.ts')];
  await side.client.ask('postTo', { number: side.number, url: `${await receiver.ask<string>('receive')}/hook` });
  return { ...side, end: receiver };
};

/** Starts a gateway with one session, its contacts, and a receiver of their messages. */
export const openGateway = async (
  { workshop }: Setting,
  sandbox: BenchSandbox,
  number = numberOf(2, 0),
  start: (env: ChildOptions['env']) => Promise<GatewayClient> = (env) => startGateway(workshop, sandbox, { env }),
): Promise<Side & { readonly client: GatewayClient; readonly token: string }> => {
  const receiver = await workshop.start('test/bench/peers.ts');
  const client = await start({ ALLOW_PRIVATE_RECEIVERS: 'loopback' });
  const token = await client.pair(number);
  for (const contact of contacts) await postJson(`${client.address}/send/text`, { number: contact, text: 'hello' }, { token });
  const url = `${await receiver.ask<string>('receive')}/hook`;
  await postJson(`${client.address}/webhook`, { url, enabled: true, events: ['messages'], excludeMessages: ['fromMeYes'] }, { token });
  return { number, client, token, end: receiver, database: client.database, folder: client.folder };
};

/** Starts the sides of the comparison. `sandbox` is the platform behind the process that can hold its frames back. */
export const openStage = async ({ workshop }: Setting): Promise<{ readonly stage: Stage; readonly sandbox: BenchSandbox }> => {
  const sandbox = await startSandbox(workshop, { decrypt: true });
  const dam = await workshop.start('test/bench/dam.ts');
  const port = await dam.ask<number>('open', Number(new URL(sandbox.control).port));
  return { stage: new Stage(sandbox, dam), sandbox: { ...sandbox, url: `ws://127.0.0.1:${port}/ws/chat` } };
};

export const arrivalRounds: Measure = {
  name: 'arrivals',
  about: 'texts of contacts on one session, until the receiver has them',
  rounds: 12,
  warmUp,
  figures: {
    perSecond: { name: 'arrivals, socket to receiver: rate', unit: 'messages/s', better: 'more' },
    cpu: { name: 'arrivals, socket to receiver: processor', unit: 'ms/message', better: 'less' },
    database: { name: 'arrivals, socket to receiver: database', unit: 'ms/message', better: 'less' },
  },
  async open(setting) {
    const { stage, sandbox } = await openStage(setting);
    const side = await openGateway(setting, sandbox);
    await stage.burst(side, scaled(perRound, setting));
    await analyze(side.folder);
    return () => profiled(setting, side.client, 'arrivals', async () => ({ ...(await stage.burst(side, scaled(perRound, setting))) }));
  },
};

export const arrivals: Bench = {
  name: 'arrivals',
  about: 'texts of 20 contacts on one session until the receiver has them, against what bare Baileys emits',
  async run(setting) {
    const { stage, sandbox } = await openStage(setting);
    const [ours, theirs] = [await openGateway(setting, sandbox), await openBare(setting, sandbox)];
    const posting = await openPosting(setting, sandbox);
    const bursts = await compareBursts(stage, { ours, theirs, posting }, setting);
    return [...bursts, await comparePaced(stage, ours, theirs, setting)];
  },
};
