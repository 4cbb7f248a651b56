/** The system's clock and timers, for all code outside of simulated time. */
import { setImmediate as turn } from 'node:timers/promises';
import type { Time } from '#actors/ports.ts';

/** The longest delay of a Node timer: 24.8 days. A timer with a longer delay fires after 1 ms. In milliseconds. */
const longest = 2 ** 31 - 1;

/** A timer with a longer delay than Node allows. It sets several Node timers, one after the other. */
class LongTimer {
  #timer: NodeJS.Timeout;

  constructor(fn: () => void, ms: number) {
    const wait = (left: number): NodeJS.Timeout =>
      left <= longest ? setTimeout(fn, left) : setTimeout(() => (this.#timer = wait(left - longest)), longest);
    this.#timer = wait(ms);
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}

export const systemTime: Time = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  correction: () => 0,
  turn: () => turn(),
  setTimeout: (fn, ms) => (ms <= longest ? setTimeout(fn, ms) : new LongTimer(fn, ms)),
  clearTimeout: (id) => (id instanceof LongTimer ? id.clear() : clearTimeout(id as NodeJS.Timeout)),
};
