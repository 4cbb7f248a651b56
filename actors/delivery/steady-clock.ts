/** The clock for parked rows. */
import type { Time } from '../ports.ts';

/**
 * Returns a clock in Unix milliseconds that starts with the wall clock and runs with the monotonic clock. A step of the wall clock neither lengthens nor
 * shortens a wait. Another process that reads a time of this clock may be off by the step.
 */
export const steadyClock = (time: Pick<Time, 'now' | 'monotonic'>): (() => number) => {
  const ahead = time.now() - time.monotonic();
  return () => Math.round(time.monotonic() + ahead);
};
