/** The nodes of the cluster and the owners of instances for the dashboard. Both are read from the database and cached briefly. */
import type { InstanceId } from '../model.ts';
import type { KnownNode, Lease, LeaseStore, Time } from '../ports.ts';

/** Time for which an answer is cached, because several people may look at once. In milliseconds. */
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

  /** Returns the known nodes, with one query a second at most. */
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
