/** A process of a simulated machine: its clocks, and the moments in which it stands still. */
import type { Time } from '#actors/ports.ts';
import type { FakeTime } from '#test/fakes/time.ts';

/** A process that may stand still. Meanwhile no timer, message or result of a statement reaches it. It gets all of them when it continues. */
export class SimulatedProcess implements Time {
  readonly #time: FakeTime;
  /** Milliseconds by which the time of day is wrong. */
  wrongBy: number;
  #late: (() => void)[] = [];
  #continuedAt = -Infinity;
  stopped = false;
  #isGone = false;

  constructor(time: FakeTime, wrongBy = 0) {
    this.#time = time;
    this.wrongBy = wrongBy;
  }

  now(): number {
    return this.#time.now() + this.wrongBy;
  }

  monotonic(): number {
    return this.#time.monotonic();
  }

  correction(): number {
    return 0;
  }

  setTimeout(fn: () => void, ms: number): unknown {
    return this.#time.setTimeout(() => this.enter(fn), ms);
  }

  clearTimeout(id: unknown): void {
    this.#time.clearTimeout(id);
  }

  turn(): Promise<void> {
    return Promise.resolve();
  }

  /** Something reaches the process from outside. */
  enter(fn: () => void): void {
    if (this.#isGone) return;
    if (this.stopped) this.#late.push(fn);
    else fn();
  }

  /** The promise as the process sees it. */
  received<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      promise.then(
        (value) => this.enter(() => resolve(value)),
        (error: unknown) => this.enter(() => reject(error as Error)),
      );
    });
  }

  /** Its sockets are as they were when it was stopped, and the first thing that it does is to close them. */
  get stoodStill(): boolean {
    return this.stopped || this.#time.now() - this.#continuedAt < 1_000;
  }

  get runs(): boolean {
    return !this.stopped && !this.#isGone;
  }

  continue(): void {
    this.stopped = false;
    this.#continuedAt = this.#time.now();
    for (const fn of this.#late.splice(0)) fn();
  }

  /** Ends the process for good. */
  kill(): void {
    this.#isGone = true;
    this.#late = [];
  }
}
