/**
 * A database as so many days leave it, and what happens to it then: an upgrade, a clock that jumps, expiry, a backup that is restored, and a logout of the
 * largest session. A gateway works on it meanwhile, with the simulated platform and a receiver, and a client sends. Everything is real but the age of the rows.
 */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Time } from '#actors/ports.ts';
import { ClockWatch } from '#actors/supervisor/clock-watch.ts';
import { expiry, type Perishable } from '#actors/supervisor/chores.ts';
import { SupervisedWorkers } from '#actors/policy/supervised-workers.ts';
import { backUp } from '#src/storage/backup/backup.ts';
import { restore } from '#src/storage/backup/restore.ts';
import { migrations } from '#src/storage/migrations/list.ts';
import { migrate, openStorage, startEmbedded, type Storage } from '#src/storage/open.ts';
import { openDatabase, type Database } from '#src/storage/postgres/database.ts';
import { systemTime } from '#src/base/system-time.ts';
import { quiet } from '#test/bench/fill.ts';
import { testPolicy } from '#test/fakes/world.ts';
import { root } from '#test/source-tree.ts';
import type { Account } from '#test/support/account.ts';
import { embeddedUrl } from '#test/support/embedded-url.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';
import { readPinned, type PinnedMigration } from '#test/support/upgrade.ts';
import { countRows, fillAged, fillKeys, fillYoung, makeReadable, type YearOptions } from './year-rows.ts';

export interface YearRow {
  readonly step: string;
  /** Milliseconds. */
  readonly took: number;
  readonly outcome: string;
  /** The slowest write of a client meanwhile, in milliseconds; null where none wrote. */
  readonly slowestWrite: number | null;
  /** Bytes that the database wrote to its log meanwhile. */
  readonly log: number;
}

const day = 86_400_000;
/** The defaults of MESSAGES_KEEP_DAYS and RECEIPTS_KEEP_DAYS. */
const [keepDays, receiptDays] = [180, 30];
/** Milliseconds in which a gateway looks at least once at what is too old to be delivered. */
const sweepMs = 11_000;
const encryptionKey = Buffer.alloc(32, 0xab);
const limits = { statement: 120_000, connection: 10_000 };

/** A client that writes all the time; `stop` answers with its slowest write. */
const writer = (write: (n: number) => Promise<unknown>) => {
  const state = { goes: true, slowest: 0 };
  const work = (async () => {
    for (let n = 0; state.goes; n += 1) {
      const began = performance.now();
      await write(n);
      state.slowest = Math.max(state.slowest, performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  work.catch(() => undefined);
  return async (): Promise<number> => {
    state.goes = false;
    await work;
    return state.slowest;
  };
};

/** A clock that can be set, under which ten minutes pass in a moment. */
class QuickTime implements Time {
  ahead = 0;
  now = (): number => systemTime.now() + this.ahead;
  monotonic = (): number => systemTime.monotonic();
  correction = (): number => 0;
  turn = (): Promise<void> => systemTime.turn();
  setTimeout = (fn: () => void, ms: number): unknown => systemTime.setTimeout(fn, Math.min(ms, 50));
  clearTimeout = (id: unknown): void => systemTime.clearTimeout(id);
}

/** One round of the expiry of a gateway. Answers with its lines of the log. */
const expire = async (storage: Storage, time: QuickTime, clock: ClockWatch): Promise<readonly string[]> => {
  const lines: string[] = [];
  const note = (fields: object, event: string): void => void lines.push(`${event} ${JSON.stringify(fields)}`);
  const log = { debug: () => undefined, info: note, warn: note, error: note };
  const workers = new SupervisedWorkers({ time, log, policy: testPolicy, fields: {}, random: () => 1 });
  const perishables: readonly Perishable[] = [
    { name: 'sendKeys', age: day, expire: (before, limit) => storage.sendKeys.expire(before, limit) },
    { name: 'messages', age: keepDays * day, expire: (before, limit) => storage.messageExpiry.expire(before, limit) },
    { name: 'receipts', age: receiptDays * day, expire: (before) => storage.receiptExpiry.expire(before) },
  ];
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const worker = expiry({
    perishables,
    time,
    log,
    workers,
    clock: {
      get trouble() {
        const reason = clock.trouble;
        if (reason !== '') setImmediate(end);
        return reason;
      },
      note: async () => end(),
    },
  });
  worker.wake();
  await over;
  worker.stop();
  return lines;
};

/** Traffic adds rows, and nothing may take any away. */
const sameRows = (before: Readonly<Record<string, number>>, after: Readonly<Record<string, number>>): string => {
  const less = Object.keys(before).filter((table) => (after[table] ?? 0) < (before[table] ?? 0));
  return less.length === 0 ? 'nothing is gone' : `gone: ${less.map((table) => `${table} ${before[table]} to ${after[table]}`).join(', ')}`;
};

class Year {
  readonly #options: YearOptions;
  readonly #dataDir: string;
  readonly #rows: YearRow[] = [];
  readonly #now = Date.now();

  constructor(options: YearOptions) {
    this.#options = options;
    this.#dataDir = join(options.folder, 'data');
  }

  async run(): Promise<readonly YearRow[]> {
    await this.#prepare();
    const clockModule = pathToFileURL(join(root, 'test/support/shifted-clock.ts')).href;
    const env = {
      ENCRYPTION_KEY: encryptionKey.toString('hex'),
      NODE_OPTIONS: `--import ${clockModule}`,
      CLOCK_JUMP_MS: String(200 * day),
      ALLOW_PRIVATE_RECEIVERS: 'loopback',
    };
    const scene = await Scene.open(env, this.#dataDir);
    let database: Database | null = null;
    let storage: Storage | null = null;
    try {
      const url = embeddedUrl(this.#dataDir);
      database = await openDatabase({ url, log: quiet, poolSize: 2, limits });
      storage = await openStorage({ databaseUrl: url, dataDir: this.#dataDir, encryptionKey, log: quiet });
      await this.#steps(scene, database, storage);
    } finally {
      await storage?.close();
      await database?.close();
      await scene.close();
    }
    return this.#rows;
  }

  /** The tables of the last release with their rows, and the upgrade. */
  async #prepare(): Promise<void> {
    const server = await startEmbedded({ dataDir: this.#dataDir, log: quiet });
    const database = await openDatabase({ url: server.url, log: quiet, poolSize: 2, limits });
    try {
      const pinned = new Set(readPinned<readonly PinnedMigration[]>('migrations.json').map(({ name }) => name));
      await migrate(server.url, quiet, { steps: migrations.filter(({ name }) => pinned.has(name)) });
      await this.#timed(database, 'fill', null, async () => {
        await fillAged(database, this.#options, this.#now);
        return `${this.#options.days} days`;
      });
      const write = (n: number) => database.rows({ name: '', text: `insert into setting (name, value) values ($1, '')` }, [`write ${n}`]);
      await this.#timed(database, 'upgrade', write, async () => migrate(server.url, quiet).then(() => 'migrated'));
      const storage = await openStorage({ databaseUrl: server.url, dataDir: this.#dataDir, encryptionKey, log: quiet });
      await makeReadable(database, storage, this.#options.sessions).finally(() => storage.close());
      await fillYoung(database, this.#options, this.#now);
    } finally {
      await database.close();
      await server.close(true);
    }
  }

  async #steps(scene: Scene, database: Database, storage: Storage): Promise<void> {
    const account = await scene.paired();
    await scene.works(account);
    await fillKeys(database, account.number, this.#options.keys);
    const send = async (n: number): Promise<void> => {
      const { status, body } = await account.send(contact, `traffic ${n}`);
      if (status !== 200) throw new Error(`a send failed: ${status} ${JSON.stringify(body)}`);
    };
    const { traffic } = this.#options;
    await this.#timed(database, 'traffic', null, async () => {
      for (let n = 0; n < traffic; n += 1) await Promise.all([send(-n), scene.write(account, `arrival ${n}`)]);
      return `${traffic} messages sent and as many received`;
    });
    const time = new QuickTime();
    const clock = new ClockWatch({
      time,
      log: quiet,
      settings: storage.settings,
      messages: storage.messages,
      platform: { heardTime: () => null },
    });
    const jumped = performance.now();
    await this.#timed(database, 'clock 200 days forward', send, () => this.#jump(scene, database, storage, { time, clock }));
    await this.#timed(database, 'expiry', send, async () => (await expire(storage, time, clock)).join('; '));
    const kept = await countRows(database);
    const to = join(this.#options.folder, 'backup');
    await this.#timed(database, 'backup', send, async () => {
      const { files } = await backUp({ dataDir: this.#dataDir, to, version: 'soak', log: quiet });
      return `${(files.reduce((sum, { size }) => sum + size, 0) / 1e6).toFixed(0)} MB in ${files.length} files`;
    });
    await this.#timed(database, 'restore', send, async () => this.#restored(to, kept));
    await this.#timed(database, 'sweeps', send, async () => {
      await wait(Math.max(0, jumped + sweepMs - performance.now()));
      return sameRows(kept, await countRows(database));
    });
    await this.#timed(database, 'logout', null, () => this.#logOut(account, database));
  }

  /** The clock of the gateway, and that of an expiry in this process, over the same rows. */
  async #jump(
    scene: Scene,
    database: Database,
    storage: Storage,
    { time, clock }: { time: QuickTime; clock: ClockWatch },
  ): Promise<string> {
    const before = await countRows(database);
    time.ahead = 200 * day;
    scene.gateway.signal('SIGUSR2');
    const lines = await expire(storage, time, clock);
    if (!lines.every((line) => line.startsWith('rows.notExpired'))) return `expired: ${lines.join('; ')}`;
    const warnings = async () => JSON.stringify((await scene.gateway.call('GET', '/health/ready')).body['warnings'] ?? []);
    await until(async () => (await warnings()).includes('the clock of the machine'), 'the gateway warns');
    const outcome = sameRows(before, await countRows(database));
    time.ahead = 0;
    return outcome;
  }

  async #restored(from: string, kept: Readonly<Record<string, number>>): Promise<string> {
    const dataDir = join(this.#options.folder, 'restored');
    await restore({ from, dataDir, log: quiet });
    const server = await startEmbedded({ dataDir, log: quiet });
    const database = await openDatabase({ url: server.url, log: quiet, poolSize: 1, limits });
    const outcome = await countRows(database)
      .then((rows) => sameRows(kept, rows))
      .finally(() => database.close());
    await server.close(true);
    return outcome;
  }

  async #logOut(account: Account, database: Database): Promise<string> {
    const began = performance.now();
    const { status } = await account.call('POST', '/instance/disconnect');
    const answered = performance.now() - began;
    await until(
      async () => {
        const { signal_key: keys, retired_key: retired } = await countRows(database);
        return keys === 0 && retired === 0;
      },
      'the keys are gone',
      600_000,
    );
    return `answered ${status} after ${answered.toFixed(0)} ms`;
  }

  async #timed(
    database: Database,
    step: string,
    write: ((n: number) => Promise<unknown>) | null,
    work: () => Promise<string>,
  ): Promise<void> {
    const place = async (): Promise<number> => {
      const text = `select (pg_current_wal_lsn() - '0/0'::pg_lsn)::float8 as at`;
      return (await database.rows<{ at: number }>({ name: '', text }, []))[0]?.at ?? 0;
    };
    const from = await place();
    const stop = write && writer(write);
    const began = performance.now();
    const outcome = await work();
    const took = performance.now() - began;
    const slowestWrite = stop ? await stop() : null;
    this.#rows.push({ step, took, outcome, slowestWrite, log: (await place()) - from });
  }
}

/** Runs everything once; one row for each step. */
export const runYear = (options: YearOptions): Promise<readonly YearRow[]> => new Year(options).run();
