/** The last traffic of a session: a message either way, or a call that needed the platform. */
import type { Time } from '../ports.ts';

export class Activity {
  readonly #time: Pick<Time, 'now' | 'monotonic'>;
  #at: number;
  /** The last activity by the monotonic clock. A wall clock that steps forward must not make every session look idle. */
  #seen: number;

  /** `at`: as it is stored, in Unix milliseconds. */
  constructor(time: Pick<Time, 'now' | 'monotonic'>, at: number) {
    this.#time = time;
    this.#at = at;
    this.#seen = time.monotonic() - Math.max(0, time.now() - at);
  }

  /** Unix milliseconds. */
  get at(): number {
    return this.#at;
  }

  /** Milliseconds since then. */
  get idleMs(): number {
    return this.#time.monotonic() - this.#seen;
  }

  /** There is traffic now. Returns the time in Unix milliseconds. */
  note(): number {
    this.#at = this.#time.now();
    this.#seen = this.#time.monotonic();
    return this.#at;
  }
}
