/** Takes instances for requests. Requests that come while a take is under way share the next one. */
import { microBatch } from '../delivery/tracked-ports.ts';
import type { InstanceId } from '../model.ts';
import type { TakeCause } from '../ports.ts';

export interface AskedTakesInput {
  take(ids: readonly InstanceId[], cause: TakeCause): Promise<void>;
  /** Returns how many more instances the node may own. A place that is reserved for this instance counts as free. */
  roomFor(id: InstanceId): number;
}

export class AskedTakes {
  readonly #input: AskedTakesInput;
  readonly #batches = new Map<TakeCause, (ids: readonly InstanceId[]) => Promise<void>>();

  constructor(input: AskedTakesInput) {
    this.#input = input;
  }

  /** Resolves when the take has ended, whichever node then owns the instance. */
  take(id: InstanceId, cause: TakeCause): Promise<void> {
    const batch = this.#batches.get(cause) ?? microBatch((asked) => this.#take([...new Set(asked)], cause));
    this.#batches.set(cause, batch);
    return batch([id]);
  }

  async #take(asked: readonly InstanceId[], cause: TakeCause): Promise<void> {
    const ids = asked.filter((id, at) => this.#input.roomFor(id) > at);
    if (ids.length > 0) await this.#input.take(ids, cause);
  }
}
