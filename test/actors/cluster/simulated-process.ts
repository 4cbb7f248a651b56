/** A process of a simulated machine: its clocks, and the times at which it is paused. */
import type { Time } from '#actors/ports.ts';
import type { FakeTime } from '#test/fakes/time.ts';

/** A process that may be paused. Meanwhile no timer, message or result of a statement reaches it. All of them reach it when it continues. */
export class SimulatedProcess implements Time {
  readonly #time: FakeTime;
  /** The error of the clock of the process, in milliseconds. */
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

  /** Delivers an event from outside to the process. */
  enter(fn: () => void): void {
    if (this.#isGone) return;
    if (this.stopped) this.#late.push(fn);
    else fn();
  }

  /** Returns a promise that settles when the process sees the result. */
  received<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      promise.then(
        (value) => this.enter(() => resolve(value)),
        (error: unknown) => this.enter(() => reject(error as Error)),
      );
    });
  }

  /** True for a process that is paused, or that continued within the last second. Its sockets are stale, and it closes them first. */
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
