/** Caches leases briefly for requests on the same instance. An instance whose owner is gone costs one query, however many requests wait for it. */
import type { InstanceId } from '../model.ts';
import type { Lease, LeaseStore, Time } from '../ports.ts';

/** Time for which a lease is cached. Shorter than the pause between two looks of one request. In milliseconds. */
const sharedMs = 1_000;

interface LookUnderWay {
  readonly lease: Promise<Lease | null>;
  /** Time of the query, by the monotonic clock. */
  readonly askedAt: number;
}

export class LeaseLooks {
  readonly #store: Pick<LeaseStore, 'leaseOf'>;
  readonly #time: Pick<Time, 'monotonic'>;
  /** Queries by instance, oldest first. */
  readonly #looks = new Map<InstanceId, LookUnderWay>();

  constructor(store: Pick<LeaseStore, 'leaseOf'>, time: Pick<Time, 'monotonic'>) {
    this.#store = store;
    this.#time = time;
  }

  /** Returns the lease from a query that began at most a second ago. `heldMs` and `leftMs` are adjusted to the present. */
  async of(id: InstanceId): Promise<Lease | null> {
    const { lease, askedAt } = this.#look(id);
    const found = await lease;
    const passed = this.#time.monotonic() - askedAt;
    return found && { ...found, heldMs: found.heldMs + passed, leftMs: found.leftMs - passed };
  }

  #look(id: InstanceId): LookUnderWay {
    const now = this.#time.monotonic();
    for (const [other, { askedAt }] of this.#looks) {
      if (now - askedAt < sharedMs) break;
      this.#looks.delete(other);
    }
    const known = this.#looks.get(id);
    if (known !== undefined) return known;
    const look = { lease: this.#store.leaseOf(id), askedAt: now };
    this.#looks.set(id, look);
    return look;
  }
}
