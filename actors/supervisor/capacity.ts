/** How many sessions may be connected at once (MAX_CONNECTED_INSTANCES), and which sessions count. */
import { refuse, type InstanceId, type Refusal } from '../model.ts';
import type { Registry } from './registry.ts';

export interface CapacityInput {
  readonly max: number;
  readonly registry: Registry;
  /** Sessions that the start of the process still brings back; they count before they have a cell. */
  readonly restoring: () => ReadonlySet<InstanceId>;
}

export class Capacity {
  readonly #input: CapacityInput;

  constructor(input: CapacityInput) {
    this.#input = input;
  }

  /** How many more sessions may connect now. */
  get room(): number {
    return this.#input.max - this.#counted().size;
  }

  /** A refusal when this session may not connect; null when it may. */
  full(id: InstanceId): { readonly ok: false; readonly refusal: Refusal } | null {
    const { max } = this.#input;
    const counted = this.#counted();
    counted.delete(id);
    if (counted.size < max) return null;
    return refuse('capped', `Maximum number of connected instances reached (${max})`, { retryAfter: 60 });
  }

  #counted(): Set<InstanceId> {
    const counted = new Set(this.#input.restoring());
    for (const [id, { status }] of this.#input.registry.cells) if (status === 'connected' || status === 'connecting') counted.add(id);
    return counted;
  }
}
