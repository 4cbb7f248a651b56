/** One process serves the sessions of a database: an advisory lock, held by a connection of its own for as long as the process lives. */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { StorageUnavailable, type Log } from '#actors/ports.ts';
import { explained } from './failures.ts';
import { makeOrm, poolOf, type Client, type Pool } from './orm.ts';

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

/** Any number that only we use. */
const key = '7110481294';

/** Granted again to the connection that has it. Named here, since a name in the connection string would count for more than ours. */
const lock = {
  name: 'tenancy',
  text: `select set_config('application_name', $1, false), pg_try_advisory_lock(${key}) as ours`,
};

/**
 * Whether a connection of this process has the lock, which is then ended: the network lost it, or the server hung when it was closed, and the
 * server still believes in it. Without this a process would take itself for its rival.
 */
const holders = {
  name: 'tenancy-holders',
  text: `select application_name = $1 as own, case when application_name = $1 then pg_terminate_backend(pid) end as ended
    from pg_locks left join pg_stat_activity using (pid)
    where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())
      and objsubid = 1 and (classid::bigint << 32 | objid::bigint) = ${key}`,
};

/** A predecessor that was killed holds the lock until the server notices, which takes moments. */
const usualPatience = 5_000;
const usualInterval = 5_000;
const pause = 100;

const driverOptions = {
  max: 1,
  // The lock goes with the connection.
  idleTimeoutMillis: 0,
  query_timeout: 5_000,
  // A machine that vanished gives the lock back within half a minute.
  options: '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3',
};

/** Whose the lock is; nobody's for some moments while a lost connection of ours ends. */
type Holder = 'us' | 'nobody' | 'another';
type Ask = () => Promise<Holder>;

/** A holder whose name is not known (`own` is null) has just left. */
const ask = async (client: Client, values: readonly [name: string]): Promise<Holder> => {
  const [answer] = (await client.query({ ...lock, values })).rows as readonly { readonly ours: boolean }[];
  if (answer?.ours) return 'us';
  const found = (await client.query({ ...holders, values })).rows as readonly { readonly own: boolean | null }[];
  return found.some(({ own }) => own === false) ? 'another' : 'nobody';
};

const askerOf = (pool: Pool): Ask => {
  // By this name a process knows its connections again.
  const name = `dormouse ${randomUUID()}`;
  return async () => {
    const client = await pool.connect();
    try {
      const holder = await ask(client, [name]);
      client.release();
      return holder;
    } catch (error) {
      client.release(error as Error);
      throw error;
    }
  };
};

const acquire = async (holder: Ask, patience: number): Promise<void> => {
  for (const deadline = Date.now() + patience; (await holder()) !== 'us'; await wait(pause)) {
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
const watch = (pool: Pool, holder: Ask, { log, onTaken, checkInterval = usualInterval }: TenancyOptions): (() => void) => {
  const state: { ended: boolean; timer?: NodeJS.Timeout } = { ended: false };
  const later = (ms: number): void => {
    clearTimeout(state.timer);
    if (!state.ended) state.timer = setTimeout(() => void check(), ms).unref();
  };
  const check = async (): Promise<void> => {
    const found = await holder().catch((error: unknown): Holder => {
      if (!(explained(error) instanceof StorageUnavailable)) log.error({ error }, 'storage.tenancyUnknown');
      return 'nobody';
    });
    if (found !== 'another' || state.ended) return later(found === 'us' ? checkInterval : pause);
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
  const holder = askerOf(pool);
  try {
    await acquire(holder, options.patience ?? usualPatience);
  } catch (error) {
    await pool.end();
    throw explained(error);
  }
  const unwatch = watch(pool, holder, options);
  return {
    async close() {
      unwatch();
      await pool.end();
    },
  };
};
