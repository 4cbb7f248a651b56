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
const mostWaiting = 64;
/** The end comes behind the frames that were there before. */
const events = ['message', 'error', 'close'] as const;

/**
 * Puts itself before the listeners that the socket has now. `alive` is called for every frame, when it comes and when it is passed on: a frame that
 * waits here is no silence. Only the first of a socket's frames asks for a turn, so that sockets take them one after the other.
 */
export const takeTurns = (raw: TurnSocket, turns: Turns, alive: () => void): void => {
  const waiting: (() => void)[] = [];
  let paused = false;
  const pass = (): void => {
    try {
      waiting[0]?.();
    } finally {
      waiting.shift();
      if (waiting.length > 0) turns.take(pass);
      else if (paused) {
        paused = false;
        raw.resume();
      }
    }
  };
  const take = (tell: () => void): void => {
    waiting.push(tell);
    if (waiting.length === 1) turns.take(pass);
    if (paused || waiting.length < mostWaiting) return;
    paused = true;
    raw.pause();
  };

  const inTurn =
    (event: (typeof events)[number], listener: (...args: unknown[]) => void) =>
    (...args: unknown[]): void => {
      if (event === 'message') alive();
      take(() => {
        if (event === 'message') alive();
        listener(...args);
      });
    };

  for (const event of events)
    for (const known of raw.listeners(event)) {
      const listener = known as (...args: unknown[]) => void;
      raw.off(event, listener);
      raw.on(event, inTurn(event, listener));
    }
};
