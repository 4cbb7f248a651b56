/** Waiting for something outside this process: asked again and again, with a deadline that says what did not happen. */
import { setTimeout as wait } from 'node:timers/promises';

const interval = 20;

/** Answers with the first value that is neither undefined nor false. `what` completes "… did not happen". */
export const until = async <T>(
  ask: () => T | false | undefined | Promise<T | false | undefined>,
  what: string | (() => string),
  ms = 15_000,
): Promise<T> => {
  for (const deadline = Date.now() + ms; ; await wait(interval)) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > deadline) throw new Error(`in ${ms} ms it did not happen: ${typeof what === 'string' ? what : what()}`);
  }
};
