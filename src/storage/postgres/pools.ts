/**
 * The connections of the gateway, in pools of their own: work of one kind waits for its own kind only, so that slow questions of clients, or a sweep
 * over millions of rows, hold up neither the ratchet of a session nor a commit.
 */
import type { Log } from '#actors/ports.ts';
import {
  openDatabase,
  openUnitDatabase,
  type Database,
  type DatabaseOptions,
  type Limits,
  type PoolUsage,
  type UnitDatabase,
} from './database.ts';
import { makeHealth } from './health.ts';

/** Connections at most. */
export interface PoolSizes {
  /** Credentials, Signal keys and received stanzas. */
  readonly keys: number;
  /** What is stored and delivered: entries, records, the outbox, and what a session asks for by key. */
  readonly journal: number;
  /** Lists and searches. */
  readonly queries: number;
  /** Bounds, counts, replays and removals. */
  readonly sweeps: number;
}

/** Where no setting says otherwise. */
export const usualSizes: PoolSizes = { keys: 5, journal: 5, queries: 4, sweeps: 2 };

export interface Pools {
  readonly keys: Database;
  readonly journal: UnitDatabase;
  readonly queries: Database;
  readonly sweeps: Database;
  /** Of one node among several; null for a single gateway. */
  readonly leases: Database | null;
  /** Whether the database answered last time, whichever pool asked it. */
  healthy(): boolean;
  usage(): readonly ({ readonly name: string } & PoolUsage)[];
  close(): Promise<void>;
}

export interface PoolsOptions extends Pick<DatabaseOptions, 'fence'> {
  readonly url: string;
  readonly log: Log;
  readonly sizes: PoolSizes;
  readonly limits: Limits;
  /** This process is one node of several. */
  readonly shared: boolean;
}

/** A renewal that is not answered is tried again before the lease ends. */
const leaseLimits: Limits = { connection: 1_500, statement: 1_500 };
const leaseConnections = 3;

export const openPools = async ({ sizes, shared, ...options }: PoolsOptions): Promise<Pools> => {
  const health = makeHealth(options.log, () => journal.rows({ name: 'probe', text: 'select 1' }, []));
  const common = { ...options, health };
  const journal = await openUnitDatabase({ ...common, poolSize: sizes.journal, application: 'dormouse journal' });
  const [keys, queries, sweeps] = await Promise.all(
    (['keys', 'queries', 'sweeps'] as const).map((name) =>
      openDatabase({ ...common, poolSize: sizes[name], application: `dormouse ${name}` }),
    ),
  );
  const leases = shared
    ? await openDatabase({ ...common, poolSize: leaseConnections, application: 'dormouse leases', limits: leaseLimits })
    : null;
  const all = { keys: keys!, journal, queries: queries!, sweeps: sweeps!, ...(leases && { leases }) };
  return {
    ...all,
    leases,
    healthy: () => health.up,
    usage: () => Object.entries(all).map(([name, pool]) => ({ name, ...pool.usage() })),
    close: async () => void (await Promise.all(Object.values(all).map((pool) => pool.close()))),
  };
};
