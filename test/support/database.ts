/**
 * A database of its own for every test file, on one PostgreSQL server that all files of a run share.
 *
 * The first file starts the server, those beside it adopt it, and the last one to leave stops it. Its folder stays in the temporary directory, so that only the first run ever pays for making it.
 */
import { createHash, randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '#actors/ports.ts';
import { isInUse, openDatabase, type Database } from '#src/storage/postgres/database.ts';
import { startEmbedded, type EmbeddedServer } from '#src/storage/postgres/embedded.ts';
import { openStorage, type Storage, type StorageOptions } from '#src/storage/open.ts';

export const quietLog: Log = { info: () => undefined, warn: () => undefined, debug: () => undefined, error: () => undefined };

/** Tests need not survive a power cut. */
const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' };

const project = createHash('sha256')
  .update(import.meta.dirname)
  .digest('hex')
  .slice(0, 8);
const dataDir = join(tmpdir(), `dormouse-test-${process.getuid?.() ?? 0}-${project}`);

const startServer = async (): Promise<EmbeddedServer> => {
  const start = () => startEmbedded({ dataDir, log: quietLog, settings });
  try {
    return await start();
  } catch {
    // Without fsync a crash of the machine may have spoilt the folder, and it holds nothing of value.
    await rm(dataDir, { recursive: true, force: true });
    return await start();
  }
};

/** Returns the claim with which an instance may be written. The storage that was opened last raised the epoch. */
export const writerOf = async (storage: Pick<Storage, 'instances'>, id: string) => {
  const record = (await storage.instances.all()).find((one) => one.id === id);
  return { id, owner: '', epoch: record?.epoch ?? 0 };
};

/** The server may be stopped by its last user just when it was adopted; then it is started again within moments. */
const patiently = async <T>(work: () => Promise<T>): Promise<T> => {
  for (const deadline = Date.now() + 15_000; ; await wait(50)) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
};

/** A connection that does nothing for 10 s is closed, and a server without connections is stopped by whoever leaves it then. */
const stayingMs = 3_000;

const withName = (url: string, name: string): string => url.replace('/postgres?', `/${name}?`);

export interface TestDatabase {
  /** Connection string, valid in other processes too. */
  readonly url: string;
  /** A storage on this database, closed with it. */
  storage(options?: Partial<StorageOptions>): Promise<Storage>;
  /** For looking behind the stores. */
  readonly admin: Database;
}

/** Call it at the top of a test file: `const database = await testDatabase();`. Everything is closed and dropped after the file's tests. */
export const testDatabase = async (): Promise<TestDatabase> => {
  const server = await startServer();
  // To drop a database the server writes a checkpoint, which takes long while other tests keep the disk busy.
  const limits = { statement: 60_000, connection: 10_000 };
  const keeper = await openDatabase({ url: server.url, log: quietLog, poolSize: 1, limits });
  const staying = setInterval(() => void keeper.rows({ name: '', text: 'select 1' }, []).catch(() => undefined), stayingMs).unref();
  const name = `t${randomBytes(6).toString('hex')}`;
  await patiently(() => keeper.rows({ name: '', text: `create database ${name}` }, []));
  const url = withName(server.url, name);
  const admin = await openDatabase({ url, log: quietLog, poolSize: 2 });
  const storages: Storage[] = [];
  after(async () => {
    for (const storage of storages) await storage.close();
    await admin.close();
    clearInterval(staying);
    // A busy disk takes longer than a statement may.
    await patiently(() => keeper.rows({ name: '', text: `drop database if exists ${name} with (force)` }, []));
    await keeper.close();
    await server.close(!(await isInUse(server.url, quietLog)));
  });
  return {
    url,
    admin,
    async storage(options = {}) {
      const defaults = { databaseUrl: url, dataDir, encryptionKey: Buffer.alloc(32, 7), log: quietLog };
      const storage = await openStorage({ ...defaults, ...options });
      storages.push(storage);
      return storage;
    },
  };
};
