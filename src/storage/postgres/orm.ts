/** MikroORM as we use it: tables, migrations, and the driver's pool beneath it. */
import { setImmediate as turn } from 'node:timers/promises';
import { Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import type { Log } from '#actors/ports.ts';
import type { entities } from '../entities/index.ts';
import { migrations, type ListedMigration } from '../migrations/list.ts';

/** The part of the driver's pool that is used. Its package has no types. */
export interface Client {
  /** Number of the server's process; null before the connection is made. */
  readonly processID: number | null;
  query(query: {
    readonly name?: string;
    readonly text: string;
    readonly values?: readonly unknown[];
    /** Milliseconds; the pool's own limit when absent. */
    readonly query_timeout?: number;
  }): Promise<{ readonly rows: readonly unknown[] }>;
  release(broken?: Error): void;
}

export interface Pool {
  connect(): Promise<Client>;
  on(event: 'error', listener: (error: Error) => void): void;
  readonly ending: boolean;
  /** Open connections, the free ones among them, and callers that wait for one. */
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
  end(): Promise<void>;
}

/** Milliseconds, where nothing else is said. */
const connectLimit = 3_000;

const databaseName = (url: string): string => decodeURIComponent(/^[^?]*\/([^/?]*)/.exec(url)?.[1] ?? '');

/** `tables`: what units of work may be about. To look through them takes some tens of milliseconds: others get turns of the event loop between. */
export const makeOrm = (
  url: string,
  log: Log,
  driverOptions: object,
  tables: typeof entities | readonly [] = [],
  steps: readonly ListedMigration[] = migrations,
): Promise<MikroORM> =>
  MikroORM.init({
    dbName: databaseName(url),
    driverOptions: { connectionString: url, connectionTimeoutMillis: connectLimit, keepAlive: true, ...driverOptions },
    entities: [...tables],
    discovery: { warnWhenNoEntities: false, onMetadata: () => turn(), afterDiscovered: () => turn() },
    ensureDatabase: false,
    extensions: [Migrator],
    colors: false,
    logger: (detail) => log.debug({ detail }, 'storage.driver'),
    migrations: { migrationsList: [...steps], snapshot: false, allOrNothing: false },
  });

export const poolOf = async (orm: MikroORM): Promise<Pool> => (await orm.em.getConnection().getNativeClient()) as unknown as Pool;
