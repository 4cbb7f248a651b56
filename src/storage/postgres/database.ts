/** The connections to PostgreSQL: statements, transactions and units of work, each in bounded time, and whether it is there at all. */
import { setTimeout as wait } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import { EpochLost, StorageUnavailable, type Log } from '#actors/ports.ts';
import { entities } from '../entities/index.ts';
import { explained } from './failures.ts';
import { makeOrm, poolOf, type Client } from './orm.ts';
import { parameterOf } from './parameters.ts';

/** A statement that each connection prepares once. Its text never changes, so that values cannot become part of it. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export type Row = Readonly<Record<string, unknown>>;

/** Runs one statement, alone or inside a transaction. */
export interface Runner {
  rows<T = Row>(statement: Statement, values: readonly unknown[]): Promise<readonly T[]>;
}

export interface Database extends Runner {
  /** One transaction; rolled back when `work` rejects. */
  transaction<T>(work: (runner: Runner) => Promise<T>): Promise<T>;
  /** One unit of work with an entity manager of its own. No transactions in it: one whose connection is lost would keep its place in the pool for ever. */
  unit<T>(work: (em: EntityManager) => Promise<T>): Promise<T>;
  healthy(): boolean;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly url: string;
  readonly log: Log;
  readonly poolSize?: number;
  readonly application?: string;
  /** `lost`: another process has the database, and this one reads and writes nothing more. */
  readonly fence?: { readonly lost: boolean };
}

/** Milliseconds; with the limit of connecting it bounds how long anybody waits for a database that is away or hangs. */
const statementLimit = 5_000;
const probeInterval = 500;

const runnerOf = (client: Client): Runner => ({
  rows: async <T>(statement: Statement, values: readonly unknown[]) => {
    const result = await client.query({ ...statement, values: values.map(parameterOf) });
    return result.rows as readonly T[];
  },
});

const begin = { name: '', text: 'begin' };
const commit = { name: '', text: 'commit' };
const rollback = { name: '', text: 'rollback' };

interface Health {
  readonly up: boolean;
  /** Runs the work, and notes what it tells about the database. */
  watch<T>(work: () => Promise<T>): Promise<T>;
  noteDown(): void;
  end(): void;
}

/** While the database is away it is asked again and again, so that `up` is right without traffic too. */
const makeHealth = (log: Log, probe: () => Promise<unknown>): Health => {
  const state = { up: true, ended: false };
  const note = (up: boolean): void => {
    if (up === state.up || state.ended) return;
    state.up = up;
    if (up) return log.info({}, 'storage.available');
    log.error({}, 'storage.unavailable');
    askLater();
  };
  const askLater = (): void => {
    setTimeout(() => {
      if (!state.up && !state.ended) probe().catch(askLater);
    }, probeInterval).unref();
  };
  return {
    get up() {
      return state.up;
    },
    async watch(work) {
      try {
        const result = await work();
        note(true);
        return result;
      } catch (error) {
        const reason = explained(error);
        if (reason instanceof StorageUnavailable) note(false);
        throw reason;
      }
    },
    noteDown: () => note(false),
    end: () => {
      state.ended = true;
    },
  };
};

const inTransaction = async <T>(client: Client, work: (runner: Runner) => Promise<T>): Promise<T> => {
  await client.query(begin);
  try {
    const result = await work(runnerOf(client));
    await client.query(commit);
    return result;
  } catch (error) {
    // A broken connection is closed instead, and the server rolls back by itself; asking a silent one would take as long again.
    if (!(explained(error) instanceof StorageUnavailable)) await client.query(rollback);
    throw error;
  }
};

/** Connects when first used: a database that is away is an error of the first statement. */
export const openDatabase = async (options: DatabaseOptions): Promise<Database> => {
  const driverOptions = {
    max: options.poolSize ?? 10,
    application_name: options.application ?? 'dormouse',
    // Nothing in our statements profits from being planned anew for its values.
    options: '-c plan_cache_mode=force_generic_plan',
    query_timeout: statementLimit,
    statement_timeout: statementLimit,
    idle_in_transaction_session_timeout: statementLimit,
  };
  const orm = await makeOrm(options.url, options.log, driverOptions, entities);
  const pool = await poolOf(orm);
  const health = makeHealth(options.log, () => rows({ name: 'probe', text: 'select 1' }, []));
  pool.on('error', () => health.noteDown());

  const checkFence = (): void => {
    if (options.fence?.lost) throw new EpochLost('another process has the database');
  };
  const withClient = <T>(work: (client: Client) => Promise<T>): Promise<T> =>
    health.watch(async () => {
      checkFence();
      const client = await pool.connect();
      try {
        const result = await work(client);
        client.release();
        return result;
      } catch (error) {
        client.release(explained(error) instanceof StorageUnavailable ? (error as Error) : undefined);
        throw error;
      }
    });
  const rows = <T>(statement: Statement, values: readonly unknown[]): Promise<readonly T[]> =>
    withClient((client) => runnerOf(client).rows<T>(statement, values));

  return {
    rows,
    transaction: (work) => withClient((client) => inTransaction(client, work)),
    unit: (work) =>
      health.watch(async () => {
        checkFence();
        return work(orm.em.fork());
      }),
    healthy: () => health.up,
    async close() {
      health.end();
      await orm.close(true);
      // The ORM ends the pool only when it has used it itself.
      if (!pool.ending) await pool.end();
    },
  };
};

const leaving = 'dormouse leaving';

/**
 * Whether anybody is still connected to this server, apart from those that ask this very question: so the last one to leave finds out that
 * it is, even when two leave at once. A connection that was just closed may be seen for some moments.
 */
export const isInUse = async (url: string, log: Log): Promise<boolean> => {
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
    throw error;
  } finally {
    await database.close();
  }
};
