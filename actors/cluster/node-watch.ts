/**
 * Finds dead nodes and ends their leases. A node is dead if its row was not renewed for a whole lease, by the monotonic clock of the observing node.
 * The clock of the database can step. A step would end the lease of a living node or keep that of a dead one.
 */
import type { LeaseStore, LiveNode, Log, Look, NameHolder, Time } from '../ports.ts';

export interface NodeWatchInput {
  readonly store: Pick<LeaseStore, 'look' | 'end'>;
  readonly time: Pick<Time, 'monotonic'>;
  readonly log: Log;
  /** Length of a lease. In milliseconds. */
  readonly lease: number;
}

interface Seen {
  readonly until: number;
  /** Time at which the row was first seen with this value, by the monotonic clock. The owner renewed earlier. */
  readonly at: number;
}

/** The rows of nodes, seen by one observer. */
export class Renewals {
  readonly #time: Pick<Time, 'monotonic'>;
  readonly #lease: number;
  #seen: ReadonlyMap<string, Seen> = new Map();

  constructor(time: Pick<Time, 'monotonic'>, lease: number) {
    this.#time = time;
    this.#lease = lease;
  }

  /** Returns the rows that were not renewed for a whole lease. `askedAt` is the time of the query, by the monotonic clock. */
  note<T extends NameHolder>(rows: readonly T[], askedAt: number): readonly T[] {
    const now = this.#time.monotonic();
    const before = this.#seen;
    const same = ({ incarnation, until }: NameHolder): Seen | null => {
      const seen = before.get(incarnation);
      return seen?.until === until ? seen : null;
    };
    this.#seen = new Map(rows.map((row) => [row.incarnation, same(row) ?? { until: row.until, at: now }]));
    return rows.filter((row) => askedAt - (same(row)?.at ?? now) >= this.#lease);
  }
}

export class NodeWatch {
  readonly #input: NodeWatchInput;
  readonly #renewals: Renewals;

  constructor(input: NodeWatchInput) {
    this.#input = input;
    this.#renewals = new Renewals(input.time, input.lease);
  }

  /** Looks at the cluster and ends the leases of dead nodes, so that their instances are free. */
  async look(): Promise<Look> {
    const { store, time } = this.#input;
    const askedAt = time.monotonic();
    const look = await store.look();
    const dead = this.#renewals.note(look.nodes, askedAt);
    if (dead.length === 0) return look;
    for (const node of dead) await this.#end(node);
    return store.look();
  }

  async #end(node: LiveNode): Promise<void> {
    const { store, log } = this.#input;
    if (await store.end(node)) log.warn({ node: node.name, incarnation: node.incarnation }, 'node.died');
  }
}
