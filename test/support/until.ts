/** Waits for a condition outside of this process by polling. The error after the deadline names the condition. */
import { setTimeout as wait } from 'node:timers/promises';

/** The pause between two polls, which grows during a long wait. In milliseconds. */
const shortest = 20;
const longest = 100;
/** The default time-out. It is shorter than the time limit of a test, whose error would not name the condition. In milliseconds. */
export const patience = 120_000;

/** Polls until the value is neither undefined nor false. Returns the value. `what` names the condition in the error after the time-out. */
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
