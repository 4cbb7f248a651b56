/** Waiting for something outside this process: asked again and again, with a deadline that says what did not happen. */
import { setTimeout as wait } from 'node:timers/promises';

/** Milliseconds between two questions: at first, and after so long a wait that a tenth of a second does not matter. */
const shortest = 20;
const longest = 100;
/** Milliseconds: a busy machine takes its time, and nobody waits for it where all goes well. A test that runs into its own limit does not say what was missing. */
export const patience = 120_000;

/** Answers with the first value that is neither undefined nor false. `what` completes "… did not happen". */
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
