/** One timer for one purpose: of several moments that are asked for, the earliest wins. */
import type { Time } from '../ports.ts';

export class Alarm {
  readonly #time: Time;
  readonly #ring: () => void;
  readonly #now: () => number;
  #at = 0;
  #id: unknown = null;

  /** `now`: the clock of the moments, which is the wall clock unless another is given. */
  constructor(time: Time, ring: () => void, now: () => number = () => time.now()) {
    this.#time = time;
    this.#ring = ring;
    this.#now = now;
  }

  /** Rings at this moment at the latest, never at once. */
  set(at: number): void {
    if (this.#id !== null && this.#at <= at) return;
    this.#time.clearTimeout(this.#id);
    this.#at = at;
    this.#id = this.#time.setTimeout(
      () => {
        this.#id = null;
        this.#ring();
      },
      Math.max(1, at - this.#now()),
    );
  }

  clear(): void {
    this.#time.clearTimeout(this.#id);
    this.#id = null;
  }
}
