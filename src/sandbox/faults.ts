/** Faults that wait for their moment; those that hit a live connection at once are in `breakage.ts`. */
import type { Digits, Fault } from './face.ts';

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

  /** Forgets the armed faults of this kind: those of one account, or all of them. */
  clear(kind: Fault['kind'], number?: Digits): number {
    const before = this.#armed.length;
    this.#armed = this.#armed.filter(({ fault }) => fault.kind !== kind || (number !== undefined && fault.number !== number));
    return before - this.#armed.length;
  }

  /** Uses a fault up once. Without `number` only faults that are meant for everybody count. */
  take(kind: Fault['kind'], number?: Digits): Fault | undefined {
    const found = this.#armed.find(({ fault }) => fault.kind === kind && (fault.number === undefined || fault.number === number));
    if (!found) return undefined;
    found.left -= 1;
    if (found.left <= 0) this.#armed = this.#armed.filter((one) => one !== found);
    return found.fault;
  }
}
