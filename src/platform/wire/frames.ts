/**
 * Frames of one socket, both ways. Written frames of one turn of the event loop leave in one system call. Read frames wait for a turn that all
 * sessions share, so that a flooded session leaves turns to the others.
 */
import type { Socket } from 'node:net';
import type { Turns } from './turns.ts';

/** The part of a `ws` socket that is used. */
export interface FrameSocket {
  readonly readyState: number;
  readonly OPEN: number;
  /** The TCP or TLS socket; null before the upgrade. */
  readonly _socket: Pick<Socket, 'cork' | 'uncork' | 'destroy'> | null;
  send(frame: Uint8Array, done?: (error?: Error) => void): void;
  /** Ends the connection, also one that is still being made. */
  terminate(): void;
}

/** The permission to act for the session: it is checked at the moment of the call, and its refusal is reported. */
export interface Permission {
  granted(): boolean;
  /** Called for each frame that was not written; the connection is ended already. */
  denied(): void;
}

/**
 * The sender goes on at once, as if the frame had left: the library handles messages one by one and waits for each receipt. A frame that cannot
 * leave ends the connection, which is what everybody listens to.
 *
 * Permission is asked before each frame, and again before what was gathered leaves: the process may have stood still between the two, for longer than
 * it owns the session.
 */
export const gatherFrames = (raw: FrameSocket, permission: Permission): void => {
  const send = raw.send.bind(raw);
  let gathering = false;
  const deny = (): void => {
    // Corked frames go with the socket.
    raw._socket?.destroy();
    raw.terminate();
    permission.denied();
  };
  raw.send = (frame, done) => {
    if (!permission.granted()) {
      deny();
      return done?.(new Error('another process may own the session'));
    }
    const socket = raw._socket;
    if (socket === null || raw.readyState !== raw.OPEN) return send(frame, done);
    if (!gathering) {
      gathering = true;
      socket.cork();
      setImmediate(() => {
        gathering = false;
        if (permission.granted()) socket.uncork();
        else deny();
      });
    }
    send(frame);
    done?.();
  };
};

/** The part of a `ws` socket that is used. */
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
