/** The system's clock and timers, for everything that tests do not run on simulated time. */
import { setImmediate as turn } from 'node:timers/promises';
import type { Time } from '#actors/ports.ts';

export const systemTime: Time = {
  now: () => Date.now(),
  turn: () => turn(),
  setTimeout: (fn, ms) => setTimeout(fn, ms),
  clearTimeout: (id) => clearTimeout(id as NodeJS.Timeout),
};
