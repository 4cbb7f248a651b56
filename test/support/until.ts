/** Waits for a condition outside of this process by polling. The error after the deadline names the condition. */
import { setTimeout as wait } from 'node:timers/promises';

/** Milliseconds between two polls: at first, and after a long wait. */
const shortest = 20;
const longest = 100;
/** The default time-out in milliseconds. It allows for busy machines, and is shorter than the limit of a test, whose error does not name the condition. */
export const patience = 120_000;

/** Returns the first value that is neither undefined nor false. `what` completes "… did not happen". */
export const until = async <T>(
  ask: () => T | false | undefined | Promise<T | false | undefined>,
  what: string | (() => string),
  ms = patience,
): Promise<T> => {
  const began = Date.now();
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    const waited = Date.now() - began;
    if (waited > ms) throw new Error(`in ${ms} ms it did not happen: ${typeof what === 'string' ? what : what()}`);
    await wait(Math.min(longest, Math.max(shortest, waited / 20)));
  }
};
