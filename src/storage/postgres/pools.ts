/**
 * The connection pools of the gateway, one for each kind of work. Work waits only for work of the same kind. Slow queries of clients, or
 * a sweep over millions of rows, delay neither the keys of a session nor a commit.
 */
import { type Log, StorageBusy } from '#actors/ports.ts';
import {
  type Database,
  type DatabaseOptions,
  type Limits,
  openDatabase,
  openUnitDatabase,
  type PoolUsage,
  probesOf,
  type Statement,
  type UnitDatabase,
  usualLimits,
} from './database.ts';
import { type DatabaseLabel, Health } from './health.ts';
import { SharedCommits } from './shared-commits.ts';

// The fair share limits the connections of a pool that one instance may use. Without this limit, slow queries of one client would delay the queries of all
// others. A query beyond the limit waits for queries of the same instance only.

export interface Share {
  /** The largest number of concurrent statements of one instance. */
  readonly atOnce: number;
  /** The largest number of waiting statements of one instance. */
  readonly waiting: number;
  /** Time limit of a wait. In milliseconds. */
  readonly waitMs: number;
}

/** The running and the waiting queries of one instance. */
interface Lane {
  running: number;
  readonly waiting: Set<() => void>;
}

const busy = (name: string): StorageBusy =>
  new StorageBusy(`the instance has too many queries at once, or waits too long for its turn: ${name}`);

/** Returns the instance that a statement names, or else its first value. Null for a statement without an instance, which has no share. */
const instanceOf = ({ instance }: Statement, [first]: readonly unknown[]): string | null =>
  instance === undefined ? (typeof first === 'string' ? first : null) : instance;

/** The lanes of all instances that have queries now. */
class Lanes {
  readonly #share: Share;
  readonly #lanes = new Map<string, Lane>();

  constructor(share: Share) {
    this.#share = share;
  }

  /** Waits until the instance may run another query. */
  async #enter(instance: string, name: string): Promise<Lane> {
    const lane = this.#lanes.get(instance) ?? { running: 0, waiting: new Set() };
    this.#lanes.set(instance, lane);
    if (lane.running >= this.#share.atOnce) {
      if (lane.waiting.size >= this.#share.waiting) throw busy(name);
      // A query that ends lets the next query run in its stead, so `running` does not change.
      await this.#placeIn(lane, name);
    } else lane.running += 1;
    return lane;
  }

  /** Runs the work as one query of the instance. Rejects with `StorageBusy` if too many queries wait, or after the time limit. */
  async run<T>(instance: string, name: string, work: () => Promise<T>): Promise<T> {
    const lane = await this.#enter(instance, name);
    try {
      return await work();
    } finally {
      this.#leave(instance, lane);
    }
  }

  #leave(instance: string, lane: Lane): void {
    const [next] = lane.waiting;
    if (next !== undefined) return next();
    lane.running -= 1;
    if (lane.running === 0) this.#lanes.delete(instance);
  }

  /** Waits until a running query of the lane ends. */
  #placeIn({ waiting: others }: Lane, name: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        others.delete(go);
        reject(busy(name));
      }, this.#share.waitMs);
      const go = (): void => {
        clearTimeout(timer);
        others.delete(go);
        resolve();
      };
      others.add(go);
    });
  }
}

export const fairShare = (database: Database, share: Share): Database => {
  const lanes = new Lanes(share);
  return {
    ...database,
    async rows(statement, values) {
      const instance = instanceOf(statement, values);
      if (instance === null) return database.rows(statement, values);
      return lanes.run(instance, statement.name, () => database.rows(statement, values));
    },
  };
};

/**
 * Runs the long transactions of clients one by one, so that they use a single connection of their pool. Each owner has at most one transaction in the
 * common queue. The owners therefore take turns.
 */
export class FairQueue {
  readonly #owners: Lanes;
  readonly #common: Lanes;

  /** `waiting`: the largest number of waiting transactions of one owner. `waitMs`: the time limit of each of the two waits. In milliseconds. */
  constructor({ waiting, waitMs }: Omit<Share, 'atOnce'>) {
    this.#owners = new Lanes({ atOnce: 1, waiting, waitMs });
    this.#common = new Lanes({ atOnce: 1, waiting: Number.POSITIVE_INFINITY, waitMs });
  }

  /** Runs the work of an owner in its turn. Rejects with `StorageBusy` if too many transactions of the owner wait, or after the time limit. */
  run<T>(owner: string, name: string, work: () => Promise<T>): Promise<T> {
    return this.#owners.run(owner, name, () => this.#common.run('', name, work));
  }
}

/** The largest number of connections of each pool. The comment of a pool lists its work. */
export interface PoolSizes {
  /** Credentials, Signal keys and received stanzas. */
  readonly keys: number;
  /** Writes of the journal and of settings, reads of the outbox, and look-ups of sessions by key. */
  readonly journal: number;
  /** Lists, searches, and look-ups of deliveries. */
  readonly queries: number;
  /** Marks deliveries as ended or postponed. Its commits do not wait for the disk. After a crash of PostgreSQL, a delivery may be repeated. */
  readonly deliveries: number;
  /** Deletions of old rows, replays of deliveries, new campaigns, and removals of instances. */
  readonly sweeps: number;
}

/** The default sizes. */
export const usualSizes: PoolSizes = { keys: 5, journal: 5, deliveries: 2, queries: 4, sweeps: 2 };

export interface Pools {
  readonly keys: Database;
  readonly journal: UnitDatabase;
  readonly deliveries: Database;
  readonly queries: Database;
  readonly sweeps: Database;
  /** Queries and takeovers of leases. Null for a single gateway. */
  readonly leases: Database | null;
  /** Renewals of the node's lease, over one connection. Null for a single gateway. */
  readonly renewals: Database | null;
  /** The shared commits of the pools for keys and for the journal. */
  readonly sharedCommits: SharedCommits;
  /** Returns false during an outage of the database. See `Health.up`. */
  healthy(): boolean;
  /** See `Health.troubles`. */
  troubles(): readonly string[];
  /** See `Health.listen`. */
  onHealth(listener: (up: boolean) => void): void;
  usage(): readonly ({ readonly name: string } & PoolUsage)[];
  close(): Promise<void>;
}

export interface PoolLimits extends Limits {
  /** Replaces `statement` for lists and searches of clients. */
  readonly query: number;
}

export const usualPoolLimits: PoolLimits = { ...usualLimits, query: 2_000 };

interface PoolsOptions extends Pick<DatabaseOptions, 'fence'> {
  readonly url: string;
  readonly label: DatabaseLabel;
  readonly log: Log;
  readonly sizes: PoolSizes;
  readonly limits: PoolLimits;
  /** True if this process is a node of a cluster. */
  readonly shared: boolean;
}

/** The share of one instance: half of the default connections. Forty more queries may wait, because a client may send many queries at once to load a page. */
const queryShare = { atOnce: 2, waiting: 40 };

/** Short limits, so that a renewal without an answer is retried before the lease ends. In milliseconds. */
const leaseLimits: Limits = { connection: 1_500, statement: 1_500 };
const leaseConnections = 2;

export const openPools = async ({ sizes, shared, limits, label, ...options }: PoolsOptions): Promise<Pools> => {
  const health = new Health(
    options.log,
    probesOf(() => journal),
    label,
  );
  const common = { ...options, limits, health };
  const sharedCommits = new SharedCommits();
  const journal = await openUnitDatabase({ ...common, sharedCommits, poolSize: sizes.journal, application: 'dormouse journal' });
  const [keys, deliveries, queries, sweeps] = await Promise.all(
    (['keys', 'deliveries', 'queries', 'sweeps'] as const).map((name) =>
      openDatabase({
        ...common,
        ...(name === 'queries' ? { limits: { ...limits, statement: limits.query } } : {}),
        poolSize: sizes[name],
        application: `dormouse ${name}`,
        ...(name === 'keys' ? { lasting: true, sharedCommits } : {}),
        isAsynchronous: name === 'deliveries',
      }),
    ),
  );
  const ofNode = (name: string, poolSize: number): Promise<Database | null> =>
    shared ? openDatabase({ ...common, poolSize, application: `dormouse ${name}`, limits: leaseLimits }) : Promise.resolve(null);
  const [leases, renewals] = await Promise.all([ofNode('leases', leaseConnections), ofNode('renewals', 1)]);
  const shares = fairShare(queries!, { ...queryShare, waitMs: limits.connection });
  const all = {
    keys: keys!,
    journal,
    deliveries: deliveries!,
    queries: shares,
    sweeps: sweeps!,
    ...(leases && { leases }),
    ...(renewals && { renewals }),
  };
  return {
    ...all,
    leases,
    renewals,
    sharedCommits,
    healthy: () => health.up,
    troubles: () => health.troubles,
    onHealth: (listener) => health.listen(listener),
    usage: () => Object.entries(all).map(([name, pool]) => ({ name, ...pool.usage() })),
    close: async () => void (await Promise.all(Object.values(all).map((pool) => pool.close()))),
  };
};
