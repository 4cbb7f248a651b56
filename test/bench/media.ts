/** Compares files over HTTP on one session with `sendMessage` of bare Baileys with the same files, in turns. */
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Pool } from 'undici';
import sharp from 'sharp';
import { numberOf, scaled, type Bench, type Setting } from './bench.ts';
import { startBare, startGateway, type Client, type GatewayClient } from './clients.ts';
import { profiled, spent, type Spent } from './cost.ts';
import type { Memory } from './probe.ts';
import { median, type Figure } from './report.ts';
import { startSandbox } from './sandbox.ts';
import { openPool, postBy } from './sends.ts';
import type { Stall } from './stalls.ts';

export const MiB = 1024 * 1024;
const atOnce = 10;
export const contacts = Array.from({ length: atOnce }, (_, n) => numberOf(8, n));

export interface Stage {
  readonly setting: Setting;
  /** The address of the control interface of the simulated platform. */
  readonly control: string;
  readonly gateway: GatewayClient;
  readonly bare: Client;
  readonly pool: Pool;
  readonly token: string;
  readonly from: string;
  /** The number of the account at the gateway. */
  readonly number: string;
  /** The folder with the created files, from which the gateway downloads them. */
  readonly folder: string;
  readonly address: string;
}

/** Serves the files of a folder by their names. */
const serve = async (setting: Setting, folder: string): Promise<string> => {
  const server = createServer((request, response) => void createReadStream(join(folder, (request.url ?? '').slice(1))).pipe(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  setting.workshop.atEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

export const open = async (setting: Setting): Promise<Stage> => {
  const { workshop } = setting;
  const sandbox = await startSandbox(workshop);
  const env = { ALLOW_PRIVATE_RECEIVERS: 'loopback' };
  const [gateway, bare] = await Promise.all([startGateway(workshop, sandbox, { env }), startBare(workshop, sandbox)]);
  const from = numberOf(1, 0);
  await bare.pair(from);
  const number = numberOf(2, 0);
  const token = await gateway.pair(number);
  const pool = openPool(gateway.address);
  workshop.atEnd(() => pool.close());
  const folder = await workshop.folder();
  return { setting, control: sandbox.control, gateway, bare, pool, token, from, number, folder, address: await serve(setting, folder) };
};

/** Sends the files by their addresses, with a limited number of simultaneous requests. */
const post = async ({ pool, token, address }: Stage, names: readonly string[], as: 'image' | 'document'): Promise<void> => {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < names.length) {
      const n = next++;
      await postBy(pool, '/send/media', token, { number: contacts[n % contacts.length], type: as, file: `${address}/${names[n]}` });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
};

const sides = (stage: Stage, as: 'image' | 'document') => {
  const { bare, gateway, from, folder } = stage;
  return {
    gateway: (names: readonly string[]) => spent(gateway, gateway.database, names.length, () => post(stage, names, as)),
    bare: (names: readonly string[]) =>
      spent(bare, null, names.length, () =>
        bare.ask<void>('sendFiles', { from, to: contacts, paths: names.map((name) => join(folder, name)), as, concurrency: atOnce }),
      ),
  };
};

const pictureBytes = 200 * 1024;
const pictureRounds = 5;

/** Returns a function that creates JPEG files of a given size. All have the same picture of noise, and each has a different comment. */
const pictureMaker = async (folder: string) => {
  const [width, height] = [640, 480];
  const noise = await sharp(randomBytes(width * height * 3), { raw: { width, height, channels: 3 } })
    .jpeg({ quality: 62 })
    .toBuffer();
  let made = 0;
  return async (count: number): Promise<readonly string[]> => {
    const names = Array.from({ length: count }, () => `${(made += 1)}.jpg`);
    for (const name of names) {
      const comment = Buffer.concat([Buffer.from([0xff, 0xfe, 0, 34]), randomBytes(32)]);
      await writeFile(join(folder, name), Buffer.concat([noise.subarray(0, 2), comment, noise.subarray(2)]));
    }
    return names;
  };
};

export const pictures: Bench = {
  name: 'pictures',
  about: 'pictures of 200 KiB through HTTP on one session, ten at a time, against sendMessage of bare Baileys',
  async run(setting) {
    const stage = await open(setting);
    const make = await pictureMaker(stage.folder);
    const count = scaled(200, setting);
    const { gateway, bare } = sides(stage, 'image');
    await bare(await make(count));
    await gateway(await make(count));
    const [ours, theirs, stalls, bareStalls]: [Spent[], Spent[], number[], number[]] = [[], [], [], []];
    for (let round = 1; round <= pictureRounds; round += 1) {
      await stage.bare.ask('stalls.start');
      theirs.push(await bare(await make(count)));
      bareStalls.push((await stage.bare.ask<Stall>('stalls.stop')).wall);
      await stage.gateway.ask('stalls.start');
      ours.push(await gateway(await make(count)));
      stalls.push((await stage.gateway.ask<Stall>('stalls.stop')).wall);
      setting.say(
        `round ${round} of ${pictureRounds}: ${ours.at(-1)?.perSecond.toFixed(0)}/s, bare ${theirs.at(-1)?.perSecond.toFixed(0)}/s`,
      );
    }
    const last = await make(count);
    await profiled(setting, stage.gateway, 'pictures-gateway', () => gateway(last));
    return [
      ...costs('pictures', ours, theirs, { least: 0.8 }, { bytes: pictureBytes }),
      {
        name: 'pictures: longest stall',
        unit: 'ms',
        ours: median(stalls),
        baseline: median(bareStalls),
        judged: 'value',
        bound: { most: 30 },
        details: { stalls, bareStalls },
      },
    ];
  },
};

export const costs = (
  what: string,
  ours: readonly Spent[],
  theirs: readonly Spent[],
  rate: { readonly least: number } | null,
  details: Readonly<Record<string, unknown>>,
  processor?: { readonly most: number },
): Figure[] => {
  const of = (rounds: readonly Spent[], field: keyof Spent): number => median(rounds.map((round) => round[field]));
  return [
    {
      name: `${what}: rate`,
      unit: 'messages/s',
      ours: of(ours, 'perSecond'),
      baseline: of(theirs, 'perSecond'),
      judged: 'ratio',
      ...(rate ? { bound: rate } : {}),
      details: { ...details, ratios: ours.map((round, n) => round.perSecond / (theirs[n]?.perSecond ?? NaN)) },
    },
    {
      name: `${what}: processor`,
      unit: 'ms/message',
      ours: of(ours, 'cpu'),
      baseline: of(theirs, 'cpu'),
      judged: 'ratio',
      ...(processor ? { bound: processor } : {}),
      details: { databaseServer: of(ours, 'database') },
    },
  ];
};

const documentRounds = 7;

export const documents: Bench = {
  name: 'documents',
  about: 'documents of 16 MiB through HTTP on one session, one at a time, against sendMessage of bare Baileys',
  async run(setting) {
    const stage = await open(setting);
    const size = scaled(16 * MiB, setting);
    let made = 0;
    const make = async (): Promise<readonly string[]> => {
      const name = `${(made += 1)}.pdf`;
      await writeFile(join(stage.folder, name), Buffer.concat([Buffer.from('%PDF-1.4\n'), randomBytes(size)]));
      return [name];
    };
    const { gateway, bare } = sides(stage, 'document');
    // Several sends run first, because their buffers and code stay in the memory of the idle process.
    for (let warm = 0; warm < 3; warm += 1) {
      await bare(await make());
      await gateway(await make());
    }
    const [ours, theirs, above]: [Spent[], Spent[], number[]] = [[], [], []];
    for (let round = 1; round <= documentRounds; round += 1) {
      theirs.push(await bare(await make()));
      const file = await make();
      const { rss } = await stage.gateway.ask<Memory>('memory');
      await stage.gateway.ask('peak.start');
      ours.push(await gateway(file));
      above.push(((await stage.gateway.ask<number>('peak.stop')) - rss) / MiB);
      setting.say(`round ${round} of ${documentRounds}: ${above.at(-1)?.toFixed(1)} MiB above idle`);
    }
    const last = await make();
    await profiled(setting, stage.gateway, 'documents-gateway', () => gateway(last));
    return [
      ...costs('documents of 16 MiB', ours, theirs, null, { bytes: size }, { most: 1.3 }),
      {
        name: 'documents of 16 MiB: memory above idle',
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
