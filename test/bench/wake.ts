/** Compares waking a hibernated session for a text with a login of bare Baileys and its first text. */
import { numberOf, scaled, type Bench, type Measure, type Setting } from './bench.ts';
import { startBare, startGateway, type Client, type GatewayClient } from './clients.ts';
import { profiled } from './cost.ts';
import { median } from './report.ts';
import { postJson, startSandbox } from './sandbox.ts';
import { pause } from './workshop.ts';

const rounds = 60;
/** The number of rounds that do not count. The gateway has more code to compile than the library alone. */
const warmUp = 20;
/** The pause after a login and after a close, whose remaining work must not count for the next round. In milliseconds. */
const restMs = 250;
const [bareNumber, gatewayNumber, contact] = [numberOf(1, 0), numberOf(2, 0), numberOf(8, 0)];

const wakeBare = async (bare: Client): Promise<number> => {
  await bare.ask('end', { numbers: [bareNumber], atOnce: 1 });
  await pause(restMs);
  const ms = await bare.ask<number>('wake', { from: bareNumber, to: contact });
  await pause(restMs);
  return ms;
};

const wakeGateway = async ({ address }: GatewayClient, token: string): Promise<number> => {
  await postJson(`${address}/instance/hibernate`, {}, { token });
  await pause(restMs);
  const start = performance.now();
  await postJson(`${address}/send/text`, { number: contact, text: 'a text of the bench' }, { token });
  const ms = performance.now() - start;
  await pause(restMs);
  return ms;
};

const compare = async (setting: Setting, bare: Client, gateway: GatewayClient, token: string) => {
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let round = 1 - warmUp; round <= scaled(rounds, setting); round += 1) {
    const [their, our] = [await wakeBare(bare), await wakeGateway(gateway, token)];
    if (round < 1) continue;
    theirs.push(their);
    ours.push(our);
  }
  return { ours, theirs };
};

export const wakeRounds: Measure = {
  name: 'wake',
  about: 'from hibernation to a text that was sent',
  rounds,
  warmUp,
  figures: { ms: { name: 'wake from hibernation to a text sent', unit: 'ms', better: 'less' } },
  async open({ workshop }) {
    const sandbox = await startSandbox(workshop);
    const gateway = await startGateway(workshop, sandbox);
    const token = await gateway.pair(gatewayNumber);
    return async () => ({ ms: await wakeGateway(gateway, token) });
  },
};

export const wake: Bench = {
  name: 'wake',
  about: 'from hibernation to a text that was sent, against a login and a text of bare Baileys',
  async run(setting) {
    const sandbox = await startSandbox(setting.workshop);
    const [gateway, bare] = await Promise.all([startGateway(setting.workshop, sandbox), startBare(setting.workshop, sandbox)]);
    await bare.pair(bareNumber);
    const token = await gateway.pair(gatewayNumber);
    const { ours, theirs } = await compare(setting, bare, gateway, token);
    await profiled(setting, gateway, 'wake-gateway', async () => {
      for (let round = 0; round < warmUp; round += 1) await wakeGateway(gateway, token);
    });
    return [
      {
        name: 'wake from hibernation to a text sent',
        unit: 'ms',
        ours: median(ours),
        baseline: median(theirs),
        judged: 'ratio',
        bound: { most: 1.5 },
        // Other programs can only slow a round down, so the fastest rounds show the speed of a quiet machine.
        details: { rounds: ours.length, bestRatio: Math.min(...ours) / Math.min(...theirs) },
      },
    ];
  },
};
