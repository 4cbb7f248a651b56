/** Sends texts over HTTP on one session, on many sessions at once, and through the asynchronous queue. */
import { Pool } from 'undici';
import { numberOf, scaled, type Measure, type Setting } from './bench.ts';
import { pairMany, startGateway } from './clients.ts';
import { profiled, spent } from './cost.ts';
import { analyze } from './fill.ts';
import { counted, startSandbox } from './sandbox.ts';
import { eventually } from './workshop.ts';

/**
 * The number of simultaneous requests. This number keeps the gateway busy. With 20 requests, the gateway waits a fifth of its time for its two commits per
 * message.
 */
export const concurrency = 50;
export const contacts = Array.from({ length: concurrency }, (_, n) => numberOf(8, n));

export const openPool = (address: string): Pool => new Pool(address, { connections: concurrency, pipelining: 1 });

/** Calls a function for the numbers from 0 to `count` - 1, with a limited number of simultaneous calls. Rejects if one call rejects. */
export const inParallel = async (count: number, call: (n: number) => Promise<void>): Promise<void> => {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await call(next++);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
};

/** Sends a request. Returns the body of an answer with 200, and rejects for any other answer. */
export const postBy = async (pool: Pool, path: string, token: string, body: object): Promise<string> => {
  const reply = await pool.request({
    path,
    method: 'POST',
    headers: { token, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answer = await reply.body.text();
  if (reply.statusCode !== 200) throw new Error(`POST ${path} answered ${reply.statusCode}: ${answer.slice(0, 300)}`);
  return answer;
};

/** Sends `count` texts, from each session in turn, and waits for all answers. */
export const sendTexts = (pool: Pool, tokens: readonly string[], count: number, more: object = {}): Promise<void> =>
  inParallel(count, async (n) => {
    const body = { number: contacts[n % contacts.length], text: `text number ${n} of the bench`, ...more };
    await postBy(pool, '/send/text', tokens[n % tokens.length]!, body);
  });

interface Sends {
  readonly name: string;
  readonly about: string;
  readonly sessions: number;
  readonly perRound: number;
  /** True if a round ends when the platform has the texts. False if it ends with the answers to the requests. */
  readonly isAsync: boolean;
}

const open = async (setting: Setting, { name, sessions, perRound, isAsync }: Sends) => {
  const sandbox = await startSandbox(setting.workshop);
  const gateway = await startGateway(setting.workshop, sandbox);
  const tokens = await pairMany(gateway, 2, 0, sessions);
  const pool = openPool(gateway.address);
  setting.workshop.atEnd(() => pool.close());
  const count = scaled(perRound, setting);
  await sendTexts(pool, tokens, count * 2);
  await analyze(gateway.folder);
  const send = async (): Promise<void> => {
    const { fromClients } = await counted(sandbox);
    await sendTexts(pool, tokens, count, isAsync ? { async: true } : {});
    const all = async (): Promise<true | null> => ((await counted(sandbox)).fromClients >= fromClients + count ? true : null);
    if (isAsync) await eventually(all, `${count} texts of the asynchronous queue`);
  };
  return async () => ({ ...(await profiled(setting, gateway, name, () => spent(gateway, gateway.database, count, send))) });
};

const measureOf = (sends: Sends): Measure => ({
  ...sends,
  rounds: 12,
  warmUp: 3,
  figures: {
    perSecond: { name: `${sends.about}: rate`, unit: 'messages/s', better: 'more' },
    cpu: { name: `${sends.about}: processor`, unit: 'ms/message', better: 'less' },
    database: { name: `${sends.about}: database`, unit: 'ms/message', better: 'less' },
  },
  open: (setting) => open(setting, sends),
});

export const sends: readonly Measure[] = [
  measureOf({ name: 'text', about: 'texts of one session', sessions: 1, perRound: 400, isAsync: false }),
  measureOf({ name: 'fifty', about: 'texts of 50 sessions', sessions: 50, perRound: 1_000, isAsync: false }),
  measureOf({ name: 'queue', about: 'texts of the asynchronous queue', sessions: 1, perRound: 200, isAsync: true }),
];
