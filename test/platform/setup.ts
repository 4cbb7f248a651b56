/** The adapter with the simulated platform: real sockets, real encryption, storage in memory. */
import { generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Entry, Message } from '#actors/model.ts';
import type { LinkHost, Log, OpenOptions, PlatformFact, PlatformLink } from '#actors/ports.ts';
import type { Previews } from '#src/platform/outbound/live-connection.ts';
import type { SharedUploads } from '#src/platform/link.ts';
import { type BaileysPlatform, createPlatform, type Deadlines, type PlatformOptions } from '#src/platform/platform.ts';
import { startSandbox, type RunningSandbox, type SandboxOptions } from '#src/sandbox/server.ts';
import { openTemporaryFolder } from '#src/files/blobs.ts';
import { createIntake } from '#src/media/intake.ts';
import { createMedia, createSealing } from '#src/media/media.ts';
import type { Downloads } from '#src/platform/outbound/media-stream.ts';
import { AddressGuard } from '#src/webhooks/address-guard.ts';
import { createFakeVault, type FakeVault } from '#test/fakes/vault.ts';
import { afterLastFile, endAfterTests } from '#test/support/together.ts';

export const quietLog: Log = { info: () => undefined, warn: () => undefined, debug: () => undefined, error: () => undefined };

export const deadlines: Deadlines = {
  open: 20_000,
  login: 20_000,
  close: 1_000,
  silence: 30_000,
  send: 20_000,
  pairingQr: 60_000,
  pairingCode: 60_000,
};

const encoding = { publicKeyEncoding: { format: 'der', type: 'spki' }, privateKeyEncoding: { format: 'der', type: 'pkcs8' } } as const;

/** Makes pre-keys as the worker does. */
export const preKeys = async (count: number): Promise<Uint8Array> => {
  const pairs = new Uint8Array(count * 64);
  for (let at = 0; at < pairs.length; at += 64) {
    const { privateKey, publicKey } = generateKeyPairSync('x25519', encoding);
    pairs.set(privateKey.subarray(-32), at);
    pairs.set(publicKey.subarray(-32), at + 32);
  }
  return pairs;
};

/** Recorded items, and waits for one of them. */
export class Happenings<T> {
  readonly all: T[] = [];
  readonly #waiting = new Set<() => void>();

  add(item: T): void {
    this.all.push(item);
    for (const check of this.#waiting) check();
  }

  /** Waits for the first item, past or future, for which `pick` returns a value. */
  wait<R>(pick: (item: T) => R | undefined | false, what = 'it', ms = 60_000): Promise<R> {
    return new Promise((resolve, reject) => {
      const check = (): boolean => {
        for (const item of this.all) {
          const picked = pick(item);
          if (picked === undefined || picked === false) continue;
          clearTimeout(timer);
          this.#waiting.delete(check);
          resolve(picked);
          return true;
        }
        return false;
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(check);
        reject(new Error(`${what} did not happen; seen: ${JSON.stringify(this.all).slice(0, 1_200)}`));
      }, ms);
      if (!check()) this.#waiting.add(check);
    });
  }
}

export interface Bench {
  readonly running: RunningSandbox;
  /** Creates an instance. `port` replaces that of the simulated platform. */
  instance(own?: Partial<Deadlines>, port?: number, more?: Partial<PlatformOptions>): Instance;
  /** Closes everything. */
  stop(): Promise<void>;
}

export interface Instance {
  readonly link: PlatformLink;
  readonly platform: BaileysPlatform;
  readonly vault: FakeVault;
  /** Facts of all connections, in order. */
  readonly facts: Happenings<PlatformFact>;
  readonly entries: Happenings<Entry>;
  /** The recorder of entries. A test may replace it. */
  readonly recorder: Pick<LinkHost, 'record' | 'recorded'>;
  readonly surprises: unknown[];
  /** Messages that were dropped because their sender has no right to send them. */
  readonly forged: string[];
  open(options?: OpenOptions): void;
  /** Waits for a fact of the newest connection. */
  fact<T extends PlatformFact['type']>(type: T, ms?: number): Promise<Extract<PlatformFact, { type: T }>>;
  message(pick: (message: Message) => boolean, what?: string): Promise<Message>;
}

/** Stand-ins for JPEGs. The platform does not inspect pictures. */
export const largePicture = Buffer.from('a large picture');
const picturesOf = (large: boolean) => ({
  small: Uint8Array.of(0xff, 0xd8),
  large: large ? { jpeg: largePicture, width: 800, height: 418 } : null,
});

const previews: Previews = {
  page: async (url, large) => ({ title: `Title of ${url}`, description: 'About', pictures: picturesOf(large) }),
  picture: async (source, large) => (typeof source === 'string' || source.length > 0 ? picturesOf(large) : null),
};

/** Stored files, each with its path as its name. */
const files: SharedUploads['files'] = {
  whole: async ({ name }) => (existsSync(name) ? readFile(name) : null),
  localCopy: async ({ name }) => (existsSync(name) ? { path: name, release: async () => undefined } : null),
  readThrough: async () => undefined,
};

/** The time-outs of uploads in milliseconds. The host runs in this process, so a machine that stalls for a second must not count as silence of the host. */
export const uploadLimits = { wholeMs: 40_000, silenceMs: 3_000 };

/** The folder of the test for files that are being downloaded. */
export const folder = await openTemporaryFolder(await mkdtemp(join(tmpdir(), 'dormouse-downloads-')));
afterLastFile(() => rm(folder.path, { recursive: true, force: true }));
const media = createMedia({ threads: 1 });
afterLastFile(() => media.close());
const sealing = createSealing(media, folder, 1);
const intake = createIntake({
  guard: new AddressGuard({ allow: [] }),
  userAgent: 'test',
  folder,
  maxBytes: 1e8,
  timeoutMs: 20_000,
  silenceMs: 10_000,
});
const downloads: Downloads = { receive: (bytes, options) => intake.receive(bytes, options), most: 1e8, silenceMs: 10_000, phoneMs: 10_000 };

/** Options that all adapters of these tests share. */
const common = {
  log: quietLog,
  timers: async () => [],
  channels: { all: async () => [], maxAgeMs: 1e9 },
  groups: {
    known: async () => ({ names: new Map(), memberships: [], pictures: [], listedAt: null }),
    get: async () => null,
    maxAgeMs: 1e9,
  },
  previews,
  uploads: { files, sealing, limits: uploadLimits, remembered: 10 },
  downloads,
  mediaLookup: new AddressGuard({ allow: [] }).lookup,
  proxies: { timeoutMs: 10_000, testMs: 10_000, guard: new AddressGuard({ allow: ['loopback'] }) },
  pictures: { login: 0, between: 0 },
  now: Date.now,
} as const;

const recorderOf = (entries: Happenings<Entry>): Instance['recorder'] => ({
  record: (made) => made.forEach((entry) => entries.add(entry)),
  recorded: async () => true,
});

const hostOf = (recorder: Instance['recorder'], surprises: unknown[], forged: string[]): LinkHost => ({
  id: 'r0',
  epoch: 1,
  record: (made) => recorder.record(made),
  recorded: () => recorder.recorded(),
  route: () => ({ via: 'direct' }),
  accountOf: () => 'same',
  beginAnew: async () => undefined,
  mayAct: () => true,
  pictureChanged: () => undefined,
  forged: (what) => void forged.push(what),
  surprise: (error) => void surprises.push(error),
});

/** Starts the bench. `tap` is called with every encoded stanza. */
export const startBench = async (tap?: SandboxOptions['tap']): Promise<Bench> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'dormouse-platform-'));
  const running = await startSandbox({ port: 0, dataDir, tap });
  const platforms: BaileysPlatform[] = [];
  const links: PlatformLink[] = [];
  const instance: Bench['instance'] = (own = {}, port = running.port, more = {}) => {
    const vault = createFakeVault();
    const entries = new Happenings<Entry>();
    const surprises: unknown[] = [];
    const forged: string[] = [];
    const messages = () => entries.all.flatMap((entry) => (entry.kind === 'message' || entry.kind === 'queued' ? [entry.message] : []));
    const platform = createPlatform({
      url: `ws://127.0.0.1:${port}/ws/chat`,
      vault,
      preKeys,
      deadlines: { ...deadlines, ...own },
      quoted: async (_instance, id) => messages().find(({ messageId }) => messageId === id.slice(id.lastIndexOf(':') + 1)) ?? null,
      ...common,
      ...more,
    });
    platforms.push(platform);
    const recorder = recorderOf(entries);
    const link = platform.link(hostOf(recorder, surprises, forged));
    links.push(link);
    const facts = new Happenings<PlatformFact>();
    let from = 0;
    return {
      link,
      platform,
      vault,
      facts,
      entries,
      recorder,
      surprises,
      forged,
      open(options = {}) {
        from = facts.all.length;
        link.open(options, (fact) => facts.add(fact));
      },
      fact<T extends PlatformFact['type']>(type: T, ms?: number) {
        const wanted = (fact: PlatformFact): fact is Extract<PlatformFact, { type: T }> =>
          fact.type === type && facts.all.indexOf(fact) >= from;
        return facts.wait((fact) => wanted(fact) && fact, type, ms);
      },
      message: (pick, what) => entries.wait((entry) => entry.kind === 'message' && pick(entry.message) && entry.message, what),
    };
  };
  const stop = async (): Promise<void> => {
    for (const link of links) await link.close();
    for (const platform of platforms) await platform.close();
    await running.stop();
    await rm(dataDir, { recursive: true, force: true });
    // Baileys leaves a timer of 30 s after every pairing.
    endAfterTests();
  };
  return { running, instance, stop };
};

/** Returns a linked and connected instance. */
export const connected = async (
  bench: Bench,
  number: string,
  own: Partial<Deadlines> = {},
  port?: number,
  more: Partial<PlatformOptions> = {},
): Promise<Instance> => {
  const instance = bench.instance(own, port, more);
  instance.open();
  const { qr } = await instance.fact('platform.qr');
  await bench.running.sandbox.scan({ qr, number, name: `Person ${number}` });
  const { close } = await instance.fact('platform.closed');
  if (close.code !== 515) throw new Error(`expected 515, got ${close.code} ${close.message}`);
  instance.open();
  await instance.fact('platform.opened');
  return instance;
};
