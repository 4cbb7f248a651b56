/** Compares the operation `POST /message/react`, from the request to the acknowledgement, with the same call of bare Baileys. */
import { numberOf, scaled, type Bench, type Setting } from './bench.ts';
import { startBare, startGateway } from './clients.ts';
import { profiled, spent, type Spent } from './cost.ts';
import { median, type Figure } from './report.ts';
import { startSandbox, type BenchSandbox } from './sandbox.ts';
import { concurrency, contacts, inParallel, openPool, postBy } from './sends.ts';

const rounds = 11;
const warmUp = 5;
const perRound = 400;

type Side = (count: number) => Promise<Spent>;

const openGateway = async (setting: Setting, sandbox: BenchSandbox): Promise<Side> => {
  const { workshop } = setting;
  const gateway = await startGateway(workshop, sandbox);
  const token = await gateway.pair(numberOf(2, 0));
  const pool = openPool(gateway.address);
  workshop.atEnd(() => pool.close());
  const ids: string[] = [];
  await inParallel(contacts.length, async (n) => {
    const answer = await postBy(pool, '/send/text', token, { number: contacts[n], text: 'a text to react to' });
    ids[n] = (JSON.parse(answer) as { messageid: string }).messageid;
  });
  const react = async (n: number): Promise<void> =>
    void (await postBy(pool, '/message/react', token, { id: ids[n % ids.length], text: n % 2 === 0 ? '👍' : '' }));
  return (count) => profiled(setting, gateway, 'reactions', () => spent(gateway, gateway.database, count, () => inParallel(count, react)));
};

const openBare = async ({ workshop }: Setting, sandbox: BenchSandbox): Promise<Side> => {
  const bare = await startBare(workshop, sandbox);
  const from = numberOf(1, 0);
  await bare.pair(from);
  return (count) =>
    spent(bare, null, count, async () => {
      // The gateway answers after the acknowledgement of the platform, so the baseline waits for it as well.
      const { acknowledged } = await bare.ask<{ acknowledged: number }>('send', {
        from,
        to: contacts,
        count,
        concurrency,
        reactions: true,
      });
      return acknowledged;
    });
};

const figuresOf = (ours: readonly Spent[], theirs: readonly Spent[]): readonly Figure[] => {
  const middle = (all: readonly Spent[], field: keyof Spent): number => median(all.map((one) => one[field]));
  const ratios = ours.map((one, n) => one.perSecond / (theirs[n]?.perSecond ?? NaN));
  return [
    {
      name: 'reactions, one session: rate',
      unit: 'operations/s',
      ours: middle(ours, 'perSecond'),
      baseline: middle(theirs, 'perSecond'),
      judged: 'ratio',
      bound: { least: 0.5 },
      details: { ratios, medianRatio: median(ratios) },
    },
    {
      name: 'reactions, one session: processor',
      unit: 'ms/operation',
      ours: middle(ours, 'cpu'),
      baseline: middle(theirs, 'cpu'),
      judged: 'nothing',
      details: { databaseServer: middle(ours, 'database') },
    },
  ];
};

export const reactions: Bench = {
  name: 'reactions',
  about: 'one operation on its whole way, against the same of bare Baileys',
  async run(setting) {
    const count = scaled(perRound, setting);
    const sandbox = await startSandbox(setting.workshop);
    const [gateway, bare] = [await openGateway(setting, sandbox), await openBare(setting, sandbox)];
    const [ours, theirs]: [Spent[], Spent[]] = [[], []];
    for (let round = 1 - warmUp; round <= rounds; round += 1) {
      const [their, our] = [await bare(count), await gateway(count)];
      setting.say(`round ${round} of ${rounds}: ${our.perSecond.toFixed(0)}/s, bare ${their.perSecond.toFixed(0)}/s`);
      if (round < 1) continue;
      ours.push(our);
      theirs.push(their);
    }
    return figuresOf(ours, theirs);
  },
};
