/**
 * A database for every test file, on one PostgreSQL server that all files of a run share. The first process starts the server, later ones adopt it, and the
 * last one stops it. Its folder stays in the temporary directory, so only the first run creates it. Databases are copies of a migrated one, because migrating
 * each takes half a second of processor time.
 */
import { createHash, randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '#actors/ports.ts';
import { isInUse, openDatabase, type Database } from '#src/storage/postgres/database.ts';
import { EmbeddedServer } from '#src/storage/postgres/embedded.ts';
import { migrate, openStorage, type Storage, type StorageOptions } from '#src/storage/open.ts';
import { schemaStamp } from './schema-stamp.ts';
import { afterLastFile, isInTurn } from './together.ts';

export const quietLog: Log = { info: () => undefined, warn: () => undefined, debug: () => undefined, error: () => undefined };

/** Settings of the server. They are fast, and its data may be lost in a power failure. */
const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' };

const project = createHash('sha256')
  .update(import.meta.dirname)
  .digest('hex')
  .slice(0, 8);
const dataDir = join(tmpdir(), `dormouse-test-${process.getuid?.() ?? 0}-${project}`);

const startServer = async (): Promise<EmbeddedServer> => {
  const start = () => EmbeddedServer.start({ dataDir, log: quietLog, settings });
  // A start fails if another process stops the server meanwhile. The folder may be removed only if no process uses it.
  for (let tries = 0; tries < 3; tries += 1)
    try {
      return await start();
    } catch {
      await wait(500);
    }
  // Without fsync a crash of the machine may have damaged the folder. It holds only data of tests.
  await rm(dataDir, { recursive: true, force: true });
  return start();
};

/** Returns the claim that allows writes to an instance. Each opened storage raises the epoch, so the claim is read from the database. */
export const writerOf = async (storage: Pick<Storage, 'instances'>, id: string) => {
  const record = (await storage.instances.all()).find((one) => one.id === id);
  return { id, owner: '', epoch: record?.epoch ?? 0 };
};

/** The time-out of repeated work. It is longer than the time-out of a statement. In milliseconds. */
const patience = 120_000;

/** Repeats work that fails because the last user of the server stops it at this moment. Another process then starts the server again. */
const patiently = async <T>(work: () => Promise<T>): Promise<T> => {
  for (const deadline = Date.now() + patience; ; await wait(50)) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
};

/**
 * The interval of a query that keeps the connection open. Idle connections are closed after a minute, and a server without connections is
 * stopped. In milliseconds.
 */
const stayingMs = 3_000;

const withName = (url: string, name: string): string => url.replace('/postgres?', `/${name}?`);

/**
 * The time-outs for statements of the tests, which are not retried. To drop a database the server writes a checkpoint, which takes long while other tests
 * keep the disk busy. In milliseconds.
 */
export const testLimits = { statement: 60_000, connection: 10_000 };

/** The shared server, and the connection with which this process creates and drops databases. */
class SharedServer {
  readonly #server: EmbeddedServer;
  readonly #keeper: Database;
  readonly #staying: NodeJS.Timeout;

  private constructor(server: EmbeddedServer, keeper: Database) {
    this.#server = server;
    this.#keeper = keeper;
    this.#staying = setInterval(() => void this.#run('select 1').catch(() => undefined), stayingMs).unref();
  }

  static async open(): Promise<SharedServer> {
    const server = await startServer();
    return new SharedServer(server, await openDatabase({ url: server.url, log: quietLog, poolSize: 1, limits: testLimits }));
  }

  #run(text: string) {
    return this.#keeper.rows({ name: '', text }, []);
  }

  url(name: string): string {
    return withName(this.#server.url, name);
  }

  /** Creates a database as a copy of the template. A copy of the files takes a fifth of the time of a copy through the log (60 ms, measured). */
  async make(name: string, template: string): Promise<void> {
    await patiently(() => this.#run(`create database ${name} template ${template} strategy file_copy`));
  }

  /** Drops a database. On a busy disk this may exceed the time-out of a statement. */
  async drop(name: string): Promise<void> {
    await patiently(() => this.#run(`drop database if exists ${name} with (force)`));
  }

  /** Creates the migrated template database if it does not exist. Returns its name. The template has no connections, so it can be copied. */
  async prepare(): Promise<string> {
    const prepared = `prepared_${schemaStamp()}`;
    const known = async () =>
      (await this.#run(`select datname from pg_database where datname like 'prepared\\_%'`)) as readonly { readonly datname: string }[];
    const earlier = (await patiently(known)).map(({ datname }) => datname);
    if (earlier.includes(prepared)) return prepared;
    const making = `making${randomBytes(6).toString('hex')}`;
    await this.make(making, 'template1');
    await migrate(this.url(making), quietLog);
    const isThere = async (): Promise<boolean> => (await known()).some(({ datname }) => datname === prepared);
    // The server refuses the rename while a connection of the migration still ends. Another process may create the template first.
    await patiently(async () => (await isThere()) || this.#run(`alter database ${making} rename to ${prepared}`));
    await this.drop(making);
    for (const name of earlier) await this.#run(`drop database if exists ${name}`).catch(() => undefined);
    return prepared;
  }

  async close(): Promise<void> {
    clearInterval(this.#staying);
    await this.#keeper.close();
    await this.#server.close(!(await isInUse(this.#server.url, quietLog)));
  }
}

/** The server that this process uses, or null while no test file uses a database. */
let shared: Promise<{ readonly server: SharedServer; readonly prepared: string }> | null = null;
let databases = 0;

const leave = async (): Promise<void> => {
  const left = shared;
  shared = null;
  await (await left)?.server.close();
};

const openShared = async () => {
  const server = await SharedServer.open();
  if (isInTurn()) afterLastFile(leave);
  return { server, prepared: await server.prepare() };
};

/**
 * Returns the number of statements that contain a text and wait for a lock. `admin` must not be the transaction that blocks them, because a transaction
 * sees the same activity for its whole life.
 */
export const waitsForLock = async (admin: Database, text = ''): Promise<number> => {
  const waits = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database() and position($1 in query) > 0`;
  return (await admin.rows({ name: '', text: waits }, [text])).length;
};

export interface TestDatabase {
  /** The connection string, which is valid in other processes too. */
  readonly url: string;
  /** Opens a storage on this database. The storage is closed together with the database. */
  storage(options?: Partial<StorageOptions>): Promise<Storage>;
  /** A connection for checks of the stored rows. */
  readonly admin: Database;
}

/**
 * Opens a database at the top of a test file: `const database = await testDatabase();`. It is closed and dropped after the tests of the file. `isEmpty`
 * leaves out the tables, for tests of migrations. `isShared` keeps the database open for all files that import the calling module.
 */
export const testDatabase = async ({ isEmpty = false, isShared = false } = {}): Promise<TestDatabase> => {
  databases += 1;
  const closings: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const one of closings) await one();
    databases -= 1;
    if (databases === 0 && !isInTurn()) await leave();
  };
  const staysOpen = isShared && isInTurn();
  if (!staysOpen) after(close);
  const { server, prepared } = await (shared ??= openShared());
  if (staysOpen) afterLastFile(close);
  const name = `t${randomBytes(6).toString('hex')}`;
  await server.make(name, isEmpty ? 'template1' : prepared);
  closings.push(() => server.drop(name));
  const url = server.url(name);
  const admin = await openDatabase({ url, log: quietLog, poolSize: 2, limits: testLimits });
  closings.unshift(() => admin.close());
  return {
    url,
    admin,
    async storage(options = {}) {
      const defaults = { databaseUrl: url, dataDir, encryptionKey: Buffer.alloc(32, 7), log: quietLog };
      const storage = await openStorage({ ...defaults, ...options });
      closings.unshift(() => storage.close());
      return storage;
    },
  };
};
