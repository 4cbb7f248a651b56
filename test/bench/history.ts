/** Measures the history that a phone transfers at the first login: the speed of storing, the stalls of the event loop, and the delay of texts meanwhile. */
import { request } from 'undici';
import { numberOf, scaled, type Bench, type Setting } from './bench.ts';
import { createInstance, startGateway, type GatewayClient } from './clients.ts';
import { profiled } from './cost.ts';
import { withDatabase } from './fill.ts';
import { median, percentile, type Figure } from './report.ts';
import { postJson, startSandbox, type BenchSandbox } from './sandbox.ts';
import type { Stall } from './stalls.ts';
import { eventually, pause } from './workshop.ts';

const rounds = 3;
/** The number of chats, and of messages in each chat: 50,000 messages in total. */
const past = { chats: 2_000, messages: 25 };
/** The number of messages in a history notification, as phones send them. */
const perNotification = 3_000;
const idleTexts = 50;
/** The pause between two texts during the transfer. In milliseconds. */
const textEveryMs = 50;
const pollMs = 20;

interface Round {
  readonly perSecond: number;
  readonly stall: Stall;
  /** The time of each text from the request to the answer, which waits for the ack of the platform. In milliseconds. */
  readonly acks: readonly number[];
}

interface Begun {
  readonly token: string;
  readonly scan: () => Promise<void>;
}

/** Sends a text. Returns its duration in milliseconds, or null while the session is not connected. */
const timed = async ({ address }: GatewayClient, token: string, n: number): Promise<number | null> => {
  const begun = performance.now();
  const { statusCode, body } = await request(`${address}/send/text`, {
    method: 'POST',
    headers: { token, 'content-type': 'application/json' },
    body: JSON.stringify({ number: numberOf(8, n % 5), text: `text ${n}` }),
  });
  await body.dump();
  return statusCode === 200 ? performance.now() - begun : null;
};

const qrcodeOf = async (address: string, token: string): Promise<string | null> => {
  const { body } = await request(`${address}/instance/status`, { headers: { token } });
  return ((await body.json()) as { readonly instance: { readonly qrcode: string } }).instance.qrcode || null;
};

/** Creates an instance that shows its QR code, and the account on the phone that will scan the code. */
const begin = async ({ address }: GatewayClient, sandbox: BenchSandbox, number: string, chats: number): Promise<Begun> => {
  const { token } = await createInstance(address, number);
  await postJson(`${address}/instance/connect`, {}, { token });
  const qrcode = await eventually(() => qrcodeOf(address, token), `the picture of ${number}`);
  const history = { ...past, chats, perNotification };
  return { token, scan: async () => void (await postJson(`${sandbox.control}/phones/scan`, { qrcode, number, name: 'Bench', history })) };
};

type Count = () => Promise<number>;

const measure = async (gateway: GatewayClient, { token, scan }: Begun, stored: Count, count: number): Promise<Round> => {
  const before = await stored();
  await gateway.ask('stalls.start');
  await scan();
  const state = { over: false };
  const acks: number[] = [];
  const texts = async (): Promise<void> => {
    for (let n = 0; !state.over; n += 1) {
      const ms = await timed(gateway, token, n);
      if (ms !== null && !state.over) acks.push(ms);
      await pause(textEveryMs);
    }
  };
  const sending = texts();
  let [begun, done] = [0, 0];
  while (done < count) {
    done = (await stored()) - before;
    if (done > acks.length + 5) begun ||= performance.now();
    await pause(pollMs);
  }
  const seconds = (performance.now() - begun) / 1000;
  state.over = true;
  await sending;
  return { perSecond: count / seconds, stall: await gateway.ask<Stall>('stalls.stop'), acks };
};

const figuresOf = (all: readonly Round[], idle: readonly number[]): readonly Figure[] => [
  {
    name: 'history: messages stored',
    unit: 'messages/s',
    ours: median(all.map(({ perSecond }) => perSecond)),
    baseline: null,
    judged: 'value',
    bound: { least: 5_000 },
    details: { rounds: all.map(({ perSecond }) => perSecond) },
  },
  {
    name: 'history: longest stall of the loop, work of the thread',
    unit: 'ms',
    ours: median(all.map(({ stall }) => stall.cpu)),
    baseline: null,
    judged: 'value',
    bound: { most: 50 },
    details: { rounds: all.map(({ stall }) => stall.cpu), wall: all.map(({ stall }) => stall.wall) },
  },
  {
    name: 'history: a text meanwhile, to its ack',
    unit: 'ms',
    ours: median(all.flatMap(({ acks }) => acks)),
    baseline: median(idle),
    judged: 'nothing',
    details: {
      p95: percentile(
        all.flatMap(({ acks }) => acks),
        0.95,
      ),
      texts: all.map(({ acks }) => acks.length),
      idleP95: percentile(idle, 0.95),
    },
  },
];

const idleTimes = async (gateway: GatewayClient, token: string): Promise<readonly number[]> => {
  const times: number[] = [];
  for (let n = 0; times.length < idleTexts; n += 1) {
    const ms = await timed(gateway, token, n);
    if (ms !== null) times.push(ms);
    await pause(textEveryMs);
  }
  return times;
};

export const history: Bench = {
  name: 'history',
  about: 'the past of a phone at the first login: stored messages a second, longest stall, a text meanwhile',
  async run(setting: Setting) {
    const { workshop, say } = setting;
    const chats = scaled(past.chats, setting);
    const count = chats * past.messages;
    const sandbox = await startSandbox(workshop);
    const gateway = await startGateway(workshop, sandbox);
    const warm = await gateway.pair(numberOf(2, 0));
    await idleTimes(gateway, warm);
    const idle = await idleTimes(gateway, warm);
    return withDatabase(gateway.folder, async (database) => {
      const stored: Count = async () => {
        const [row] = await database.rows<{ n: number }>({ name: '', text: 'select count(*)::int as n from message' }, []);
        return row?.n ?? 0;
      };
      const all: Round[] = [];
      // The first round compiles code.
      for (let round = 0; round <= rounds; round += 1) {
        const begun = await begin(gateway, sandbox, numberOf(3, round), chats);
        const run = (): Promise<Round> => measure(gateway, begun, stored, count);
        const one = round === rounds ? await profiled(setting, gateway, 'history-gateway', run) : await run();
        say(`round ${round} of ${rounds}: ${one.perSecond.toFixed(0)}/s, stall ${one.stall.cpu.toFixed(0)} ms, ${one.acks.length} texts`);
        if (round > 0) all.push(one);
      }
      return figuresOf(all, idle);
    });
  },
};
