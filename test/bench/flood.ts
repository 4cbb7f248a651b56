/** Measures the answers about a quiet instance while another instance receives a thousand texts per second. */
import { Pool } from 'undici';
import { numberOf, scaled, type Bench, type Measure, type Setting } from './bench.ts';
import { startGateway, type GatewayClient } from './clients.ts';
import { profiled } from './cost.ts';
import { median, percentile } from './report.ts';
import { counted, postJson, startSandbox, type BenchSandbox } from './sandbox.ts';
import type { Stall } from './stalls.ts';
import { eventually, pause, type Child } from './workshop.ts';

const pace = 1_000;
/** The number of texts per round. The platform encrypts them within the time-outs of the session. */
const perRound = 5_000;
const rounds = 4;
const warmUp = 1;
const asksPerSecond = 50;
/** The longest time to hold frames back. A session without a frame for 30 s counts as dead. In milliseconds. */
const holdMs = 15_000;
/** The pause between a flood and the calm phase. In milliseconds. */
const restMs = 2_000;
const contacts = Array.from({ length: 20 }, (_, n) => numberOf(8, n));
const [floodedNumber, quietNumber] = [numberOf(2, 0), numberOf(2, 1)];

/** Sends requests at a steady rate while `what` runs. Returns the time from each planned start to its answer. In milliseconds. */
const askDuring = async (address: string, token: string, what: () => Promise<void>): Promise<readonly number[]> => {
  const pool = new Pool(address, { connections: 8, pipelining: 1 });
  const asked: Promise<number>[] = [];
  const begun = performance.now();
  const ask = async (due: number): Promise<number> => {
    const { statusCode, body } = await pool.request({ path: '/instance/status', method: 'GET', headers: { token } });
    await body.dump();
    return statusCode === 200 ? performance.now() - due : Promise.reject(new Error(`GET /instance/status answered ${statusCode}`));
  };
  const timer = setInterval(() => {
    const due = begun + (asked.length * 1000) / asksPerSecond;
    if (performance.now() >= due) asked.push(ask(due));
  }, 1);
  try {
    await what();
  } finally {
    clearInterval(timer);
    await Promise.allSettled(asked);
    await pool.close();
  }
  return Promise.all(asked);
};

const acknowledged = async (sandbox: BenchSandbox): Promise<number> => (await counted(sandbox)).acknowledged;

interface Round {
  /** The duration of each answer. In milliseconds. */
  readonly answers: readonly number[];
  /** The number of texts that the gateway accepted per second. */
  readonly perSecond: number;
  /** The share of one processor that the gateway used. */
  readonly cpu: number;
  readonly stall: Stall;
}

interface Stage {
  readonly sandbox: BenchSandbox;
  readonly dam: Child;
  readonly gateway: GatewayClient;
  /** The token of the quiet instance. */
  readonly token: string;
}

const flooded = async ({ sandbox, dam, gateway, token }: Stage, most: number): Promise<Round> => {
  await dam.ask('hold');
  const texts = { control: sandbox.control, from: contacts, to: floodedNumber, count: most, atMost: holdMs };
  const count = await dam.ask<number>('write', texts);
  const before = await acknowledged(sandbox);
  const [begun, cpu] = [performance.now(), await gateway.cpu()];
  let [ms, used] = [0, 0];
  const answers = await askDuring(gateway.address, token, async () => {
    // The answers of the platform to receipts wait behind the held frames. These answers are a small part of the work.
    await gateway.ask('stalls.start');
    await dam.ask('trickle', pace);
    await eventually(async () => ((await acknowledged(sandbox)) >= before + count ? true : null), `${count} confirmations`);
    [ms, used] = [performance.now() - begun, (await gateway.cpu()) - cpu];
  });
  const stall = await gateway.ask<Stall>('stalls.stop');
  await dam.ask('release');
  await pause(restMs);
  return { answers, perSecond: (count / ms) * 1000, cpu: used / ms, stall };
};

const calm = ({ gateway, token }: Stage, count: number): Promise<readonly number[]> =>
  askDuring(gateway.address, token, () => pause((count / pace) * 1000));

const prepare = async ({ workshop }: Setting): Promise<Stage> => {
  const sandbox = await startSandbox(workshop, { decrypt: true });
  const dam = await workshop.start('test/bench/dam.ts');
  const port = await dam.ask<number>('open', Number(new URL(sandbox.control).port));
  const gateway = await startGateway(workshop, { ...sandbox, url: `ws://127.0.0.1:${port}/ws/chat` });
  const flooding = await gateway.pair(floodedNumber);
  const token = await gateway.pair(quietNumber);
  // Until the account has written to a contact, each text of the contact begins a new Signal session.
  for (const number of contacts) await postJson(`${gateway.address}/send/text`, { number, text: 'hello' }, { token: flooding });
  return { sandbox, dam, gateway, token };
};

export const floodRounds: Measure = {
  name: 'flood',
  about: `answers about a quiet instance while another gets ${pace} texts a second`,
  rounds: 6,
  warmUp,
  figures: {
    p50: { name: `a flood of ${pace} texts/s: median of another instance's status`, unit: 'ms', better: 'less' },
    p99: { name: `a flood of ${pace} texts/s: p99 of another instance's status`, unit: 'ms', better: 'less' },
    stall: { name: `a flood of ${pace} texts/s: longest stall, work of the thread`, unit: 'ms', better: 'less' },
    perSecond: { name: `a flood of ${pace} texts/s: texts taken`, unit: 'messages/s', better: 'more' },
    cpu: { name: `a flood of ${pace} texts/s: processor`, unit: 'ms/message', better: 'less' },
  },
  async open(setting) {
    const stage = await prepare(setting);
    return async () => {
      const { answers, perSecond, cpu, stall } = await flooded(stage, scaled(perRound, setting));
      const percentiles = { p50: percentile(answers, 0.5), p99: percentile(answers, 0.99) };
      return { ...percentiles, stall: stall.cpu, perSecond, cpu: (cpu * 1000) / perSecond };
    };
  },
};

export const flood: Bench = {
  name: 'flood',
  about: `answers about a quiet instance while another gets ${pace} texts a second, against the same without the flood`,
  async run(setting) {
    const count = scaled(perRound, setting);
    const stage = await prepare(setting);
    const [floods, calms]: [Round[], (readonly number[])[]] = [[], []];
    for (let round = 1 - warmUp; round <= rounds; round += 1) {
      const without = await calm(stage, count);
      const last = round === rounds;
      const during = await (last ? profiled(setting, stage.gateway, 'flood-gateway', () => flooded(stage, count)) : flooded(stage, count));
      const p99s = [during.answers, without].map((answers) => `${percentile(answers, 0.99).toFixed(1)} ms`);
      setting.say(
        `round ${round} of ${rounds}: p99 ${p99s[0]} at ${during.perSecond.toFixed(0)} texts/s (stall ${during.stall.cpu.toFixed(0)} ms), ${p99s[1]} without`,
      );
      if (round < 1) continue;
      floods.push(during);
      calms.push(without);
    }
    const all = floods.flatMap(({ answers }) => answers);
    const details = {
      rounds: floods.map(({ answers }) => percentile(answers, 0.99)),
      p50: percentile(all, 0.5),
      longest: Math.max(...all),
      textsPerSecond: floods.map(({ perSecond }) => perSecond),
      processors: median(floods.map(({ cpu }) => cpu)),
      stalls: floods.map(({ stall }) => stall),
    };
    const name = `a flood of ${pace} texts/s: p99 of another instance's status`;
    return [
      {
        name,
        unit: 'ms',
        ours: percentile(all, 0.99),
        baseline: percentile(calms.flat(), 0.99),
        judged: 'value',
        bound: { most: 25 },
        details,
      },
    ];
  },
};
