/** Texts through HTTP on one session, beside bare Baileys' `sendMessage`, in turns. */
import { Pool } from 'undici';
import { numberOf, scaled, type Bench, type Setting } from './bench.ts';
import { startBare, startGateway, type Client, type GatewayClient } from './clients.ts';
import { databaseCpu, profiled } from './cost.ts';
import { median, type Figure } from './report.ts';
import { startSandbox } from './sandbox.ts';

/** In flight, on both sides: enough that none of them waits. With 20 the gateway spends a fifth of its time waiting for its two commits a message. */
const concurrency = 50;
const rounds = 11;
const perRound = 400;
/** Rounds before the first that counts: the gateway has more code to compile than the library alone. */
const warmUp = 6;
const contacts = Array.from({ length: concurrency }, (_, n) => numberOf(8, n));

interface Round {
  readonly perSecond: number;
  /** Milliseconds of processor time a message. */
  readonly cpu: number;
  readonly database: number;
}

/** Sends `count` texts and waits for all answers; rejects when one is not 200. Answers the milliseconds it took. */
const sendByHttp = async (pool: Pool, token: string, count: number): Promise<number> => {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const n = next++;
      const { statusCode, body } = await pool.request({
        path: '/send/text',
        method: 'POST',
        headers: { token, 'content-type': 'application/json' },
        body: JSON.stringify({ number: contacts[n % contacts.length], text: `text number ${n} of the bench` }),
      });
      const answer = await body.text();
      if (statusCode !== 200) throw new Error(`POST /send/text answered ${statusCode}: ${answer.slice(0, 300)}`);
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: concurrency }, worker));
  return performance.now() - start;
};

const measure = async (client: Client, count: number, database: number | null, send: () => Promise<number>): Promise<Round> => {
  const [before, databaseBefore] = [await client.cpu(), databaseCpu(database)];
  const ms = await send();
  return {
    perSecond: (count / ms) * 1000,
    cpu: ((await client.cpu()) - before) / count,
    database: (databaseCpu(database) - databaseBefore) / count,
  };
};

interface Sides {
  gateway(count: number): Promise<Round>;
  bare(count: number): Promise<Round>;
}

const compare = async (sides: Sides, setting: Setting): Promise<{ ours: Round[]; theirs: Round[] }> => {
  const count = scaled(perRound, setting);
  // Signal sessions with every contact, and compiled code.
  await sides.bare(count * warmUp);
  await sides.gateway(count * warmUp);
  const [ours, theirs]: [Round[], Round[]] = [[], []];
  for (let round = 1; round <= rounds; round += 1) {
    theirs.push(await sides.bare(count));
    ours.push(await sides.gateway(count));
    setting.say(`round ${round} of ${rounds}: ${ours.at(-1)?.perSecond.toFixed(0)}/s, bare ${theirs.at(-1)?.perSecond.toFixed(0)}/s`);
  }
  return { ours, theirs };
};

const figuresOf = (ours: readonly Round[], theirs: readonly Round[]): readonly Figure[] => {
  const of = (rounds: readonly Round[], field: keyof Round): number[] => rounds.map((round) => round[field]);
  const best = (rates: readonly number[]): number => Math.max(...rates);
  const ratios = ours.map((round, n) => round.perSecond / (theirs[n]?.perSecond ?? NaN));
  return [
    {
      name: 'texts, one session: rate',
      unit: 'messages/s',
      ours: median(of(ours, 'perSecond')),
      baseline: median(of(theirs, 'perSecond')),
      judged: 'ratio',
      bound: { least: 0.6 },
      // Other programs only ever slow a round down: the best rounds show what a quiet machine would.
      details: { aim: 0.9, concurrency, ratios, bestRatio: best(of(ours, 'perSecond')) / best(of(theirs, 'perSecond')) },
    },
    {
      name: 'texts, one session: processor',
      unit: 'ms/message',
      ours: median(of(ours, 'cpu')),
      baseline: median(of(theirs, 'cpu')),
      judged: 'nothing',
      details: { databaseServer: median(of(ours, 'database')) },
    },
  ];
};

const pairBoth = async (gateway: GatewayClient, bare: Client): Promise<{ from: string; token: string }> => {
  const from = numberOf(1, 0);
  await bare.pair(from);
  return { from, token: await gateway.pair(numberOf(2, 0)) };
};

export const texts: Bench = {
  name: 'texts',
  about: 'texts through HTTP on one session, against sendMessage of bare Baileys',
  async run(setting) {
    const { workshop } = setting;
    const sandbox = await startSandbox(workshop);
    const [gateway, bare] = await Promise.all([startGateway(workshop, sandbox), startBare(workshop, sandbox)]);
    const { from, token } = await pairBoth(gateway, bare);
    const pool = new Pool(gateway.address, { connections: concurrency, pipelining: 1 });
    const sides: Sides = {
      gateway: (count) => measure(gateway, count, gateway.database, () => sendByHttp(pool, token, count)),
      bare: (count) =>
        measure(bare, count, null, async () => {
          const { written } = await bare.ask<{ written: number }>('send', { from, to: contacts, count, concurrency });
          return written;
        }),
    };
    try {
      const { ours, theirs } = await compare(sides, setting);
      await profiled(setting, gateway, 'texts-gateway', () => sides.gateway(scaled(perRound * 4, setting)));
      return figuresOf(ours, theirs);
    } finally {
      await pool.close();
    }
  },
};
