/** Places that a node keeps for sessions which other nodes are about to give it: several nodes that drain at once do not send more than it has room for. */
import type { InstanceId } from '../model.ts';
import type { Time } from '../ports.ts';

/** Milliseconds: longer than a session takes to close. */
const keptMs = 60_000;

export class KeptPlaces {
  readonly #time: Pick<Time, 'monotonic'>;
  /** Monotonic. */
  readonly #until = new Map<InstanceId, number>();

  constructor(time: Pick<Time, 'monotonic'>) {
    this.#time = time;
  }

  keep(id: InstanceId): void {
    this.#until.set(id, this.#time.monotonic() + keptMs);
  }

  /** The session has come. */
  end(id: InstanceId): void {
    this.#until.delete(id);
  }

  has(id: InstanceId): boolean {
    return (this.#until.get(id) ?? -Infinity) > this.#time.monotonic();
  }

  /** Places that are kept for others than this one. */
  countBeside(id: InstanceId | null): number {
    for (const kept of this.#until.keys()) if (!this.has(kept)) this.#until.delete(kept);
    return this.#until.size - (id !== null && this.#until.has(id) ? 1 : 0);
  }
}
