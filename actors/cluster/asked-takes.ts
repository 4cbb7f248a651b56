/** Takes instances that requests ask for: those that are asked for while a take is under way are taken together in the next one. */
import { microBatch } from '../events/micro-batch.ts';
import type { InstanceId } from '../model.ts';
import type { TakeCause } from '../ports.ts';

export interface AskedTakesInput {
  take(ids: readonly InstanceId[], cause: TakeCause): Promise<void>;
  /** How many more instances the node may own. A place that is kept for this instance counts. */
  roomFor(id: InstanceId): number;
}

export class AskedTakes {
  readonly #input: AskedTakesInput;
  readonly #batches = new Map<TakeCause, (ids: readonly InstanceId[]) => Promise<void>>();

  constructor(input: AskedTakesInput) {
    this.#input = input;
  }

  /** Resolves when the take has ended, whoever owns the instance then. */
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
