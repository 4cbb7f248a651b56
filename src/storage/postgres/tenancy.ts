/**
 * Tenancy: a database belongs to one gateway, or to the nodes of one cluster. The tenant holds an advisory lock over a separate connection for its
 * whole life. The nodes of a cluster hold the lock in shared mode.
 *
 * The lock alone is no fence: a process that lost it unnoticed would continue to write. A single gateway that takes the database therefore increments the
 * takeover count and the epoch of every instance before any read. A process that lost the lock and got it back compares the takeover count. If the
 * count is unchanged, no other process has read or written meanwhile. A node raises only the epochs of the instances that it takes over. A changed
 * takeover count shows a node that a single gateway had the database.
 *
 * A second lock determines the duty node, which does the common work of the cluster.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { type Log, StorageFailure } from '#actors/ports.ts';
import { explained } from './failures.ts';
import { type Client, createOrm, type Pool, poolOf } from './orm.ts';

/**
 * The next epoch of an instance in SQL. It exists for any stored value. No instance has two thousand million owners, so the highest integer is a damaged
 * value. Its successor is the lowest integer, which no former owner holds, so the fence still works.
 */
export const nextEpoch = 'case when instance.epoch = 2147483647 then -2147483648 else instance.epoch + 1 end';

interface TenancyOptions {
  readonly url: string;
  readonly log: Log;
  /** Called once if another process took the database after this process lost its connection. */
  onTaken(): void;
  /** True if this process is a node of a cluster. */
  readonly shared?: boolean;
  /** The time for which this process waits for a rival to release the lock. In milliseconds. */
  readonly patience?: number;
  /** The pause between two checks of the lock. In milliseconds. */
  readonly checkInterval?: number;
  /** The time without a query after which the duty node counts as hung. In milliseconds. */
  readonly silence?: number;
}

/** The key of the advisory lock: an arbitrary number. */
const key = '7110481294';

const dutyKey = '7110481295';

/**
 * Takes the lock. A connection that has the lock gets it again. The name of the application is set in this statement, because a name in the connection
 * string would override the option.
 */
const lock = {
  name: 'tenancy',
  text: `select set_config('application_name', $1, false), pg_try_advisory_lock(${key}) as ours, true as duty`,
};
const sharedLock = {
  name: 'tenancy-shared',
  text: `select set_config('application_name', $1, false), pg_try_advisory_lock_shared(${key}) as ours, pg_try_advisory_lock(${dutyKey}) as duty`,
};

/**
 * Finds the holders of the lock, and ends connections of this process among them. Such a connection is stale: the network lost it, or PostgreSQL hung when it
 * was closed. Without this check a process would count as its own rival.
 */
const holders = {
  name: 'tenancy-holders',
  text: `select application_name = $1 as own, case when application_name = $1 then pg_terminate_backend(pid) end as ended
    from pg_locks left join pg_stat_activity using (pid)
    where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())
      and objsubid = 1 and (classid::bigint << 32 | objid::bigint) = ${key}`,
};

/**
 * Ends the connection of a duty node that hangs. A node that works sends a query every few seconds. $1: the limit in milliseconds. A node that continues
 * later finds its connection closed, and is not on duty any more.
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
 * Raises the epochs. The three statements are sent as one query, and are one transaction. The rows are locked in the order of ids. `for update` waits for
 * open writes under an older epoch (see `ownership.ts`). The takeover count comes first. If another takeover is open, this statement waits for
 * it, and the snapshot of the next statement has the instances that were inserted meanwhile.
 */
const raise = {
  name: '',
  text: `insert into setting (name, value) values ('${raised}', '1') on conflict (name) do update set value = (setting.value::bigint + 1)::text;
    with held as (select id from instance order by id for update)
      update instance set epoch = ${nextEpoch} from held where instance.id = held.id;
    select value from setting where name = '${raised}'`,
  // The raise waits for open writes of the former owner. PostgreSQL ends a statement or an idle transaction of that owner before this limit. In milliseconds.
  query_timeout: 30_000,
};

/** Finds damaged rows that `raise` needs: a takeover count that is not a number, and instances whose epoch is the highest integer. */
const damaged = {
  name: '',
  text: `select coalesce((select value !~ '^[0-9]{1,18}$' from setting where name = '${raised}'), false) as junk,
    array(select id from instance where epoch = 2147483647 order by id) as ids`,
};

/** Lists the live nodes. A node that stops in order removes its row. The row of a killed node counts until its lease ends. */
const liveNodes = { name: '', text: `select name from node where until > extract(epoch from clock_timestamp()) * 1000 order by name` };

const firstTaking = { name: '', text: `insert into setting (name, value) values ('${raised}', '1') on conflict (name) do nothing` };

const takings = { name: 'tenancy-taken', text: `select value from setting where name = '${raised}'` };

/** The time for which a process waits for the lock. A killed predecessor holds the lock until PostgreSQL notices the end of its connection. In milliseconds. */
const usualPatience = 5_000;
const usualInterval = 5_000;
/** The time without a query after which the duty node counts as hung: six checks of the lock. In milliseconds. */
const usualSilence = 30_000;
const pause = 100;

const driverOptions = {
  max: 1,
  // The connection is never closed as idle, because the lock ends with its connection.
  idleTimeoutMillis: 0,
  query_timeout: 5_000,
  // The server drops the lock of an unreachable machine within half a minute.
  options: '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3',
};

/**
 * The holder of the database lock. A `rival` holds the lock and has not raised the epochs yet, so it may still release the lock without any read. `nobody`
 * means that a lost connection of this process has not ended yet, or that the database is unavailable. `another` means that another process has raised the
 * epochs.
 */
type Holder = 'us' | 'nobody' | 'rival' | 'another';

/**
 * The connection on which this process holds the lock, with its state. `taking` is the takeover count of this process; null before it has raised the epochs.
 */
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
 * Asks for the lock, and returns its holder. A holder without a name (`own` is null) has just left. A separate statement reads the takeover count,
 * because the statement that gets the lock may have begun before another process took the database.
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

/**
 * Raises the epochs and returns the takeover count. If the connection is lost meanwhile, the process stops before any read. The epochs may be raised even then,
 * which is harmless.
 */
const raiseEpochs = (post: Post, patience: number): Promise<string> =>
  withClient(post, async (client) => {
    let holder = await ask(client, post);
    // The server needs a moment to end a lost connection of this process. Until then no other connection gets the lock.
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
 * Checks the lock at intervals, and at once after the loss of the connection, so that this process gets the lock back before another gateway starts. While
 * the database is unavailable, no other process can take the lock.
 */
class LockWatch {
  readonly #post: Post;
  readonly #onTaken: () => void;
  readonly #patience: number;
  readonly #interval: number;
  #timer: NodeJS.Timeout | undefined;
  #rivalSince = Infinity;
  #isEnded = false;

  constructor(post: Post, { onTaken, patience = usualPatience, checkInterval = usualInterval }: TenancyOptions) {
    this.#post = post;
    this.#onTaken = onTaken;
    this.#patience = patience;
    this.#interval = checkInterval;
    post.pool.on('error', () => {
      post.onDuty = false;
      this.#later(pause);
    });
    this.#later(checkInterval);
  }

  end(): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
  }

  #later(ms: number): void {
    clearTimeout(this.#timer);
    if (!this.#isEnded) this.#timer = setTimeout(() => void this.#check(), ms).unref();
  }

  async #check(): Promise<void> {
    const { pool, log } = this.#post;
    const found = await holder(this.#post).catch((error: unknown): Holder => {
      if (!(explained(error) instanceof StorageFailure)) log.error({ error }, 'storage.tenancyUnknown');
      this.#post.onDuty = false;
      return 'nobody';
    });
    this.#rivalSince = found === 'rival' ? Math.min(this.#rivalSince, Date.now()) : Infinity;
    const taken = found === 'another' || Date.now() - this.#rivalSince >= this.#patience;
    if (!taken || this.#isEnded) return this.#later(found === 'us' ? this.#interval : pause);
    this.#isEnded = true;
    this.#post.onDuty = false;
    log.error({}, 'storage.taken');
    // This process may have the lock again. The end of the pool releases the lock for the new tenant.
    await pool.end();
    this.#onTaken();
  }
}

export class Tenancy {
  readonly #post: Post;
  readonly #patience: number;
  readonly #watch: LockWatch;

  private constructor(post: Post, options: TenancyOptions) {
    this.#post = post;
    this.#patience = options.patience ?? usualPatience;
    this.#watch = new LockWatch(post, options);
  }

  /** Takes the database for this process. Rejects with a text for the operator if another process has it. */
  static async take(options: TenancyOptions): Promise<Tenancy> {
    const pool = await poolOf(await createOrm(options.url, options.log, driverOptions));
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
    return new Tenancy(post, options);
  }

  /**
   * Raises the epoch of every instance over the connection that has the lock. A node of a cluster raises no epochs, and only reads the takeover count. Call
   * this method after the migrations and before any read. Waits for open writes under an older epoch. Rejects if the lock was lost.
   */
  async raise(): Promise<void> {
    try {
      this.#post.taking = await raiseEpochs(this.#post, this.#patience);
    } catch (error) {
      throw explained(error);
    }
  }

  /** True if this process is the duty node, which runs the sweeps for the whole cluster. */
  get onDuty(): boolean {
    return this.#post.onDuty;
  }

  async close(): Promise<void> {
    this.#watch.end();
    if (!this.#post.pool.ending) await this.#post.pool.end();
  }
}
