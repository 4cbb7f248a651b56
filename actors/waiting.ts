/** Waits with a time limit or an early end, and mutexes. No part of the gateway waits without a limit for an external system. */
import { StorageFailure, type Time } from './ports.ts';

/** The delay before a retry of work that failed with a `StorageFailure`. In milliseconds. */
export const storageRetryMs = 1_000;

/** The state of work when a wait for it ends. `late`: the time limit was reached, and the work continues without a waiter. */
export type Ending = 'done' | 'failed' | 'late';

/** Resolves when the work has ended, or after `ms`. Never rejects. */
export const within = (time: Pick<Time, 'setTimeout' | 'clearTimeout'>, ms: number, work: Promise<unknown>): Promise<Ending> =>
  new Promise((resolve) => {
    const timer = time.setTimeout(() => resolve('late'), ms);
    const end = (ending: Ending) => (): void => {
      time.clearTimeout(timer);
      resolve(ending);
    };
    work.then(end('done'), end('failed'));
  });

/** Waits for `ms`, or until the signal aborts. */
export const pauseUnless = (signal: AbortSignal, time: Pick<Time, 'setTimeout' | 'clearTimeout'>, ms: number): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      time.clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = time.setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });

/** Waits that can be ended early. `cut` ends only the current wait. `end` also ends all later waits at once. */
export class Pause {
  readonly #time: Time;
  #over: (() => void) | null = null;
  #ended = false;

  constructor(time: Time) {
    this.#time = time;
  }

  wait(ms: number): Promise<void> {
    if (this.#ended) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = this.#time.setTimeout(resolve, ms);
      this.#over = () => {
        this.#time.clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Ends the current wait now. */
  cut(): void {
    this.#over?.();
  }

  /** Ends the current wait now, and all later waits when they begin. */
  end(): void {
    this.#ended = true;
    this.#over?.();
  }

  get ended(): boolean {
    return this.#ended;
  }
}

/** Runs work, and retries it after `storageRetryMs` while it fails with a `StorageFailure`. Rejects with this failure once `pause.ended` is true. */
export async function untilStored<T>(pause: Pick<Pause, 'ended' | 'wait'>, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StorageFailure) || pause.ended) throw error;
    }
    await pause.wait(storageRetryMs);
  }
}

/** Counts work in progress, so that a caller can wait until no work is left. */
export class UnderWay {
  readonly #time: Time;
  #count = 0;
  #waiting: (() => void)[] = [];
  readonly #end = (): void => {
    this.#count -= 1;
    if (this.#count === 0) for (const resolve of this.#waiting.splice(0)) resolve();
  };

  constructor(time: Time) {
    this.#time = time;
  }

  track<T>(work: Promise<T>): Promise<T> {
    this.#count += 1;
    work.then(this.#end, this.#end);
    return work;
  }

  /** Resolves when no work is left, including follow-up work such as the removal of a delivered row from the outbox. */
  async ended(): Promise<void> {
    while (this.#count > 0) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
      await new Promise<void>((resolve) => void this.#time.setTimeout(resolve, 0));
    }
  }
}

// A mutex for each key. Tasks of one key run in the order of the calls, and tasks of different keys run in parallel.

export class KeyedMutex {
  readonly #tails = new Map<string, Promise<void>>();

  /**
   * Runs `task` when all earlier tasks of the key have released the mutex, and returns the outcome. The next task starts when `task` calls `release`
   * or ends with any outcome.
   */
  async run<T>(key: string, task: (release: () => void) => Promise<T>): Promise<T> {
    const before = this.#tails.get(key);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#tails.set(key, promise);
    const release = (): void => {
      resolve();
      if (this.#tails.get(key) === promise) this.#tails.delete(key);
    };
    if (before) await before;
    try {
      return await task(release);
    } finally {
      release();
    }
  }
}

/** A mutex with a single key. */
export class Mutex {
  readonly #keyed = new KeyedMutex();

  /** Runs `task` when all earlier tasks have ended, and returns the outcome. */
  run<T>(task: () => Promise<T>): Promise<T> {
    return this.#keyed.run('', task);
  }
}
