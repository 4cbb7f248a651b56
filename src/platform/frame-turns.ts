/** One session's frames leave turns of the event loop to the others: a read of its socket may bring hundreds, and a flood brings them all the time. */
import type { Turns } from './turns.ts';

/** What is needed of a socket of `ws`. */
export interface TurnSocket {
  listeners(event: string): readonly unknown[];
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  off(event: string, listener: (...args: unknown[]) => void): unknown;
  pause(): void;
  resume(): void;
}

/** Frames of one socket that wait for their turn; beyond them the socket is not read. */
const mostWaiting = 256;
/** The end comes behind the frames that were there before. */
const events = ['message', 'error', 'close'] as const;

/** Puts itself before the listeners that the socket has now. */
export const takeTurns = (raw: TurnSocket, turns: Turns): void => {
  let [waiting, paused] = [0, false];
  const pass = (tell: () => void): void => {
    waiting -= 1;
    if (paused && waiting === 0) {
      paused = false;
      raw.resume();
    }
    tell();
  };
  const take = (tell: () => void): void => {
    waiting += 1;
    turns.take(() => pass(tell));
    if (paused || waiting < mostWaiting) return;
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
