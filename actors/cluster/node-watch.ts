/**
 * Finds nodes that died, and ends their leases. A node is dead when its row was not renewed for a whole lease, by the monotonic clock of the node that
 * looks. The clock of the database can step, and would end the lease of a living node or keep that of a dead one.
 */
import type { LeaseStore, LiveNode, Log, Look, NameHolder, Time } from '../ports.ts';

export interface NodeWatchInput {
  readonly store: Pick<LeaseStore, 'look' | 'end'>;
  readonly time: Pick<Time, 'monotonic'>;
  readonly log: Log;
  /** Milliseconds. */
  readonly lease: number;
}

interface Seen {
  readonly until: number;
  /** When the row was first seen so, on the monotonic clock. The owner renewed before. */
  readonly at: number;
}

/** The rows of nodes, as one observer sees them. */
export class Renewals {
  readonly #time: Pick<Time, 'monotonic'>;
  readonly #lease: number;
  #seen: ReadonlyMap<string, Seen> = new Map();

  constructor(time: Pick<Time, 'monotonic'>, lease: number) {
    this.#time = time;
    this.#lease = lease;
  }

  /** Returns those that were not renewed for a whole lease. `askedAt`: when they were asked for, on the monotonic clock. */
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

  /** Looks at the cluster. What dead nodes had is free. */
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
