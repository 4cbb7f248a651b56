/** Measures the processor time of restoring sessions after a restart, beside bare Baileys sockets that log in again with their keys in memory. */
import { request } from 'undici';
import { numberOf, scaled, type Bench, type Measure, type Setting } from './bench.ts';
import { pairMany, startBare, startGateway, type Client, type GatewayClient } from './clients.ts';
import { databaseCpu, profiled } from './cost.ts';
import { median, type Figure } from './report.ts';
import { startSandbox, type BenchSandbox } from './sandbox.ts';
import { eventually, pause } from './workshop.ts';

const sessions = 500;
const rounds = 3;
/** The number of simultaneous logins. The limits of the gateway are the same. */
const atOnce = 50;
/** The pause after the pairings, because Baileys keeps the data of a pairing for up to 30 s. In milliseconds. */
const afterPairingMs = 40_000;
/** The time after the last login that still counts, with the requests of the client and their answers. In milliseconds. */
const afterLoginMs = 5_000;
export const restoreMs = 300_000;

interface Round {
  /** The processor time of the client per session, since its HTTP server listens. In milliseconds. */
  readonly cpu: number;
  /**
   * The processor time per session since the start of the process. Two revisions can be compared by this value, because they listen at different points of
   * their start.
   */
  readonly whole: number;
  /** The processor time of the database server per session. In milliseconds. */
  readonly database: number;
  /** The time until the last session was connected. In seconds. */
  readonly seconds: number;
}

/** Returns the number of sessions of the gateway if all are restored, and null before that. */
export const restored = async ({ address }: GatewayClient): Promise<number | null> => {
  const { statusCode, body } = await request(`${address}/health/ready`);
  const { restored: done, total } = (await body.json()) as { restored: number; total: number };
  return statusCode === 200 && done === total ? total : null;
};

/** Starts the gateway again, and measures the restore. The measurement begins when the HTTP server listens. */
const startAgain = async (setting: Setting, sandbox: BenchSandbox, folder: string, expected: number): Promise<Round> => {
  const gateway = await startGateway(setting.workshop, sandbox, { folder });
  const [begun, database] = [performance.now(), databaseCpu(gateway.database)];
  const seconds = await profiled(setting, gateway, 'restore-gateway', async () => {
    const total = await eventually(() => restored(gateway), `${expected} sessions to be restored`, restoreMs);
    if (total !== expected) throw new Error(`${total} sessions were restored, ${expected} were paired`);
    const ms = performance.now() - begun;
    await pause(afterLoginMs);
    return ms / 1000;
  });
  const [cpu, whole] = [(await gateway.ask<number>('cpu.listening')) / expected, (await gateway.cpu()) / expected];
  const round = { cpu, whole, database: (databaseCpu(gateway.database) - database) / expected, seconds };
  await gateway.end();
  return round;
};

const openAgain = async (bare: Client, numbers: readonly string[]): Promise<Round> => {
  await bare.ask('end', { numbers, atOnce });
  await pause(afterLoginMs);
  const [begun, before] = [performance.now(), await bare.cpu()];
  await bare.ask('login', { numbers, atOnce });
  const seconds = (performance.now() - begun) / 1000;
  await pause(afterLoginMs);
  const cpu = ((await bare.cpu()) - before) / numbers.length;
  return { cpu, whole: cpu, database: 0, seconds };
};

const figuresOf = (count: number, ours: readonly Round[], theirs: readonly Round[]): readonly Figure[] => {
  const middle = (all: readonly Round[], field: keyof Round): number => median(all.map((round) => round[field]));
  return [
    {
      name: `${count} sessions restored: processor`,
      unit: 'ms/session',
      ours: middle(ours, 'cpu'),
      baseline: middle(theirs, 'cpu'),
      judged: 'ratio',
      bound: { most: 1.3 },
      details: { ratios: ours.map(({ cpu }, n) => cpu / (theirs[n]?.cpu ?? NaN)), databaseServer: middle(ours, 'database') },
    },
    {
      name: `${count} sessions restored: until all are connected`,
      unit: 's',
      ours: middle(ours, 'seconds'),
      baseline: middle(theirs, 'seconds'),
      judged: 'nothing',
    },
  ];
};

export const restoreRounds: Measure = {
  name: 'restore',
  about: `${sessions} sessions that a start brings back`,
  rounds: 5,
  warmUp: 0,
  figures: {
    cpu: { name: `${sessions} sessions restored: processor`, unit: 'ms/session', better: 'less' },
    whole: { name: `${sessions} sessions restored: processor, with the start`, unit: 'ms/session', better: 'less' },
    database: { name: `${sessions} sessions restored: database`, unit: 'ms/session', better: 'less' },
    seconds: { name: `${sessions} sessions restored: until all are connected`, unit: 's', better: 'less' },
  },
  async open(setting) {
    const count = scaled(sessions, setting);
    const sandbox = await startSandbox(setting.workshop);
    const gateway = await startGateway(setting.workshop, sandbox);
    await pairMany(gateway, 2, 0, count);
    await pause(afterPairingMs);
    await gateway.end();
    return async () => ({ ...(await startAgain(setting, sandbox, gateway.folder, count)) });
  },
};

export const restore: Bench = {
  name: 'restore',
  about: `processor time of ${sessions} sessions that a start brings back, against logins of bare Baileys`,
  async run(setting) {
    const { workshop, say } = setting;
    const count = scaled(sessions, setting);
    const sandbox = await startSandbox(workshop);
    const [gateway, bare] = await Promise.all([startGateway(workshop, sandbox), startBare(workshop, sandbox)]);
    const begun = performance.now();
    await Promise.all([pairMany(gateway, 2, 0, count), pairMany(bare, 1, 0, count)]);
    say(`${count} sessions are paired on either side, in ${((performance.now() - begun) / 1000).toFixed(0)} s`);
    await pause(afterPairingMs);
    await gateway.end();
    const numbers = Array.from({ length: count }, (_, n) => numberOf(1, n));
    const [ours, theirs]: [Round[], Round[]] = [[], []];
    for (let round = 1; round <= rounds; round += 1) {
      theirs.push(await openAgain(bare, numbers));
      ours.push(await startAgain(setting, sandbox, gateway.folder, count));
      say(`round ${round} of ${rounds}: ${ours.at(-1)?.cpu.toFixed(2)} ms a session, bare ${theirs.at(-1)?.cpu.toFixed(2)} ms`);
    }
    return figuresOf(count, ours, theirs);
  },
};
