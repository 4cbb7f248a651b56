/** Runs statements, transactions and units of work on PostgreSQL. Each statement has a time limit. All outcomes are reported to the health of the database. */
import { setTimeout as wait } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import { EpochLost, StorageBroken, StorageFailure, StorageUnavailable, type Log } from '#actors/ports.ts';
import { UnderWay } from '#actors/waiting.ts';
import { systemTime } from '#src/base/system-time.ts';
import { entities } from '../entities/index.ts';
import { explained, explainedOfDriver, InDoubt, isConflict } from './failures.ts';
import { Health, type Probes } from './health.ts';
import { createOrm, poolOf, type Client } from './orm.ts';
import { parameterOf } from './parameters.ts';
import type { SharedCommits } from './shared-commits.ts';

/** A statement. Its values are parameters and never a part of its text. A statement without a name is not prepared. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** The instance whose share of connections the statement uses; null for none. If absent, the first value of the statement is the instance. */
  readonly instance?: string | null;
}

export type Row = Readonly<Record<string, unknown>>;

/** Runs one statement, alone or inside a transaction. */
export interface Runner {
  rows<T = Row>(statement: Statement, values: readonly unknown[]): Promise<readonly T[]>;
}

export interface Database extends Runner {
  /** Runs a transaction, and rolls it back if `work` rejects. A transaction with a conflict is retried, so `work` may run more than once. */
  transaction<T>(work: (runner: Runner) => Promise<T>): Promise<T>;
  healthy(): boolean;
  usage(): PoolUsage;
  close(): Promise<void>;
}

/** The numbers of connections of a pool. */
export interface PoolUsage {
  readonly most: number;
  readonly open: number;
  readonly free: number;
  /** The number of callers that wait for a connection. */
  readonly waiting: number;
}

export interface UnitDatabase extends Database {
  /**
   * Runs a unit of work with its own entity manager. `work` must not contain a transaction. A transaction that loses its connection would never
   * release this connection to the pool.
   */
  unit<T>(work: (em: EntityManager) => Promise<T>): Promise<T>;
}

/** Time limits in milliseconds. */
export interface Limits {
  /** The time limit of a statement, after which PostgreSQL cancels the statement. */
  readonly statement: number;
  /** The longest wait for a free or a new connection of the pool. */
  readonly connection: number;
}

export interface DatabaseOptions {
  readonly url: string;
  readonly log: Log;
  readonly poolSize?: number;
  readonly application?: string;
  readonly limits?: Limits;
  /** If `lost` is true, another process has taken the database, and this process must not read or write any more. */
  readonly fence?: { readonly lost: boolean };
  /** The health that all pools of one database share; a separate health if absent. */
  readonly health?: Health;
  /** True if commits do not wait for the disk. A crash of PostgreSQL may lose the commits of the last half second. The data stays consistent. */
  readonly isAsynchronous?: boolean;
  /** Sets on each connection whether its commits wait for other commits. If absent, the setting of PostgreSQL is not changed. */
  readonly sharedCommits?: SharedCommits;
  /** True if callers retry their work until it succeeds. An error that is not caused by the data then makes the gateway unready. */
  readonly lasting?: boolean;
}

/** The default limits. Together they bound every wait for a database that is unavailable or hangs. */
export const usualLimits: Limits = { statement: 5_000, connection: 3_000 };

/**
 * The driver waits for an answer this much longer than the statement limit. Then the server counts as unavailable. A server that works cancels a slow statement
 * at the statement limit. In milliseconds.
 */
const answerGrace = 1_000;

/**
 * The largest number of attempts at work that conflicts with other transactions, and the first pause between two attempts. The pauses grow, so that the other
 * transactions can end. In milliseconds.
 */
const mostConflicts = 5;
const conflictPause = 20;

const throwExplained = (error: unknown): never => {
  throw explainedOfDriver(error);
};

const runnerOf = (client: Client): Runner => ({
  rows: async <T>(statement: Statement, values: readonly unknown[]) => {
    const result = await client.query({ ...statement, values: values.map(parameterOf) }).catch(throwExplained);
    return result.rows as readonly T[];
  },
});

const begin = { name: '', text: 'begin' };
const commit = { name: '', text: 'commit' };
const rollback = { name: '', text: 'rollback' };

const inTransaction = async <T>(client: Client, work: (runner: Runner) => Promise<T>): Promise<T> => {
  await client.query(begin).catch(throwExplained);
  try {
    const result = await work(runnerOf(client));
    await client.query(commit).catch(throwExplained);
    return result;
  } catch (error) {
    // After the loss of a connection PostgreSQL rolls back by itself. A rollback would only wait for another time-out.
    if (!(explained(error) instanceof StorageUnavailable)) await client.query(rollback);
    throw error;
  }
};

/** Runs the work of one pool. It retries after a conflict, rejects work after the fence was lost, and reports to the health of the database. */
const createWorker = (health: Health, { fence, lasting = false }: DatabaseOptions) => {
  const once = <T>(work: () => Promise<T>): Promise<T> =>
    health.watch(() => {
      if (fence?.lost) throw new EpochLost('another process has the database');
      return work();
    }, lasting);
  return async <T>(work: () => Promise<T>): Promise<T> => {
    for (let conflicts = 1; ; conflicts += 1) {
      try {
        return await once(work);
      } catch (error) {
        if (!isConflict(error) || conflicts === mostConflicts) throw error;
      }
      await wait(conflicts * conflictPause);
    }
  };
};

const driverOptionsOf = ({ poolSize = 10, application = 'dormouse', limits = usualLimits, isAsynchronous = false }: DatabaseOptions) => ({
  max: poolSize,
  application_name: application,
  // Generic plans are used, because no statement profits from a plan for its values. A plan is cached until the next statistics of its table, so a plan for
  // a small table must also be good for a large one. Sequential scans are therefore a last resort. They made the import of a phone's history ten times
  // slower (measured).
  options: `-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c jit=off${isAsynchronous ? ' -c synchronous_commit=off' : ''}`,
  connectionTimeoutMillis: limits.connection,
  query_timeout: limits.statement + answerGrace,
  statement_timeout: limits.statement,
  idle_in_transaction_session_timeout: limits.statement,
});

/** A query that writes to the disk. The rows of a function beyond 4 MB (the default of `work_mem`) go to a temporary file. These rows have 8 MB. */
const writeProbe = {
  name: 'probe-write',
  text: `select count(*) from regexp_split_to_table(repeat(repeat('x', 999) || ' ', 8000), ' ')`,
};

export const probesOf = (database: () => Runner): Probes => ({
  answers: () => database().rows({ name: 'probe', text: 'select 1' }, []),
  writes: () => database().rows(writeProbe, []),
});

const openPool = async (options: DatabaseOptions, tables: Parameters<typeof createOrm>[3]) => {
  const orm = await createOrm(options.url, options.log, driverOptionsOf(options), tables);
  const pool = await poolOf(orm);
  const health =
    options.health ??
    new Health(
      options.log,
      probesOf(() => database),
    );
  pool.on('error', () => health.suspect());
  const work = createWorker(health, options);
  const inDoubt = new InDoubt();
  const withClient = <T>(use: (client: Client) => Promise<T>): Promise<T> =>
    work(async () => {
      const client = await pool.connect().catch(throwExplained);
      try {
        await inDoubt.settle(client);
        await options.sharedCommits?.settle(client);
        const result = await use(client);
        client.release();
        return result;
      } catch (error) {
        const reason = explained(error);
        const lost = reason instanceof StorageUnavailable;
        if (lost) inDoubt.add(client);
        // The connection is closed after some errors, such as a cached plan that no longer fits its table. The next attempt gets a new connection.
        client.release(lost || reason instanceof StorageBroken ? (error as Error) : undefined);
        throw error;
      }
    });
  const database: Database = {
    rows: <T>(statement: Statement, values: readonly unknown[]) => withClient((client) => runnerOf(client).rows<T>(statement, values)),
    transaction: (use) => withClient((client) => inTransaction(client, use)),
    healthy: () => health.up,
    usage: () => ({ most: options.poolSize ?? 10, open: pool.totalCount, free: pool.idleCount, waiting: pool.waitingCount }),
    async close() {
      health.end();
      await orm.close(true);
      // MikroORM ends the pool only if it has used the pool.
      if (!pool.ending) await pool.end();
    },
  };
  return { orm, work, database };
};

/** Opens a pool that connects at its first use. If the database is unavailable, the first statement fails. */
export const openDatabase = async (options: DatabaseOptions): Promise<Database> => (await openPool(options, [])).database;

/** The units of work of one pool. */
class Units {
  readonly #underWay = new UnderWay(systemTime);
  #isClosed = false;

  /** Throws `StorageUnavailable` if the pool was closed. */
  check(): void {
    if (this.#isClosed) throw new StorageUnavailable('the database is closed');
  }

  track<T>(unit: Promise<T>): Promise<T> {
    return this.#underWay.track(unit);
  }

  /** Refuses later units, and resolves when the units under way have ended. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.#underWay.ended();
  }
}

/** Opens a pool with units of work. The discovery of the entities takes some tens of milliseconds. */
export const openUnitDatabase = async (options: DatabaseOptions): Promise<UnitDatabase> => {
  const { orm, work, database } = await openPool(options, entities);
  const units = new Units();
  return {
    ...database,
    async unit(use) {
      units.check();
      return units.track(work(() => use(orm.em.fork())));
    },
    // Waits for all units of work before the pool closes. A unit that gets a connection later would never release it, and the pool would never end.
    async close() {
      await units.close();
      await database.close();
    },
  };
};

const leaving = 'dormouse leaving';

/**
 * Returns true if the server has other clients. Connections that run this query are not counted, so that the last of several leaving clients gets false. A
 * connection that was just closed may still be counted, so the query is repeated for up to a second. Returns false if the server is not available. `ifUnknown`:
 * the result if the server runs but cannot answer the query.
 */
export const isInUse = async (url: string, log: Log, ifUnknown = true): Promise<boolean> => {
  const database = await openDatabase({ url, log, poolSize: 1, application: leaving });
  const text = `select 1 from pg_stat_activity where backend_type = 'client backend' and application_name <> $1`;
  try {
    for (let look = 0; look < 20; look++) {
      if ((await database.rows({ name: '', text }, [leaving])).length === 0) return false;
      await wait(50);
    }
    return true;
  } catch (error) {
    if (error instanceof StorageUnavailable) return false;
    // The server runs, and cannot answer now.
    if (error instanceof StorageFailure) return ifUnknown;
    throw error;
  } finally {
    await database.close();
  }
};
