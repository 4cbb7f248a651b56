/** Measures the longest stall of the event loop while a session pairs and logs in, beside bare Baileys. */
import { join } from 'node:path';
import { numberOf, type Bench, type Setting } from './bench.ts';
import { startBare, startGateway, type Client } from './clients.ts';
import { median } from './report.ts';
import { startSandbox } from './sandbox.ts';
import type { Stall } from './stalls.ts';
import { pause } from './workshop.ts';

const rounds = 7;
/** The time after a login that still counts, with the requests of the client and their answers. In milliseconds. */
const afterLoginMs = 1_000;

const stallOf = async (client: Client, number: string): Promise<Stall> => {
  await client.ask('stalls.start');
  await client.pair(number);
  await pause(afterLoginMs);
  return client.ask<Stall>('stalls.stop');
};

const profile = async ({ profiles }: Setting, client: Client): Promise<void> => {
  if (profiles === null) return;
  await client.ask('profile.start');
  await client.pair(numberOf(2, 9_999));
  await pause(afterLoginMs);
  await client.ask('profile.stop', join(profiles, 'pairing-gateway.cpuprofile'));
};

export const pairing: Bench = {
  name: 'pairing',
  about: 'longest stall of the event loop while one session pairs and logs in',
  async run(setting) {
    const { workshop, say } = setting;
    const sandbox = await startSandbox(workshop);
    const [gateway, bare] = await Promise.all([startGateway(workshop, sandbox), startBare(workshop, sandbox)]);
    // The first pairing compiles code and starts threads. The bound is for a running gateway.
    await bare.pair(numberOf(1, 0));
    await gateway.pair(numberOf(2, 0));
    const [ours, theirs]: [Stall[], Stall[]] = [[], []];
    for (let round = 1; round <= rounds; round += 1) {
      theirs.push(await stallOf(bare, numberOf(1, round)));
      ours.push(await stallOf(gateway, numberOf(2, round)));
      say(`round ${round} of ${rounds}: ${ours.at(-1)?.wall.toFixed(0)} ms, bare ${theirs.at(-1)?.wall.toFixed(0)} ms`);
    }
    await profile(setting, gateway);
    const middle = (stalls: readonly Stall[], field: keyof Stall): number => median(stalls.map((stall) => stall[field]));
    return [
      {
        name: 'pairing: longest stall of the loop, work of the thread',
        unit: 'ms',
        ours: middle(ours, 'cpu'),
        baseline: middle(theirs, 'cpu'),
        judged: 'value',
        bound: { most: 30 },
        details: { rounds: ours.map(({ cpu }) => cpu) },
      },
      {
        name: 'pairing: longest stall of the loop, by the clock',
        unit: 'ms',
        ours: middle(ours, 'wall'),
        baseline: middle(theirs, 'wall'),
        judged: 'nothing',
        details: { rounds: ours.map(({ wall }) => wall) },
      },
    ];
  },
};
