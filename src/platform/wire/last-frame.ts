/**
 * The time of the last frame: by the wall clock for people, and by the monotonic clock for the watchdog. A step of the wall clock must not wake the
 * watchdog.
 */
export class LastFrame {
  readonly #now: () => number;
  #at = 0;
  #seen = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Unix milliseconds; 0 before the first frame. */
  get at(): number {
    return this.#at;
  }

  note(): void {
    this.#at = this.#now();
    this.#seen = performance.now();
  }

  /** True if the first frame came, and none for longer than this. In milliseconds. */
  isOlderThan(ms: number): boolean {
    return this.#at > 0 && performance.now() - this.#seen > ms;
  }
}
