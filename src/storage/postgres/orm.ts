/** The set-up of MikroORM: its entities, its migrations, and the connection pool of its driver. */
import { setImmediate as turn } from 'node:timers/promises';
import { Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import type { Log } from '#actors/ports.ts';
import type { entities } from '../entities/index.ts';
import { migrations } from '../migrations/list.ts';
import type { ListedMigration } from '../migrations/step.ts';

/** The used part of a client of the driver's pool. The package of the driver has no types. */
export interface Client {
  /** The PID of the server's backend; null before the connection is open. */
  readonly processID: number | null;
  query(query: {
    readonly name?: string;
    readonly text: string;
    readonly values?: readonly unknown[];
    /** The time limit of the query, in milliseconds. If absent, the limit of the pool applies. */
    readonly query_timeout?: number;
  }): Promise<{ readonly rows: readonly unknown[] }>;
  release(broken?: Error): void;
}

export interface Pool {
  connect(): Promise<Client>;
  on(event: 'error', listener: (error: Error) => void): void;
  readonly ending: boolean;
  /** The numbers of open connections, of idle connections, and of callers that wait for a connection. */
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
  end(): Promise<void>;
}

/** The default time limit of a connection attempt. In milliseconds. */
const connectLimit = 3_000;

/**
 * The time after which a pool closes an idle connection. In milliseconds. The first statement on a new connection takes some 40 ms, because its backend
 * starts and plans the statement. With the driver's default of 10 s, nearly every message of a quiet gateway would wait for this.
 */
const idleLimit = 60_000;

const databaseName = (url: string): string => decodeURIComponent(/^[^?]*\/([^/?]*)/.exec(url)?.[1] ?? '');

/** Creates MikroORM. `tables`: the entities of units of work. Their discovery takes some tens of milliseconds, and yields to the event loop meanwhile. */
export const createOrm = (
  url: string,
  log: Log,
  driverOptions: object,
  tables: typeof entities | readonly [] = [],
  steps: readonly ListedMigration[] = migrations,
): Promise<MikroORM> =>
  MikroORM.init({
    dbName: databaseName(url),
    driverOptions: {
      connectionString: url,
      connectionTimeoutMillis: connectLimit,
      idleTimeoutMillis: idleLimit,
      keepAlive: true,
      ...driverOptions,
    },
    entities: [...tables],
    discovery: { warnWhenNoEntities: false, onMetadata: () => turn(), afterDiscovered: () => turn() },
    ensureDatabase: false,
    extensions: [Migrator],
    colors: false,
    logger: (detail) => log.debug({ detail }, 'storage.driver'),
    migrations: { migrationsList: [...steps], snapshot: false, allOrNothing: false },
  });

export const poolOf = async (orm: MikroORM): Promise<Pool> => (await orm.em.getConnection().getNativeClient()) as unknown as Pool;
