/** The limit of sessions that are connected at once (MAX_CONNECTED_INSTANCES), and the sessions that count. */
import { refuse, type InstanceId, type Refusal } from '../model.ts';
import { capRetryMs } from '../policy/policy.ts';
import type { Registry } from './registry.ts';

export interface CapacityInput {
  readonly max: number;
  readonly registry: Registry;
  /** False during a stop. */
  readonly open: () => boolean;
  /** Sessions that the start of the process is still restoring. Such sessions count before they have a cell. */
  readonly restoring: () => ReadonlySet<InstanceId>;
}

export class Capacity {
  readonly #input: CapacityInput;

  constructor(input: CapacityInput) {
    this.#input = input;
  }

  /** Number of further sessions that may connect now. */
  get room(): number {
    if (!this.#input.open()) return 0;
    return this.#input.max - this.#count(null);
  }

  /** Returns a refusal if this session may not connect, else null. */
  objection(id: InstanceId): { readonly ok: false; readonly refusal: Refusal } | null {
    const { max, open } = this.#input;
    if (!open()) return refuse('unavailable', 'the server is stopping');
    if (this.#count(id) < max) return null;
    return refuse('capped', `Maximum number of connected instances reached (${max})`, { retryAfter: capRetryMs / 1000 });
  }

  #count(except: InstanceId | null): number {
    const { registry, restoring } = this.#input;
    let count = 0;
    for (const [id, { status }] of registry.cells) if (id !== except && (status === 'connected' || status === 'connecting')) count += 1;
    for (const id of restoring()) if (id !== except && !registry.cells.has(id)) count += 1;
    return count;
  }
}
