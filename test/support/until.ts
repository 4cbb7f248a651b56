/** Waiting for something outside this process: asked again and again, with a deadline that says what did not happen. */
import { setTimeout as wait } from 'node:timers/promises';

const interval = 20;
/** Milliseconds: a busy machine takes its time, and nobody waits for it where all goes well. */
export const patience = 60_000;

/** Answers with the first value that is neither undefined nor false. `what` completes "… did not happen". */
export const until = async <T>(
  ask: () => T | false | undefined | Promise<T | false | undefined>,
  what: string | (() => string),
  ms = patience,
): Promise<T> => {
  for (const deadline = Date.now() + ms; ; await wait(interval)) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > deadline) throw new Error(`in ${ms} ms it did not happen: ${typeof what === 'string' ? what : what()}`);
  }
};
