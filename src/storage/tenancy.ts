/** One process serves the sessions of a database: an advisory lock, held by a connection of its own for as long as the process lives. */
import { setTimeout as wait } from 'node:timers/promises';
import { StorageUnavailable, type Log } from '#actors/ports.ts';
import { explained } from './failures.ts';
import { makeOrm, poolOf, type Pool } from './orm.ts';

export interface Tenancy {
  close(): Promise<void>;
}

export interface TenancyOptions {
  readonly url: string;
  readonly log: Log;
  /** The connection was lost, and another process had the lock before it was back. */
  onTaken(): void;
  /** Milliseconds. */
  readonly patience?: number;
  readonly checkInterval?: number;
}

/** Granted again to the connection that has it. Any number that only we use. */
const lock = { name: 'tenancy', text: 'select pg_try_advisory_lock(7110481294) as ours' };

/** A predecessor that was killed holds the lock until the server notices, which takes moments. */
const usualPatience = 5_000;
const usualInterval = 5_000;
const pause = 100;

const driverOptions = {
  max: 1,
  // The lock goes with the connection.
  idleTimeoutMillis: 0,
  application_name: 'dormouse',
  query_timeout: 5_000,
  // A machine that vanished gives the lock back within half a minute.
  options: '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3',
};

type Ask = () => Promise<boolean>;

const askerOf =
  (pool: Pool): Ask =>
  async () => {
    const client = await pool.connect();
    try {
      const { rows } = await client.query(lock);
      client.release();
      return (rows as readonly { readonly ours: boolean }[])[0]?.ours === true;
    } catch (error) {
      client.release(error as Error);
      throw error;
    }
  };

const acquire = async (isOurs: Ask, patience: number): Promise<void> => {
  for (const deadline = Date.now() + patience; !(await isOurs()); await wait(pause)) {
    if (Date.now() < deadline) continue;
    throw new Error(
      'Another gateway uses this database, and only one may: stop it, or give this one a DATA_DIR or DATABASE_URL of its own.',
    );
  }
};

/**
 * Asks again now and then, and at once when the connection is lost, so that the lock is taken up before anybody else has started. A database
 * that is away has given it to nobody.
 */
const watch = (pool: Pool, isOurs: Ask, { log, onTaken, checkInterval = usualInterval }: TenancyOptions): (() => void) => {
  const state: { ended: boolean; timer?: NodeJS.Timeout } = { ended: false };
  const later = (ms: number): void => {
    clearTimeout(state.timer);
    if (!state.ended) state.timer = setTimeout(() => void check(), ms).unref();
  };
  const check = async (): Promise<void> => {
    let next = checkInterval;
    const ours = await isOurs().catch((error: unknown) => {
      if (!(explained(error) instanceof StorageUnavailable)) log.error({ error }, 'storage.tenancyUnknown');
      next = pause;
      return true;
    });
    if (ours || state.ended) return later(next);
    log.error({}, 'storage.taken');
    onTaken();
  };
  pool.on('error', () => later(pause));
  later(checkInterval);
  return () => {
    state.ended = true;
    clearTimeout(state.timer);
  };
};

/** Rejects with a sentence for the operator when another process has the database. */
export const takeTenancy = async (options: TenancyOptions): Promise<Tenancy> => {
  const pool = await poolOf(await makeOrm(options.url, options.log, driverOptions));
  const isOurs = askerOf(pool);
  try {
    await acquire(isOurs, options.patience ?? usualPatience);
  } catch (error) {
    await pool.end();
    throw explained(error);
  }
  const unwatch = watch(pool, isOurs, options);
  return {
    async close() {
      unwatch();
      await pool.end();
    },
  };
};
