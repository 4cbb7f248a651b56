/**
 * Places that a node reserves for sessions that other nodes are about to move to it. Reservations keep several draining nodes from sending more
 * sessions than the node has room for.
 */
import type { InstanceId } from '../model.ts';
import type { Time } from '../ports.ts';

/** Time for which a place is reserved. Longer than a session takes to close. In milliseconds. */
const keptMs = 60_000;

export class KeptPlaces {
  readonly #time: Pick<Time, 'monotonic'>;
  /** Ends of the reservations, by the monotonic clock. */
  readonly #until = new Map<InstanceId, number>();

  constructor(time: Pick<Time, 'monotonic'>) {
    this.#time = time;
  }

  keep(id: InstanceId): void {
    this.#until.set(id, this.#time.monotonic() + keptMs);
  }

  /** Ends a reservation, because the session has arrived. */
  end(id: InstanceId): void {
    this.#until.delete(id);
  }

  has(id: InstanceId): boolean {
    return (this.#until.get(id) ?? -Infinity) > this.#time.monotonic();
  }

  /** Returns the number of places that are reserved for other instances than this one. */
  countBeside(id: InstanceId | null): number {
    for (const kept of this.#until.keys()) if (!this.has(kept)) this.#until.delete(kept);
    return this.#until.size - (id !== null && this.#until.has(id) ? 1 : 0);
  }
}
