/** The nodes of the cluster and who owns what, for people who look: read from the database, and remembered for a moment. */
import type { InstanceId } from '../model.ts';
import type { KnownNode, Lease, LeaseStore, Time } from '../ports.ts';

/** Milliseconds for which an answer counts. Several people may look at once. */
const rememberedMs = 1_000;

export class Overview {
  readonly #store: Pick<LeaseStore, 'known' | 'leaseOf'>;
  readonly #time: Time;
  #nodes: Promise<readonly KnownNode[]> | null = null;
  #askedAt = -Infinity;

  constructor(store: Pick<LeaseStore, 'known' | 'leaseOf'>, time: Time) {
    this.#store = store;
    this.#time = time;
  }

  /** One query a second at most. */
  nodes(): Promise<readonly KnownNode[]> {
    const now = this.#time.monotonic();
    if (this.#nodes !== null && now - this.#askedAt < rememberedMs) return this.#nodes;
    const asked = this.#store.known();
    [this.#nodes, this.#askedAt] = [asked, now];
    asked.catch(() => {
      if (this.#nodes === asked) this.#nodes = null;
    });
    return asked;
  }

  leaseOf(id: InstanceId): Promise<Lease | null> {
    return this.#store.leaseOf(id);
  }
}
