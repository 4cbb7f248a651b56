/** One session's frames leave turns of the event loop to the others: a read of its socket may bring hundreds, and a flood brings them all the time. */

/** What is needed of a socket of `ws`. */
export interface TurnSocket {
  listeners(event: string): readonly unknown[];
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  off(event: string, listener: (...args: unknown[]) => void): unknown;
  pause(): void;
  resume(): void;
}

/** A frame is a tenth of a millisecond of work until its message is on its way into the log. */
const framesPerTurn = 8;
/** Frames that wait here; beyond them the socket is not read. */
const mostWaiting = 256;
/** The end comes behind the frames that were there before. */
const events = ['message', 'error', 'close'] as const;

/** Puts itself before the listeners that the socket has now. */
export const takeTurns = (raw: TurnSocket): void => {
  const waiting: (() => void)[] = [];
  let [taken, turning, paused] = [0, false, false];

  const nextTurn = (): void => {
    if (turning) return;
    turning = true;
    setImmediate(turn);
  };
  const turn = (): void => {
    turning = false;
    taken = Math.min(framesPerTurn, waiting.length);
    if (taken > 0) nextTurn();
    // What a listener throws is not the next frame's loss.
    for (let left = taken; left > 0; left -= 1) waiting.shift()?.();
    if (!paused || waiting.length > 0) return;
    paused = false;
    raw.resume();
  };
  const take = (pass: () => void): void => {
    nextTurn();
    if (waiting.length === 0 && taken < framesPerTurn) {
      taken += 1;
      return pass();
    }
    waiting.push(pass);
    if (paused || waiting.length < mostWaiting) return;
    paused = true;
    raw.pause();
  };

  for (const event of events)
    for (const known of raw.listeners(event)) {
      const listener = known as (...args: unknown[]) => void;
      raw.off(event, listener);
      raw.on(event, (...args) => take(() => listener(...args)));
    }
};
