/** Wakes hibernated sessions for the calls that need them, which also wait for sessions that begin. */
import { done, notConnected, unknownInstance, type InstanceId, type Result } from '../model.ts';
import type { Cell } from '../session/cell.ts';
import type { Hibernation } from '../session/hibernation.ts';
import type { Capacity } from './capacity.ts';
import type { Registry } from './registry.ts';

export interface WakingInput {
  readonly registry: Registry;
  readonly capacity: Capacity;
  readonly hibernation: Hibernation;
  /** How long a call waits for the session to wake. */
  readonly timeout: number;
}

export class Waking {
  readonly #input: WakingInput;

  constructor(input: WakingInput) {
    this.#input = input;
  }

  /** Somebody needs the session: it does not go back to sleep until it is idle again. */
  keepAwake(cell: Cell): void {
    this.#input.hibernation.keepAwake(cell);
    cell.touch();
  }

  /** The instance, awake: a hibernated one is woken and waited for, and so is one that begins. Whether it is connected is for the caller's request to find out. */
  async awake(id: InstanceId): Promise<Result<Cell>> {
    const { registry, capacity, timeout } = this.#input;
    const cell = registry.cell(id);
    if (!cell) return unknownInstance;
    await cell.waitFor((other) => !other.closing, timeout); // on its way to sleep, perhaps
    this.keepAwake(cell);
    if (cell.view.status === 'hibernated') {
      const objection = capacity.objection(id) ?? (await this.#wake(cell));
      if (objection) return objection;
    }
    if (!cell.waking) return done(cell);
    const over = (other: Cell): boolean => other.view.connected || other.view.status === 'disconnected';
    const awake = await cell.waitFor(over, timeout);
    return awake ? done(cell) : notConnected;
  }

  /** Others may take the last place, or wake the session, while it is stored that it shall be online. */
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
