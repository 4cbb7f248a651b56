/**
 * One process serves the sessions of a database, or the nodes of one cluster do: an advisory lock, which the nodes share, held by a
 * connection of its own for as long as the process lives.
 *
 * The lock alone fences nothing: a process that lost it without noticing goes on writing. So the process that takes it raises the epoch of
 * every instance before reading anything, and the number of takings with it. A process that lost the lock and got it back looks at that
 * number: when it is still its own, nobody has read or written anything meanwhile. Nodes raise the epoch of each instance that they take;
 * the same number tells them when a single gateway had the database.
 *
 * A second lock says which node does the work that one does for all.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { type Log, StorageFailure } from '#actors/ports.ts';
import { explained } from './failures.ts';
import { type Client, makeOrm, type Pool, poolOf } from './orm.ts';

// The epoch that follows another one, as an expression of SQL.

/**
 * The next epoch of an instance, total for any stored value. No instance has two thousand million owners, so the highest integer is a damaged value.
 * The epochs after it begin at the lowest integer, which no former owner holds: the fence stays.
 */
export const nextEpoch = 'case when instance.epoch = 2147483647 then -2147483648 else instance.epoch + 1 end';

export interface Tenancy {
  /**
   * Raises the epoch of every instance, over the connection that has the lock; call it once the tables exist and before anything is read. Waits
   * for writes that are under way under an older epoch. Rejects when the lock was lost.
   */
  raise(): Promise<void>;
  /** True if this process is the duty node, which runs the sweeps for the whole cluster. */
  readonly onDuty: boolean;
  close(): Promise<void>;
}

interface TenancyOptions {
  readonly url: string;
  readonly log: Log;
  /** The connection was lost, and another process has the lock, or had it before it was back. Called once. */
  onTaken(): void;
  /** This process is one node of several. */
  readonly shared?: boolean;
  /** Milliseconds in which a rival may give way. */
  readonly patience?: number;
  /** Milliseconds. */
  readonly checkInterval?: number;
  /** Milliseconds after which a node that is on duty and asks nothing is taken to stand still. */
  readonly silence?: number;
}

/** Any number that only we use. */
const key = '7110481294';

const dutyKey = '7110481295';

/** Granted again to the connection that has it. Named here, since a name in the connection string would count for more than ours. */
const lock = {
  name: 'tenancy',
  text: `select set_config('application_name', $1, false), pg_try_advisory_lock(${key}) as ours, true as duty`,
};
const sharedLock = {
  name: 'tenancy-shared',
  text: `select set_config('application_name', $1, false), pg_try_advisory_lock_shared(${key}) as ours, pg_try_advisory_lock(${dutyKey}) as duty`,
};

/**
 * Finds and ends a stale connection of this process that still holds the lock. The network lost such a connection, or the server hung when it was
 * closed. Without this check a process would take itself for its rival.
 */
const holders = {
  name: 'tenancy-holders',
  text: `select application_name = $1 as own, case when application_name = $1 then pg_terminate_backend(pid) end as ended
    from pg_locks left join pg_stat_activity using (pid)
    where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())
      and objsubid = 1 and (classid::bigint << 32 | objid::bigint) = ${key}`,
};

/**
 * Ends the connection of a node that is on duty and stands still: one that lives asks every few seconds. $1 milliseconds. When the node goes on, it finds
 * its connection gone and is not on duty any more.
 */
const silentDuty = {
  name: 'tenancy-silent',
  text: `select pg_terminate_backend(pid) from pg_locks join pg_stat_activity using (pid)
    where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())
      and objsubid = 1 and (classid::bigint << 32 | objid::bigint) = ${dutyKey} and pid <> pg_backend_pid()
      and state_change < clock_timestamp() - $1::float8 * interval '1 millisecond'`,
};

const raised = 'tenancy.taken';

/**
 * Three statements, sent as one, are one transaction. Locked in the order of ids and `for update`, which waits for the writes of an older epoch: see
 * `ownership.ts`. The number of takings comes first, so that an instance which is inserted meanwhile is seen by the second statement.
 */
const raise = {
  name: '',
  text: `insert into setting (name, value) values ('${raised}', '1') on conflict (name) do update set value = (setting.value::bigint + 1)::text;
    with held as (select id from instance order by id for update)
      update instance set epoch = ${nextEpoch} from held where instance.id = held.id;
    select value from setting where name = '${raised}'`,
  // Longer than a statement of the former owner, or a transaction whose owner fell silent, is left alone by the server.
  query_timeout: 30_000,
};

/** Rows that `raise` needs and that are damaged: a count of takings that is no number, and instances whose epoch is the highest integer. */
const damaged = {
  name: '',
  text: `select coalesce((select value !~ '^[0-9]{1,18}$' from setting where name = '${raised}'), false) as junk,
    array(select id from instance where epoch = 2147483647 order by id) as ids`,
};

/** A cluster that is stopped in order leaves no node behind; a node that was killed is there until its lease ends. */
const liveNodes = { name: '', text: `select name from node where until > extract(epoch from clock_timestamp()) * 1000 order by name` };

const firstTaking = { name: '', text: `insert into setting (name, value) values ('${raised}', '1') on conflict (name) do nothing` };

const takings = { name: 'tenancy-taken', text: `select value from setting where name = '${raised}'` };

/** A predecessor that was killed holds the lock until the server notices, which takes moments. */
const usualPatience = 5_000;
const usualInterval = 5_000;
/** Six looks at the lock. */
const usualSilence = 30_000;
const pause = 100;

const driverOptions = {
  max: 1,
  // The lock goes with the connection.
  idleTimeoutMillis: 0,
  query_timeout: 5_000,
  // A machine that vanished gives the lock back within half a minute.
  options: '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3',
};

/**
 * The holder of the database lock. A `rival` holds the lock and has raised no epoch yet: it may still give way or die without having read anything.
 * `nobody` holds the lock for a moment while a lost connection of this process ends.
 */
type Holder = 'us' | 'nobody' | 'rival' | 'another';

/** The connection of a process, and which taking of the database is its own; null before it has raised the epochs. */
interface Post {
  readonly pool: Pool;
  readonly log: Log;
  /** The name by which a process recognises its own connections. */
  readonly name: string;
  readonly shared: boolean;
  readonly silence: number;
  taking: string | null;
  onDuty: boolean;
}

/**
 * A holder whose name is not known (`own` is null) has just left. Whether somebody took the database meanwhile is asked in a statement of its own:
 * the one that gets the lock may have begun before that.
 */
const ask = async (client: Client, post: Post): Promise<Holder> => {
  const { name, taking, shared } = post;
  const values = [name];
  const asked = { ...(shared ? sharedLock : lock), values };
  const [answer] = (await client.query(asked)).rows as readonly { readonly ours: boolean; readonly duty: boolean }[];
  post.onDuty = answer?.duty ?? false;
  if (!post.onDuty) await client.query({ ...silentDuty, values: [post.silence] });
  if (taking !== null) {
    const [last] = (await client.query(takings)).rows as readonly { readonly value: string }[];
    if (last?.value !== taking) return 'another';
  }
  if (answer?.ours) return 'us';
  const found = (await client.query({ ...holders, values })).rows as readonly { readonly own: boolean | null }[];
  return found.some(({ own }) => own === false) ? 'rival' : 'nobody';
};

const withClient = async <T>({ pool }: Post, work: (client: Client) => Promise<T>): Promise<T> => {
  const client = await pool.connect();
  try {
    const result = await work(client);
    client.release();
    return result;
  } catch (error) {
    client.release(error as Error);
    throw error;
  }
};

const holder = (post: Post): Promise<Holder> => withClient(post, (client) => ask(client, post));

const inUse = {
  alone: 'Another gateway uses this database, and only one may: stop it, or give this one a DATA_DIR or DATABASE_URL of its own.',
  shared: 'A gateway without NODE_NAME uses this database: stop it, or start it as a node too.',
} as const;

const acquire = async (post: Post, patience: number): Promise<void> => {
  for (const deadline = Date.now() + patience; (await holder(post)) !== 'us'; await wait(pause)) {
    if (Date.now() < deadline) continue;
    throw new Error(inUse[post.shared ? 'shared' : 'alone']);
  }
};

/** Answers which taking of the database this is. A connection that is lost after its question has raised nothing, or nobody has used it. */
const raiseEpochs = (post: Post, patience: number): Promise<string> =>
  withClient(post, async (client) => {
    let holder = await ask(client, post);
    // The server needs a moment to end a connection of this process that was lost, and gives the lock to nobody before.
    for (const deadline = Date.now() + patience; holder === 'nobody' && Date.now() < deadline; holder = await ask(client, post))
      await wait(pause);
    if (holder !== 'us') throw new Error('Another gateway has just taken this database.');
    if (post.shared) {
      await client.query(firstTaking);
      return ((await client.query(takings)).rows as readonly { readonly value: string }[])[0]?.value ?? '';
    }
    const nodes = (await client.query(liveNodes)).rows as readonly { readonly name: string }[];
    if (nodes.length > 0)
      throw new Error(`Nodes use this database (${nodes.map(({ name }) => name).join(', ')}): stop them, or set NODE_NAME.`);
    const [found] = (await client.query(damaged)).rows as readonly { readonly junk: boolean; readonly ids: readonly string[] }[];
    if (found?.junk)
      throw new Error(`The row "${raised}" of the table "setting" is damaged, as it holds no number: delete the row, and start again.`);
    for (const id of found?.ids ?? []) post.log.error({ id, field: 'epoch' }, 'storage.unreadable');
    const results = (await client.query(raise)) as unknown as readonly { readonly rows: readonly { readonly value: string }[] }[];
    return results.at(-1)?.rows[0]?.value ?? '';
  });

/**
 * Asks again at intervals, and at once when the connection is lost. The lock is then taken before another gateway has started. A database that is
 * away has given it to nobody.
 */
const watch = (post: Post, { log, onTaken, patience = usualPatience, checkInterval = usualInterval }: TenancyOptions): (() => void) => {
  const state: { ended: boolean; timer?: NodeJS.Timeout; rivalSince: number } = { ended: false, rivalSince: Infinity };
  const later = (ms: number): void => {
    clearTimeout(state.timer);
    if (!state.ended) state.timer = setTimeout(() => void check(), ms).unref();
  };
  const check = async (): Promise<void> => {
    const found = await holder(post).catch((error: unknown): Holder => {
      if (!(explained(error) instanceof StorageFailure)) log.error({ error }, 'storage.tenancyUnknown');
      post.onDuty = false;
      return 'nobody';
    });
    state.rivalSince = found === 'rival' ? Math.min(state.rivalSince, Date.now()) : Infinity;
    const taken = found === 'another' || Date.now() - state.rivalSince >= patience;
    if (!taken || state.ended) return later(found === 'us' ? checkInterval : pause);
    state.ended = true;
    post.onDuty = false;
    log.error({}, 'storage.taken');
    // The lock may have come back to us, and is the other's.
    await post.pool.end();
    onTaken();
  };
  post.pool.on('error', () => {
    post.onDuty = false;
    later(pause);
  });
  later(checkInterval);
  return () => {
    state.ended = true;
    clearTimeout(state.timer);
  };
};

/** Rejects with a sentence for the operator when another process has the database. */
export const takeTenancy = async (options: TenancyOptions): Promise<Tenancy> => {
  const pool = await poolOf(await makeOrm(options.url, options.log, driverOptions));
  const post: Post = {
    pool,
    log: options.log,
    name: `dormouse ${randomUUID()}`,
    shared: options.shared ?? false,
    silence: options.silence ?? usualSilence,
    taking: null,
    onDuty: false,
  };
  try {
    await acquire(post, options.patience ?? usualPatience);
  } catch (error) {
    await pool.end();
    throw explained(error);
  }
  const unwatch = watch(post, options);
  return {
    async raise() {
      try {
        post.taking = await raiseEpochs(post, options.patience ?? usualPatience);
      } catch (error) {
        throw explained(error);
      }
    },
    get onDuty() {
      return post.onDuty;
    },
    async close() {
      unwatch();
      if (!pool.ending) await pool.end();
    },
  };
};
