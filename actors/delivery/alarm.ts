/** A timer that may be set several times before it fires. The earliest time wins. */
import type { Time } from '../ports.ts';

export class Alarm {
  readonly #time: Time;
  readonly #ring: () => void;
  readonly #now: () => number;
  #at = 0;
  #id: unknown = null;

  /** `now`: the clock of the times that `set` takes; the wall clock by default. */
  constructor(time: Time, ring: () => void, now: () => number = () => time.now()) {
    this.#time = time;
    this.#ring = ring;
    this.#now = now;
  }

  /** Sets the alarm for this time, unless it is already set for an earlier time. The alarm never rings within the call. */
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
