/**
 * Armed faults, each of which waits for the step that it breaks. Faults that apply to an open connection at once are in `live-faults.ts`.
 */
import type { Digits, Fault } from './interface.ts';

interface Armed {
  readonly fault: Fault;
  left: number;
}

const maxArmed = 1000;

export class Faults {
  #armed: Armed[] = [];

  arm(fault: Fault, times: number): void {
    if (this.#armed.length < maxArmed) this.#armed.push({ fault, left: times });
  }

  /** Disarms the faults of this kind: those of one account, or all if `number` is absent. Returns the number of disarmed faults. */
  clear(kind: Fault['kind'], number?: Digits): number {
    const before = this.#armed.length;
    this.#armed = this.#armed.filter(({ fault }) => fault.kind !== kind || (number !== undefined && fault.number !== number));
    return before - this.#armed.length;
  }

  /**
   * Returns a matching fault, and counts one use of it. Without `number`, only faults without a number match. `query`: the name of the client's request. It
   * must start with the `query` of the fault.
   */
  take(kind: Fault['kind'], number?: Digits, query = ''): Fault | undefined {
    const found = this.#armed.find(
      ({ fault }) => fault.kind === kind && (fault.number === undefined || fault.number === number) && query.startsWith(fault.query ?? ''),
    );
    if (!found) return undefined;
    found.left -= 1;
    if (found.left <= 0) this.#armed = this.#armed.filter((one) => one !== found);
    return found.fault;
  }
}
