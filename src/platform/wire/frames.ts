/**
 * Frames of one socket, both ways. Written frames of one turn of the event loop leave in one system call. Read frames wait for a turn that
 * all sessions share, so that a flooded session leaves turns to the others.
 */
import type { Socket } from 'node:net';

// Gives turns of the event loop to pieces of work that come by the hundred, in the order of their arrival over all sessions. Other work of the
// loop runs between two turns.

interface TurnLimits {
  /** Pieces that a turn takes at least. */
  readonly least: number;
  /** Milliseconds of the thread that a piece takes, about. */
  readonly cost: number;
}

/** Share of all sessions of the process. */
export interface SharedTurns {
  readonly frames: Turns;
  readonly messages: Turns;
}

/** Share of the time since the last turn. If other work keeps the loop busy, each of its rounds takes longer, and these tasks must not starve. */
const share = 0.25;

export class Turns {
  readonly #limits: TurnLimits;
  readonly #waiting: (() => void)[] = [];
  #left: number;
  #coming = false;
  #since = 0;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
    this.#left = limits.least;
  }

  /** Does the work, now or in a later turn. */
  take(work: () => void): void {
    this.#next();
    if (this.#left === 0 || this.#waiting.length > 0) return void this.#waiting.push(work);
    this.#left -= 1;
    work();
  }

  /** Resolves when it is the caller's turn. */
  taken(): Promise<void> {
    return new Promise((resolve) => this.take(resolve));
  }

  #next(): void {
    if (this.#coming) return;
    this.#coming = true;
    this.#since = performance.now();
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    const { least, cost } = this.#limits;
    this.#coming = false;
    this.#left = Math.max(least, Math.floor(((performance.now() - this.#since) * share) / cost));
    // Before the work, which may throw: that is not the next one's loss.
    if (this.#waiting.length > 0) this.#next();
    while (this.#left > 0 && this.#waiting.length > 0) {
      this.#left -= 1;
      this.#waiting.shift()?.();
    }
  }
}

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

/**
 * The time of the last frame: by the wall clock for people, and by the monotonic clock for the watchdog. A step of the wall clock must not wake the
 * watchdog.
 */
export class LastFrame {
  readonly #now: () => number;
  #at = 0;
  #seen = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Unix milliseconds; 0 before the first frame. */
  get at(): number {
    return this.#at;
  }

  note(): void {
    this.#at = this.#now();
    this.#seen = performance.now();
  }

  /** True if the first frame came, and none for longer than this. In milliseconds. */
  isOlderThan(ms: number): boolean {
    return this.#at > 0 && performance.now() - this.#seen > ms;
  }
}
