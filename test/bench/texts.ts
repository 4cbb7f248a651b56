/** Compares texts over HTTP on one session with `sendMessage` of bare Baileys, in turns. */
import { numberOf, scaled, type Bench, type Setting } from './bench.ts';
import { startBare, startGateway, type Client, type GatewayClient } from './clients.ts';
import { profiled, spent, type Spent } from './cost.ts';
import { median, type Figure } from './report.ts';
import { startSandbox } from './sandbox.ts';
import { concurrency, contacts, openPool, sendTexts } from './sends.ts';

const rounds = 11;
const perRound = 400;
/** The number of rounds that do not count. The gateway has more code to compile than the library alone. */
const warmUp = 6;

interface Sides {
  gateway(count: number): Promise<Spent>;
  bare(count: number): Promise<Spent>;
}

const compare = async (sides: Sides, setting: Setting): Promise<{ ours: Spent[]; theirs: Spent[] }> => {
  const count = scaled(perRound, setting);
  // These rounds create the Signal sessions with every contact, and compile code.
  await sides.bare(count * warmUp);
  await sides.gateway(count * warmUp);
  const [ours, theirs]: [Spent[], Spent[]] = [[], []];
  for (let round = 1; round <= rounds; round += 1) {
    theirs.push(await sides.bare(count));
    ours.push(await sides.gateway(count));
    setting.say(`round ${round} of ${rounds}: ${ours.at(-1)?.perSecond.toFixed(0)}/s, bare ${theirs.at(-1)?.perSecond.toFixed(0)}/s`);
  }
  return { ours, theirs };
};

const figuresOf = (ours: readonly Spent[], theirs: readonly Spent[]): readonly Figure[] => {
  const of = (rounds: readonly Spent[], field: keyof Spent): number[] => rounds.map((round) => round[field]);
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
      // Other programs can only slow a round down, so the best rounds show the speed of a quiet machine.
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
    const pool = openPool(gateway.address);
    const sides: Sides = {
      gateway: (count) => spent(gateway, gateway.database, count, () => sendTexts(pool, [token], count)),
      bare: (count) =>
        spent(bare, null, count, async () => {
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
