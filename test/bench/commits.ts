/**
 * Counts the work for a text in common situations: transactions, forced writes to disk (fsyncs) and bytes of the write-ahead log. Unlike times, these counts
 * depend little on other load on the machine.
 */
import { numberOf, scaled, type Bench, type Measure, type Setting } from './bench.ts';
import { pairMany, startGateway, type GatewayClient } from './clients.ts';
import { perText, type Counts } from './counts.ts';
import { analyze } from './fill.ts';
import type { Figure } from './report.ts';
import { postJson, startSandbox, type BenchSandbox } from './sandbox.ts';
import { now, sentAt, type Arrivals } from './tally.ts';
import { eventually, pause, type Child } from './workshop.ts';

interface Scenario {
  readonly name: string;
  readonly way: 'in' | 'out' | 'both';
  /** The events of the webhook of each session; empty for no webhook. */
  readonly events: readonly string[];
  /** The number of texts of each session, in each direction. */
  readonly each: number;
  /** The number of texts per second of each session. Null sends as fast as possible and delivers all arrivals at once. */
  readonly pace: number | null;
  /** The number of repetitions, over which the counts are averaged; 1 if absent. The counts of single bursts differ by up to half. */
  readonly bursts?: number;
  /** The identifier of the sender in an arriving text. */
  readonly addressing?: 'pn' | 'lid';
}

/** Scenarios that share a gateway. */
interface Setup {
  readonly sessions: number;
  readonly contactsPerSession: number;
  readonly scenarios: readonly Scenario[];
}

const incoming = ['messages'];
const all = ['messages', 'messages_update'];

const setups = {
  one: {
    sessions: 1,
    contactsPerSession: 20,
    scenarios: [
      { name: 'in, with a webhook', way: 'in', events: incoming, each: 150, pace: 10 },
      { name: 'in, without a webhook', way: 'in', events: [], each: 150, pace: 10 },
      { name: 'in, from a LID', way: 'in', events: incoming, each: 150, pace: 10, addressing: 'lid' },
      { name: 'in, 400 at once', way: 'in', events: incoming, each: 400, pace: null, bursts: 5 },
      { name: 'out, one by one', way: 'out', events: [], each: 150, pace: null },
      { name: 'out, webhook of both events', way: 'out', events: all, each: 150, pace: null },
    ],
  },
  chats: {
    sessions: 1,
    contactsPerSession: 1_000,
    scenarios: [{ name: 'in, 1,000 chats in turn', way: 'in', events: incoming, each: 1_000, pace: 50 }],
  },
  thirty: {
    sessions: 30,
    contactsPerSession: 4,
    scenarios: [
      { name: 'in, 30 sessions, 2/s each', way: 'in', events: incoming, each: 30, pace: 2 },
      { name: 'out, 30 sessions, 2/s each', way: 'out', events: incoming, each: 30, pace: 2 },
    ],
  },
  many: {
    sessions: 200,
    contactsPerSession: 4,
    scenarios: [{ name: 'both ways, 200 sessions, 2/s each', way: 'both', events: incoming, each: 20, pace: 2 }],
  },
} as const satisfies Readonly<Record<string, Setup>>;

interface Stage extends Pick<Setup, 'contactsPerSession'> {
  readonly sandbox: BenchSandbox;
  readonly dam: Child;
  readonly client: GatewayClient;
  readonly receiver: Child;
  /** The address of the receiver. */
  readonly url: string;
  readonly tokens: readonly string[];
}

const contactOf = ({ contactsPerSession }: Pick<Setup, 'contactsPerSession'>, session: number, n: number): string =>
  numberOf(8, session * contactsPerSession + (n % contactsPerSession));

const fewestContacts = 4;
/** The largest number of simultaneous first texts of a session. */
const firstAtOnce = 8;
/** The number of first texts per second of each session. */
const firstPace = 40;

/** Starts a gateway with sessions that have written to their contacts. Another process can hold the frames of the platform back. */
const openStage = async (setting: Setting, { sessions, contactsPerSession: contacts }: Setup): Promise<Stage> => {
  const { workshop } = setting;
  const contactsPerSession = Math.max(fewestContacts, scaled(contacts, setting));
  const sandbox = await startSandbox(workshop, { decrypt: true });
  const [dam, receiver] = [await workshop.start('test/bench/dam.ts'), await workshop.start('test/bench/peers.ts')];
  const port = await dam.ask<number>('open', Number(new URL(sandbox.control).port));
  const platform = { ...sandbox, url: `ws://127.0.0.1:${port}/ws/chat` };
  const client = await startGateway(workshop, platform, { env: { ALLOW_PRIVATE_RECEIVERS: 'loopback', LOOKUPS_AT_ONCE: '10000' } });
  const tokens = await pairMany(client, 2, 0, scaled(sessions, setting));
  const url = `${await receiver.ask<string>('receive')}/hook`;
  const stage = { sandbox, dam, client, receiver, url, tokens, contactsPerSession };
  const write = async (token: string, session: number): Promise<void> => {
    for (let from = 0; from < contactsPerSession; from += firstAtOnce)
      await Promise.all(
        Array.from({ length: Math.min(firstAtOnce, contactsPerSession - from) }, (_, n) =>
          postJson(`${client.address}/send/text`, { number: contactOf(stage, session, from + n), text: 'hello' }, { token }),
        ),
      );
  };
  await Promise.all(tokens.map(write));
  // The first text of a contact adds a row of the contact and one of its picture.
  const first = { name: '', way: 'in', events: [], each: contactsPerSession, pace: firstPace } as const;
  await arrive(stage, first);
  await arrive(stage, { ...first, each: Math.min(contactsPerSession, 20), addressing: 'lid' });
  await analyze(client.folder);
  return stage;
};

/** Calls `one` for each text of each session. A text waits for the previous text of its session, and for its planned time. */
const inTurns = async ({ tokens }: Stage, { each, pace }: Scenario, one: (session: number, n: number) => Promise<void>): Promise<void> => {
  const turns = async (session: number): Promise<void> => {
    const began = performance.now() + (pace === null ? 0 : (session * 1000) / pace / tokens.length);
    for (let n = 0; n < each; n += 1) {
      if (pace !== null) await pause(Math.max(0, began + (n * 1000) / pace - performance.now()));
      await one(session, n);
    }
  };
  await Promise.all(tokens.map((_, session) => turns(session)));
};

const send = (stage: Stage, scenario: Scenario): Promise<void> =>
  inTurns(stage, scenario, async (session, n) => {
    const token = stage.tokens[session] ?? '';
    await postJson(`${stage.client.address}/send/text`, { number: contactOf(stage, session, n), text: `text ${n}` }, { token });
  });

/** Sends texts of the contacts. Waits until the receiver has all of them or, without a webhook, until the platform has accepted them. */
const arrive = async (stage: Stage, scenario: Scenario): Promise<void> => {
  const { sandbox, dam, receiver, tokens } = stage;
  const { each, pace, events, addressing } = scenario;
  const count = tokens.length * each;
  await receiver.ask('reset');
  if (pace === null) await dam.ask('hold');
  await inTurns(stage, scenario, async (session, n) => {
    const body = { to: numberOf(2, session), text: `text ${n}, ${sentAt(now())}`, ...(addressing ? { addressing } : {}) };
    await postJson(`${sandbox.control}/contacts/${contactOf(stage, session, n)}/messages`, body);
  });
  if (pace === null) await dam.ask('release');
  if (events.length === 0) return;
  await eventually(async () => ((await receiver.ask<Arrivals>('received')).count >= count ? true : null), `${count} texts at the receiver`);
};

const ways: Readonly<Record<Scenario['way'], (stage: Stage, scenario: Scenario) => Promise<unknown>>> = {
  in: arrive,
  out: send,
  both: (stage, scenario) => Promise.all([arrive(stage, scenario), send(stage, scenario)]),
};

const measure = async (stage: Stage, scenario: Scenario, setting: Setting): Promise<Counts> => {
  const { client, url, tokens } = stage;
  const { events, way, bursts = 1 } = scenario;
  const excludeMessages = way === 'out' ? [] : ['fromMeYes'];
  for (const token of tokens)
    await postJson(
      `${client.address}/webhook`,
      { url, enabled: events.length > 0, events: events.length > 0 ? events : incoming, excludeMessages },
      { token },
    );
  const scaledOne = { ...scenario, each: scaled(scenario.each, setting) };
  const texts = tokens.length * scaledOne.each * bursts * (way === 'both' ? 2 : 1);
  const counts = await perText(client, texts, async () => {
    for (let burst = 0; burst < bursts; burst += 1) await ways[way](stage, scaledOne);
  });
  setting.say(`${scenario.name}: ${JSON.stringify(counts)}`);
  return counts;
};

const units = { transactions: 'transactions', fsyncs: 'fsyncs', walBytes: 'bytes of WAL', cpu: 'ms of processor' } as const;
type Unit = keyof typeof units;
const fields = Object.keys(units) as Unit[];
/** The setups of `bench:compare`. The sessions of the other setups take minutes to pair. */
const compared: readonly Setup[] = [setups.one, setups.chats, setups.thirty];

export const commitRounds: Measure = {
  name: 'commits',
  about: 'transactions, fsyncs, WAL and processor of a text, with one session and with thirty',
  rounds: 2,
  warmUp: 0,
  figures: Object.fromEntries(
    compared.flatMap(({ scenarios }) =>
      scenarios.flatMap(({ name }) => fields.map((field) => [`${name}.${field}`, { name, unit: units[field], better: 'less' as const }])),
    ),
  ),
  async open(setting) {
    const stages: (readonly [Setup, Stage])[] = [];
    for (const setup of compared) stages.push([setup, await openStage(setting, setup)]);
    return async () => {
      const readings: [string, number][] = [];
      for (const [{ scenarios }, stage] of stages)
        for (const scenario of scenarios) {
          const counts = await measure(stage, scenario, setting);
          readings.push(...fields.map((field): [string, number] => [`${scenario.name}.${field}`, counts[field]]));
        }
      return Object.fromEntries(readings);
    };
  },
};

/** The target: fsyncs per text of a server with 200 active sessions. */
const aim = { most: 0.5 };

export const commits: Bench = {
  name: 'commits',
  about: 'transactions, fsyncs, WAL and processor of a text, in everyday situations',
  async run(setting) {
    const figures: Figure[] = [];
    for (const setup of Object.values<Setup>(setups)) {
      const stage = await openStage(setting, setup);
      for (const scenario of setup.scenarios) {
        const counts = await measure(stage, scenario, setting);
        const { rows, coldUpdates, database, tables } = counts;
        const judged = (field: Unit) =>
          setup === setups.many && field === 'fsyncs' ? ({ judged: 'value', bound: aim } as const) : ({ judged: 'nothing' } as const);
        figures.push(
          ...fields.map((field): Figure => {
            const details = field === 'transactions' ? { rows, coldUpdates, tables } : field === 'cpu' ? { database } : {};
            return { name: scenario.name, unit: units[field], ours: counts[field], baseline: null, ...judged(field), details };
          }),
        );
      }
      for (const child of [stage.client, stage.dam, stage.receiver, stage.sandbox]) await child.end();
    }
    return figures;
  },
};
