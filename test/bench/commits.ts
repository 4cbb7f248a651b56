/**
 * The database's work for a text: transactions, forced writes to disk (fsyncs) and bytes of the write-ahead log. Unlike times, these counts depend
 * little on what else runs on the machine.
 */
import { numberOf, scaled, type Bench, type Measure, type Setting } from './bench.ts';
import { pairMany, startGateway, type GatewayClient } from './clients.ts';
import { withDatabase } from './fill.ts';
import type { Figure } from './report.ts';
import { postJson, startSandbox, type BenchSandbox } from './sandbox.ts';
import { now, sentAt, type Arrivals } from './tally.ts';
import { eventually, pause, type Child } from './workshop.ts';

const sessions = 30;
const contactsPerSession = 4;
/** Texts a second of each session. */
const pace = 2;
const seconds = 15;
/** Milliseconds after which the server has the counts of its idle backends. */
const settleMs = 2_500;

interface Counts {
  readonly transactions: number;
  readonly fsyncs: number;
  readonly walBytes: number;
}

const countsStatement = {
  name: '',
  text: `select (select xact_commit::float8 from pg_stat_database where datname = current_database()) as transactions,
    (select coalesce(sum(fsyncs), 0)::float8 from pg_stat_io where object = 'wal') as fsyncs,
    (select wal_bytes::float8 from pg_stat_wal) as "walBytes"`,
};

const countsOf = (folder: string): Promise<Counts> =>
  withDatabase(folder, async (database) => (await database.rows<Counts>(countsStatement, []))[0] as Counts);

/** Divides what the database counted during the work by the number of texts. */
const perText = async (client: GatewayClient, texts: number, work: () => Promise<void>): Promise<Counts> => {
  await pause(settleMs);
  const before = await countsOf(client.folder);
  await work();
  await pause(settleMs);
  const after = await countsOf(client.folder);
  const of = (field: keyof Counts): number => (after[field] - before[field]) / texts;
  return { transactions: of('transactions'), fsyncs: of('fsyncs'), walBytes: of('walBytes') };
};

interface Stage {
  readonly sandbox: BenchSandbox;
  readonly client: GatewayClient;
  readonly receiver: Child;
  readonly tokens: readonly string[];
}

const contactOf = (session: number, n: number): string => numberOf(8, session * contactsPerSession + n);

/** A gateway with sessions that have written to their contacts, and one receiver of what contacts write. */
const openStage = async (setting: Setting): Promise<Stage> => {
  const { workshop } = setting;
  const sandbox = await startSandbox(workshop, { decrypt: true });
  const receiver = await workshop.start('test/bench/peers.ts');
  const client = await startGateway(workshop, sandbox, { env: { ALLOW_PRIVATE_RECEIVERS: 'loopback' } });
  const tokens = await pairMany(client, 2, 0, scaled(sessions, setting));
  const url = `${await receiver.ask<string>('receive')}/hook`;
  const webhook = { url, enabled: true, events: ['messages'], excludeMessages: ['fromMeYes'] };
  await Promise.all(tokens.map((token) => postJson(`${client.address}/webhook`, webhook, { token })));
  const stage = { sandbox, client, receiver, tokens };
  await send(stage, contactsPerSession);
  return stage;
};

/** Each session sends so many texts, one after the other, at its pace. */
const send = async ({ client, tokens }: Stage, each: number): Promise<void> => {
  const one = async (token: string, session: number): Promise<void> => {
    await pause((session * 1000) / pace / tokens.length);
    for (let n = 0; n < each; n += 1) {
      const began = performance.now();
      await postJson(`${client.address}/send/text`, { number: contactOf(session, n % contactsPerSession), text: `text ${n}` }, { token });
      await pause(Math.max(0, 1000 / pace - (performance.now() - began)));
    }
  };
  await Promise.all(tokens.map(one));
};

/** Contacts of every session write at the pace. Resolves when the receiver has all texts. */
const arrive = async ({ sandbox, receiver, tokens }: Stage, each: number): Promise<void> => {
  await receiver.ask('reset');
  const one = async (session: number): Promise<void> => {
    await pause((session * 1000) / pace / tokens.length);
    for (let n = 0; n < each; n += 1) {
      const [from, to] = [contactOf(session, n % contactsPerSession), numberOf(2, session)];
      await postJson(`${sandbox.control}/contacts/${from}/messages`, { to, text: `text ${n}, ${sentAt(now())}` });
      await pause(1000 / pace);
    }
  };
  await Promise.all(tokens.map((_, session) => one(session)));
  const all = tokens.length * each;
  await eventually(async () => ((await receiver.ask<Arrivals>('received')).count >= all ? true : null), `${all} texts at the receiver`);
};

const measureBoth = async (stage: Stage): Promise<{ readonly in: Counts; readonly out: Counts }> => {
  const each = pace * seconds;
  const texts = stage.tokens.length * each;
  return {
    in: await perText(stage.client, texts, () => arrive(stage, each)),
    out: await perText(stage.client, texts, () => send(stage, each)),
  };
};

const units = { transactions: 'transactions', fsyncs: 'fsyncs', walBytes: 'bytes of WAL' } as const;
const ways = { in: 'a text that arrives, with a webhook', out: 'a text that is sent' } as const;

export const commitRounds: Measure = {
  name: 'commits',
  about: `transactions, fsyncs and WAL of a text, with ${sessions} sessions of ${pace} texts a second each`,
  rounds: 2,
  warmUp: 0,
  figures: Object.fromEntries(
    (['in', 'out'] as const).flatMap((way) =>
      (Object.keys(units) as (keyof Counts)[]).map((field) => [
        `${way}.${field}`,
        { name: ways[way], unit: units[field], better: 'less' as const },
      ]),
    ),
  ),
  async open(setting) {
    const stage = await openStage(setting);
    return async () => {
      const both = await measureBoth(stage);
      return Object.fromEntries(
        (['in', 'out'] as const).flatMap((way) => Object.entries(both[way]).map(([field, value]) => [`${way}.${field}`, value])),
      );
    };
  },
};

export const commits: Bench = {
  name: 'commits',
  about: commitRounds.about,
  async run(setting) {
    const stage = await openStage(setting);
    const both = await measureBoth(stage);
    return (['in', 'out'] as const).flatMap((way) =>
      (Object.keys(units) as (keyof Counts)[]).map((field): Figure => ({
        name: ways[way],
        unit: units[field],
        ours: both[way][field],
        baseline: null,
        judged: 'nothing',
      })),
    );
  },
};
