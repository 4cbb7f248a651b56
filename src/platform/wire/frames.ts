/**
 * The frames of a socket in both directions. All frames that are written in one turn of the event loop leave in one system call. Received frames wait in a
 * scheduler that all sessions share, so that a flooded session does not delay the others.
 */
import type { Socket } from 'node:net';

// A fair FIFO scheduler for small tasks of all sessions. It runs a limited number of tasks in each turn of the event loop.

interface TurnLimits {
  /** The number of tasks that every turn may run. A long turn may run more (see `share`). */
  readonly least: number;
  /** Approximate processor time of a task. In milliseconds. */
  readonly cost: number;
}

/** The schedulers that all sessions of the process share. */
export interface SharedSchedulers {
  readonly frames: FairScheduler;
  readonly messages: FairScheduler;
}

/**
 * The tasks of a turn may use this share of the time since the turn was scheduled. If other work keeps the event loop busy, turns are rarer, and each turn runs
 * more tasks.
 */
const share = 0.25;

export class FairScheduler {
  readonly #limits: TurnLimits;
  readonly #waiting: (() => void)[] = [];
  #left: number;
  #coming = false;
  #since = 0;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
    this.#left = limits.least;
  }

  /** Runs the work now or in a later turn. */
  take(work: () => void): void {
    this.#next();
    if (this.#left === 0 || this.#waiting.length > 0) return void this.#waiting.push(work);
    this.#left -= 1;
    work();
  }

  /** Resolves when the caller may run its task. */
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
    // A task may throw, so the next turn is scheduled first. Otherwise the remaining tasks would wait until the next call of `take`.
    if (this.#waiting.length > 0) this.#next();
    while (this.#left > 0 && this.#waiting.length > 0) {
      this.#left -= 1;
      this.#waiting.shift()?.();
    }
  }
}

/** The part of a `ws` socket that `gatherFrames` uses. */
export interface FrameSocket {
  readonly readyState: number;
  readonly OPEN: number;
  /** The TCP or TLS socket; null before the WebSocket is open. */
  readonly _socket: Pick<Socket, 'cork' | 'uncork' | 'destroy'> | null;
  send(frame: Uint8Array, done?: (error?: Error) => void): void;
  /** Ends the connection, even while it is being opened. */
  terminate(): void;
}

/** The permission to write for the session. `granted` returns true if this process owns the session at the time of the call. */
export interface Permission {
  granted(): boolean;
  /** Reports a denied write, after the connection was ended. */
  denied(): void;
}

/**
 * Gathers the frames of one turn of the event loop into one system call. `done` is called before the write. Otherwise the library, which handles messages one
 * by one, would wait for the write of each receipt. If a frame cannot be written, the connection ends, and the listeners of the socket report that.
 *
 * The permission is checked before each frame, and again before the gathered frames leave. The process may have been suspended in between, and another process
 * may own the session by then.
 */
export const gatherFrames = (raw: FrameSocket, permission: Permission): void => {
  const send = raw.send.bind(raw);
  let gathering = false;
  const deny = (): void => {
    // The destruction of the socket drops the corked frames.
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

/** The part of a `ws` socket that `scheduleFrames` uses. */
export interface ScheduledSocket {
  listeners(event: string): readonly unknown[];
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  off(event: string, listener: (...args: unknown[]) => void): unknown;
  pause(): void;
  resume(): void;
}

/** A socket is paused when this many of its frames wait, and resumed when none waits. */
const mostWaiting = 64;
/** Events that wait for a turn. The end of the connection waits too, so that its listeners are called after all earlier frames. */
const events = ['message', 'error', 'close'] as const;

/**
 * Replaces the present listeners of the socket by listeners that wait for a turn. `alive` is called for every frame, both at its arrival and when it is passed
 * on, because a waiting frame must not count as silence. Only one frame of a socket at a time waits in the scheduler, so sockets alternate.
 */
export const scheduleFrames = (raw: ScheduledSocket, scheduler: FairScheduler, alive: () => void): void => {
  const waiting: (() => void)[] = [];
  let paused = false;
  const pass = (): void => {
    try {
      waiting[0]?.();
    } finally {
      waiting.shift();
      if (waiting.length > 0) scheduler.take(pass);
      else if (paused) {
        paused = false;
        raw.resume();
      }
    }
  };
  const take = (tell: () => void): void => {
    waiting.push(tell);
    if (waiting.length === 1) scheduler.take(pass);
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
 * The time of the last frame, by the wall clock for display, and by the monotonic clock for the watchdog. A step of the wall clock must not trigger the
 * watchdog.
 */
export class LastFrame {
  readonly #now: () => number;
  #at = 0;
  #seen = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The time in Unix milliseconds; 0 before the first frame. */
  get at(): number {
    return this.#at;
  }

  note(): void {
    this.#at = this.#now();
    this.#seen = performance.now();
  }

  /** Returns true if the last frame arrived more than `ms` milliseconds ago. Returns false before the first frame. */
  isOlderThan(ms: number): boolean {
    return this.#at > 0 && performance.now() - this.#seen > ms;
  }
}
