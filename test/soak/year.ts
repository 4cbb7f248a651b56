/**
 * A database with the rows of some days, and its later events: an upgrade, a clock jump, a restored backup, expiry, and a logout of the largest session.
 * Meanwhile a gateway uses the database, with the simulated platform and a receiver, and a client sends. All parts are real except for the age of the rows.
 */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { backUp } from '#src/storage/backup/backup.ts';
import { restore } from '#src/storage/backup/restore.ts';
import { EmbeddedServer, migrate, openStorage } from '#src/storage/open.ts';
import { openDatabase, type Database } from '#src/storage/postgres/database.ts';
import { quiet } from '#test/bench/fill.ts';
import { root } from '#test/source-tree.ts';
import type { Account } from '#test/support/account.ts';
import { embeddedUrl } from '#test/support/embedded-url.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';
import { releasedSteps } from '#test/support/upgrade.ts';
import { countRows, fillAged, fillKeys, fillYoung, makeReadable, type YearOptions } from './year-rows.ts';

export interface YearRow {
  readonly step: string;
  /** The duration of the step. In milliseconds. */
  readonly took: number;
  readonly outcome: string;
  /** The slowest write of a client in this step, or null without a client. In milliseconds. */
  readonly slowestWrite: number | null;
  /** The size of the write-ahead log of this step. In bytes. */
  readonly log: number;
}

const day = 86_400_000;
/** The pause between two rounds of the expiry, as `actors/supervisor/chores.ts` has it. In milliseconds. */
const expiryMs = 600_000;
/** The time in which a gateway checks for expired deliveries at least once. In milliseconds. */
const sweepMs = 11_000;
const encryptionKey = Buffer.alloc(32, 0xab);
const limits = { statement: 120_000, connection: 10_000 };

/** Starts a client that writes without a pause. Its `stop` returns the slowest write. In milliseconds. */
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

/** Throws if a table lost rows, because traffic only adds rows. */
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
    const preloaded = ['shifted-clock.ts', 'early-timers.ts'].map((name) => pathToFileURL(join(root, 'test/support', name)).href);
    const env = {
      ENCRYPTION_KEY: encryptionKey.toString('hex'),
      NODE_OPTIONS: preloaded.map((module) => `--import ${module}`).join(' '),
      CLOCK_JUMP_MS: `${200 * day},${-200 * day}`,
      EARLY_TIMER_MS: String(expiryMs),
      ALLOW_PRIVATE_RECEIVERS: 'loopback',
    };
    const scene = await Scene.open(env, this.#dataDir);
    let database: Database | null = null;
    try {
      const url = embeddedUrl(this.#dataDir);
      database = await openDatabase({ url, log: quiet, poolSize: 2, limits });
      await this.#steps(scene, database);
    } finally {
      await database?.close();
      await scene.close();
    }
    return this.#rows;
  }

  /** Creates the tables of the last release with their rows, and upgrades them. */
  async #prepare(): Promise<void> {
    const server = await EmbeddedServer.start({ dataDir: this.#dataDir, log: quiet });
    const database = await openDatabase({ url: server.url, log: quiet, poolSize: 2, limits });
    try {
      await migrate(server.url, quiet, { steps: releasedSteps });
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

  async #steps(scene: Scene, database: Database): Promise<void> {
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
      // A row of the inbound log is deleted when its message is recorded. The test inserted the rows of r1.
      const logged = { name: '', text: `select from inbound where instance_id <> 'r1'` };
      await until(async () => (await database.rows(logged, [])).length === 0, 'every arrival is recorded');
      return `${traffic} messages sent and as many received`;
    });
    const jumped = performance.now();
    await this.#timed(database, 'clock 200 days forward', send, () => this.#jump(scene, database));
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
    await this.#timed(database, 'expiry', send, () => this.#expire(scene));
    await this.#timed(database, 'logout', null, () => this.#logOut(account, database));
  }

  /** Moves the clock of the gateway. Its next round of expiry removes nothing. */
  async #jump({ gateway }: Scene, database: Database): Promise<string> {
    const before = await countRows(database);
    gateway.signal('SIGUSR2');
    const warnings = async () => JSON.stringify((await gateway.call('GET', '/health/ready')).body['warnings'] ?? []);
    await until(async () => (await warnings()).includes('the clock of the machine'), 'the gateway warns');
    gateway.signal('SIGWINCH');
    await until(() => gateway.printed.includes('rows.notExpired'), 'the expiry of the gateway leaves everything');
    return sameRows(before, await countRows(database));
  }

  /** Corrects the clock of the gateway. Its next round of expiry removes old rows. Returns the lines of its log. */
  async #expire({ gateway }: Scene): Promise<string> {
    gateway.signal('SIGUSR2');
    const warnings = async () => JSON.stringify((await gateway.call('GET', '/health/ready')).body['warnings'] ?? []);
    await until(async () => !(await warnings()).includes('the clock of the machine'), 'the gateway warns no more');
    gateway.signal('SIGWINCH');
    const lines = (): readonly string[] => gateway.printed.split('\n').filter((line) => line.includes('rows.expired'));
    // Receipts expire after messages.
    await until(() => lines().some((line) => line.includes('"receipts"')), 'old receipts have expired', 600_000);
    return lines().join('; ');
  }

  async #restored(from: string, kept: Readonly<Record<string, number>>): Promise<string> {
    const dataDir = join(this.#options.folder, 'restored');
    await restore({ from, dataDir, log: quiet });
    const server = await EmbeddedServer.start({ dataDir, log: quiet });
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

/** Runs all steps once. Returns one row for each. */
export const runYear = (options: YearOptions): Promise<readonly YearRow[]> => new Year(options).run();
