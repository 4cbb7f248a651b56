/**
 * Measures the cost of inspection: a state chart with and without its observer, and the sends of many sessions while one is observed. Also
 * measures a scrape and a page of the list with ten thousand live instances.
 */
import { request } from 'undici';
import { createActor } from 'xstate';
import { createGate } from '#actors/policy/gate.ts';
import type { Host } from '#actors/session/host.ts';
import { lifecycle } from '#actors/session/lifecycle.ts';
import { FakePlatform } from '#test/fakes/platform.ts';
import { FakeLog, FakeTime, settle } from '#test/fakes/time.ts';
import { testPolicy } from '#test/fakes/world.ts';
import { scaled, type Bench, type Setting } from './bench.ts';
import { adminToken, pairMany, startGateway, type GatewayClient } from './clients.ts';
import { median, percentile, type Figure } from './report.ts';
import { startSandbox } from './sandbox.ts';
import { register, tokenOf } from './seed.ts';
import { openPool, sendTexts } from './sends.ts';
import type { Stall } from './stalls.ts';
import { pause } from './workshop.ts';

const nothing = (): void => undefined;

/** Returns the processor time of this thread, because wall time would include other programs. In milliseconds. */
const worked = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

/** Creates a live state chart, with or without an observer. Returns a function that measures the time of a number of requests. In milliseconds. */
const chartOf = async (logic: typeof lifecycle): Promise<(count: number) => Promise<number>> => {
  const time = new FakeTime();
  const platform = new FakePlatform(time);
  platform.credentials = () => true;
  const link = platform.link({
    id: 'r1',
    epoch: 1,
    record: nothing,
    recorded: async () => true,
    mayAct: () => true,
    pictureChanged: nothing,
    forged: nothing,
    surprise: nothing,
    route: () => ({ via: 'direct' }),
    accountOf: () => 'same',
    beginAnew: async () => undefined,
  });
  const host = {
    id: 'r1',
    link,
    gate: createGate(testPolicy.handshakes, time),
    policy: testPolicy,
    log: new FakeLog(),
    media: { qrPng: async () => '' },
    account: () => '',
    paired: () => true,
    hasRoom: () => true,
    now: () => time.now(),
    monotonic: () => performance.now(),
    random: () => 0.5,
    note: nothing,
    announce: nothing,
    record: nothing,
    live: nothing,
    report: nothing,
    moved: nothing,
  } satisfies Host;
  const actor = createActor(logic, { input: { host, begin: 'online' }, clock: time }).start();
  await settle();
  link.login();
  await settle();
  let n = 0;
  return async (count) => {
    const begun = worked();
    for (let sent = 0; sent < count; sent += 100) {
      for (let one = 0; one < 100; one += 1) actor.send({ type: 'instance.request', n: (n += 1), run: async () => 1 });
      await settle();
    }
    return worked() - begun;
  };
};

const chartRounds = 15;
const chartRequests = 10_000;

const unwatched = async (setting: Setting): Promise<Figure> => {
  const count = scaled(chartRequests, setting);
  const sides = [await chartOf(lifecycle), await chartOf(Object.getPrototypeOf(lifecycle) as typeof lifecycle)] as const;
  const times: [number[], number[]] = [[], []];
  for (let round = -3; round < chartRounds; round += 1)
    for (const side of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const ms = await sides[side](count);
      if (round >= 0) times[side].push((ms / count) * 1000);
    }
  return {
    name: 'a request through the chart, told of its steps and not',
    unit: 'µs',
    ours: median(times[0]),
    baseline: median(times[1]),
    judged: 'ratio',
    bound: { most: 1.03 },
    details: { rounds: times[0], roundsBare: times[1] },
  };
};

interface Looking {
  /** Returns the number of received bytes. */
  readonly bytes: () => number;
  readonly end: () => void;
}

const look = async ({ address }: GatewayClient, path: string): Promise<Looking> => {
  const abort = new AbortController();
  const { body } = await request(address + path, { headers: { admintoken: adminToken }, signal: abort.signal });
  let bytes = 0;
  body.on('data', (chunk: Buffer) => (bytes += chunk.length)).on('error', nothing);
  return { bytes: () => bytes, end: () => abort.abort() };
};

const ask = async ({ address }: GatewayClient, path: string, headers: Readonly<Record<string, string>>): Promise<string> => {
  const { statusCode, body } = await request(address + path, { headers });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`GET ${path} answered ${statusCode}: ${text.slice(0, 300)}`);
  return text;
};

const sendRounds = 12;

/** Measures the sends of all other sessions while one session and the list are observed. */
const attached = async (setting: Setting): Promise<Figure> => {
  const sessions = scaled(200, setting);
  const count = scaled(600, setting);
  const sandbox = await startSandbox(setting.workshop);
  const gateway = await startGateway(setting.workshop, sandbox);
  const [, ...tokens] = await pairMany(gateway, 4, 0, sessions);
  const { rows } = JSON.parse(await ask(gateway, '/admin/actors?limit=1', { admintoken: adminToken })) as { rows: { id: string }[] };
  const pool = openPool(gateway.address);
  setting.workshop.atEnd(() => pool.close());
  const paths = [`/admin/actors/${rows[0]?.id}/stream?after=0`, '/admin/actors/stream'];
  const rate = async (): Promise<number> => {
    const begun = performance.now();
    await sendTexts(pool, tokens, count);
    return (count / (performance.now() - begun)) * 1000;
  };
  for (let warm = 0; warm < 3; warm += 1) await rate();
  const rates: [number[], number[]] = [[], []];
  for (let round = 0; round < sendRounds; round += 1)
    for (const isWatched of round % 2 === 0 ? [true, false] : [false, true]) {
      const looking = isWatched ? await Promise.all(paths.map((path) => look(gateway, path))) : [];
      rates[isWatched ? 0 : 1].push(await rate());
      if (looking.some(({ bytes }) => bytes() === 0)) throw new Error('a stream of the inspector said nothing');
      for (const { end } of looking) end();
    }
  await gateway.end();
  return {
    name: `texts of ${sessions - 1} sessions, one more looked at and not`,
    unit: 'messages/s',
    ours: median(rates[0]),
    baseline: median(rates[1]),
    judged: 'ratio',
    bound: { least: 0.95 },
    details: { rounds: rates[0], roundsAlone: rates[1] },
  };
};

const instances = 10_000;
const asks = 20;

/** Measures the answers, and the longest stall of the event loop during all of them. */
const answers = async (gateway: GatewayClient, name: string, path: string, most: number, mostStall: number): Promise<readonly Figure[]> => {
  const times: number[] = [];
  await ask(gateway, path, { admintoken: adminToken });
  await gateway.ask('stalls.start');
  for (let n = 0; n < asks; n += 1) {
    const begun = performance.now();
    await ask(gateway, path, { admintoken: adminToken });
    times.push(performance.now() - begun);
    await pause(50);
  }
  const stall = await gateway.ask<Stall>('stalls.stop');
  const common = { unit: 'ms', baseline: null, judged: 'value' } as const;
  return [
    { ...common, name: `${name}: answer`, ours: median(times), bound: { most }, details: { p95: percentile(times, 0.95), times } },
    {
      ...common,
      name: `${name}: longest stall of the loop, work of the thread`,
      ours: stall.cpu,
      bound: { most: mostStall },
      details: { wall: stall.wall },
    },
  ];
};

const many = async (setting: Setting): Promise<readonly Figure[]> => {
  const count = scaled(instances, setting);
  const sandbox = await startSandbox(setting.workshop);
  const folder = await setting.workshop.folder();
  await (await startGateway(setting.workshop, sandbox, { folder })).end();
  await register(folder, count, 'hibernated');
  const gateway = await startGateway(setting.workshop, sandbox, { folder });
  // A read of the webhook errors of an instance creates its actors.
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await ask(gateway, '/webhook/errors', { token: tokenOf(next++) });
  };
  await Promise.all(Array.from({ length: 20 }, worker));
  const figures = [
    ...(await answers(gateway, `a scrape with ${count} instances`, '/metrics', 100, 20)),
    ...(await answers(gateway, `a page of 200 of ${count} instances`, '/admin/actors', 100, 50)),
  ];
  await gateway.end();
  return figures;
};

export const inspector: Bench = {
  name: 'inspector',
  about: 'what looking costs: steps of the charts, one session of 200 looked at, a scrape and a page with 10,000 instances',
  run: async (setting) => [await unwatched(setting), ...(await many(setting)), await attached(setting)],
};
