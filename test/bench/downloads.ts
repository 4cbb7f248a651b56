/** Compares the download of arriving documents with bare Baileys that writes the same files to the disk, in turns. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { scaled, type Bench } from './bench.ts';
import { profiled, spent, type Spent } from './cost.ts';
import { contacts, costs, MiB, open, type Stage } from './media.ts';
import type { Memory } from './probe.ts';
import { median } from './report.ts';
import { postJson } from './sandbox.ts';
import { postBy } from './sends.ts';
import { eventually } from './workshop.ts';

const rounds = 7;

/** Sends one document of the same size to each account. Waits until both have arrived. Returns the ids of the messages. */
const arrive = async ({ control, bare, pool, token, from, number }: Stage, size: number) => {
  const write = async (to: string): Promise<string> => {
    const data = Buffer.concat([Buffer.from('%PDF-1.4\n'), randomBytes(size)]).toString('base64');
    const content = { to, type: 'document', data, mimetype: 'application/pdf', fileName: 'a.pdf' };
    return (await postJson<{ readonly id: string }>(`${control}/contacts/${contacts[0]}/messages`, content)).id;
  };
  const [ours, theirs] = [await write(number), await write(from)];
  const found = async () => ((await postBy(pool, '/message/find', token, { id: ours })).includes(ours) ? true : null);
  await eventually(found, 'the document at the gateway');
  await eventually(async () => ((await bare.ask<boolean>('hasDocument', theirs)) ? true : null), 'the document at bare Baileys');
  return { ours, theirs };
};

export const downloads: Bench = {
  name: 'downloads',
  about: 'arriving documents of 16 MiB that are downloaded one at a time, against downloadContentFromMessage of bare Baileys',
  async run(setting) {
    const stage = await open(setting);
    const { gateway, bare, pool, token, folder } = stage;
    const size = scaled(16 * MiB, setting);
    const byGateway = (id: string) =>
      spent(gateway, gateway.database, 1, async () => void (await postBy(pool, '/message/download', token, { id })));
    const byBare = (id: string) => spent(bare, null, 1, () => bare.ask<void>('download', { id, path: join(folder, id) }));
    for (let warm = 0; warm < 3; warm += 1) {
      const { ours, theirs } = await arrive(stage, size);
      await byBare(theirs);
      await byGateway(ours);
    }
    const [mine, baseline, above]: [Spent[], Spent[], number[]] = [[], [], []];
    for (let round = 1; round <= rounds; round += 1) {
      const { ours, theirs } = await arrive(stage, size);
      baseline.push(await byBare(theirs));
      const { rss } = await gateway.ask<Memory>('memory');
      await gateway.ask('peak.start');
      mine.push(await byGateway(ours));
      above.push(((await gateway.ask<number>('peak.stop')) - rss) / MiB);
      setting.say(`round ${round} of ${rounds}: ${above.at(-1)?.toFixed(1)} MiB above idle`);
    }
    const { ours } = await arrive(stage, size);
    await profiled(setting, gateway, 'downloads-gateway', () => byGateway(ours));
    return [
      ...costs('downloads of 16 MiB', mine, baseline, null, { bytes: size }, { most: 1.3 }),
      {
        name: 'downloads of 16 MiB: memory above idle',
        unit: 'MiB',
        ours: median(above),
        baseline: null,
        judged: 'value',
        bound: { most: 32 },
        details: { above },
      },
    ];
  },
};
