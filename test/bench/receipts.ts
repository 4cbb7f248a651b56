/** Measures receipts of contacts, from the socket of the platform to the receiver. Each receipt is stored before it is acknowledged to the platform. */
import { numberOf, scaled, type Bench, type Measure, type Setting } from './bench.ts';
import { startGateway } from './clients.ts';
import { profiled, spent, type Spent } from './cost.ts';
import { analyze } from './fill.ts';
import { median } from './report.ts';
import { postJson, startSandbox } from './sandbox.ts';
import { contacts, inParallel, openPool, postBy } from './sends.ts';
import type { Arrivals } from './tally.ts';
import { eventually } from './workshop.ts';

const perRound = 500;

const open = async (setting: Setting) => {
  const { workshop } = setting;
  const sandbox = await startSandbox(workshop, { decrypt: true });
  const [dam, receiver] = await Promise.all([workshop.start('test/bench/dam.ts'), workshop.start('test/bench/peers.ts')]);
  const port = await dam.ask<number>('open', Number(new URL(sandbox.control).port));
  const through = { ...sandbox, url: `ws://127.0.0.1:${port}/ws/chat` };
  const gateway = await startGateway(workshop, through, { env: { ALLOW_PRIVATE_RECEIVERS: 'loopback' } });
  const token = await gateway.pair(numberOf(2, 0));
  const url = `${await receiver.ask<string>('receive')}/hook`;
  await postJson(`${gateway.address}/webhook`, { url, enabled: true, events: ['messages_update'] }, { token });
  const [pool, control] = [openPool(gateway.address), openPool(sandbox.control)];
  workshop.atEnd(() => Promise.all([pool.close(), control.close()]));

  const arrived = (count: number): Promise<Arrivals> =>
    eventually(async () => {
      const arrivals = await receiver.ask<Arrivals>('received');
      return arrivals.count >= count ? arrivals : null;
    }, `${count} receipts at the receiver`);

  /** Sends texts, and waits until every text is confirmed as delivered. Simulated contacts send these receipts automatically. */
  const send = async (count: number): Promise<readonly string[]> => {
    const ids: string[] = [];
    await receiver.ask('reset');
    await inParallel(count, async (n) => {
      const answer = await postBy(pool, '/send/text', token, { number: contacts[n % contacts.length], text: `text number ${n}` });
      ids[n] = (JSON.parse(answer) as { messageid: string }).messageid;
    });
    await arrived(count);
    return ids;
  };

  await send(scaled(perRound, setting));
  await analyze(gateway.folder);
  return async (count: number) => {
    const ids = await send(count);
    await receiver.ask('reset');
    await dam.ask('hold');
    await inParallel(count, async (n) => {
      await postBy(control, `/contacts/${contacts[n % contacts.length]}/receipts`, '', { type: 'read', ids: [ids[n]] });
    });
    return profiled(setting, gateway, 'receipts', () =>
      spent(gateway, gateway.database, count, async () => {
        const released = await dam.ask<number>('release');
        return (await arrived(count)).last - released;
      }),
    );
  };
};

export const receiptRounds: Measure = {
  name: 'receipts',
  about: 'receipts of contacts on one session, until the receiver has them',
  rounds: 8,
  warmUp: 3,
  figures: {
    perSecond: { name: 'receipts, socket to receiver: rate', unit: 'receipts/s', better: 'more' },
    cpu: { name: 'receipts, socket to receiver: processor', unit: 'ms/receipt', better: 'less' },
    database: { name: 'receipts, socket to receiver: database', unit: 'ms/receipt', better: 'less' },
  },
  async open(setting) {
    const round = await open(setting);
    return async () => ({ ...(await round(scaled(perRound, setting))) });
  },
};

export const receipts: Bench = {
  name: receiptRounds.name,
  about: receiptRounds.about,
  async run(setting) {
    const round = await open(setting);
    const all: Spent[] = [];
    for (let n = 1 - receiptRounds.warmUp; n <= receiptRounds.rounds; n += 1) {
      const one = await round(scaled(perRound, setting));
      if (n > 0) all.push(one);
    }
    return Object.entries(receiptRounds.figures).map(([field, { name, unit }]) => {
      const ours = median(all.map((one) => one[field as keyof Spent]));
      return { name, unit, ours, baseline: null, judged: 'nothing' };
    });
  },
};
