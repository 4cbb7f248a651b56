/** Wakes hibernated sessions for calls that need them. The calls also wait for sessions that are starting. */
import { done, type InstanceId, notConnected, type Refusal, refuse, type Result, unknownInstance } from '../model.ts';
import { capRetryMs } from '../policy/policy.ts';
import type { Cell } from '../session/cell.ts';
import type { Hibernation } from '../session/hibernation.ts';
import { damageOf } from '../session/status.ts';
import type { Registry } from './registry.ts';
import type { Restore } from './restore.ts';

// The limit of sessions that are connected at once (MAX_CONNECTED_INSTANCES), and the sessions that count.

export interface CapacityInput {
  readonly max: number;
  readonly registry: Registry;
  /** False during a stop. */
  readonly open: () => boolean;
  /** The sessions that the start of the process is still restoring count before they have a cell. */
  readonly restore: Pick<Restore, 'restoring'>;
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
    const { registry, restore } = this.#input;
    let count = 0;
    for (const [id, { status }] of registry.cells) if (id !== except && (status === 'connected' || status === 'connecting')) count += 1;
    for (const id of restore.restoring) if (id !== except && !registry.cells.has(id)) count += 1;
    return count;
  }
}

export interface WakingInput {
  readonly registry: Registry;
  readonly capacity: Capacity;
  readonly hibernation: Hibernation;
  /** Longest time that a call waits for the session to wake. In milliseconds. */
  readonly timeout: number;
}

export class Waking {
  readonly #input: WakingInput;

  constructor(input: WakingInput) {
    this.#input = input;
  }

  /** Keeps the session from hibernating until it is idle again. */
  keepAwake(cell: Cell): void {
    this.#input.hibernation.keepAwake(cell);
    cell.touch();
  }

  /**
   * Returns the cell of the instance after waking a hibernated session, or waiting for a starting one. The session may still be unconnected. The
   * request of the caller finds that out.
   */
  async awake(id: InstanceId): Promise<Result<Cell>> {
    const { registry, capacity, timeout } = this.#input;
    const cell = registry.cell(id);
    if (!cell) return unknownInstance;
    const objection = damageOf(cell);
    if (objection) return objection;
    await cell.waitFor((other) => !other.closing, timeout); // The session may be about to hibernate.
    this.keepAwake(cell);
    if (cell.view.status === 'hibernated') {
      const full = capacity.objection(id) ?? (await this.#wake(cell));
      if (full) return full;
    }
    if (!cell.waking) return done(cell);
    const over = (other: Cell): boolean => other.view.connected || other.view.status === 'disconnected';
    const awake = await cell.waitFor(over, timeout);
    return awake ? done(cell) : notConnected;
  }

  /**
   * Stores that the session shall be online, then connects it. During the store, other sessions may take the last place, or another call may wake
   * this one.
   */
  async #wake(cell: Cell): Promise<ReturnType<Capacity['objection']>> {
    const { capacity, timeout } = this.#input;
    await cell.keeper.save({ wanted: 'online' });
    await cell.waitFor((other) => !other.closing, timeout);
    if (cell.view.status !== 'hibernated') return null;
    const objection = capacity.objection(cell.record.id);
    if (objection) cell.keeper.note({ wanted: 'asleep' });
    else cell.connect({}, 'call');
    return objection;
  }
}
