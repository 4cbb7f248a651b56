/** Waiting with an end: nothing in the gateway waits for the world for ever. */
import { StorageFailure, type Time } from './ports.ts';

/** Milliseconds until what needs a storage that is away is tried again. */
export const storageRetryMs = 1_000;

/** How work stood at its limit; `late` work goes on by itself. */
export type Ending = 'done' | 'failed' | 'late';

/** Resolves when the work has ended, at the latest after `ms`. Never rejects. */
export const within = (time: Pick<Time, 'setTimeout' | 'clearTimeout'>, ms: number, work: Promise<unknown>): Promise<Ending> =>
  new Promise((resolve) => {
    const timer = time.setTimeout(() => resolve('late'), ms);
    const end = (ending: Ending) => (): void => {
      time.clearTimeout(timer);
      resolve(ending);
    };
    work.then(end('done'), end('failed'));
  });

/** A pause that ends early when the signal is aborted. */
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

/** A pause that can be cut short: this time, or for good. */
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

  /** The pause that is under way ends now. */
  cut(): void {
    this.#over?.();
  }

  /** The pause that is under way ends now, and later ones end at once. */
  end(): void {
    this.#ended = true;
    this.#over?.();
  }

  get ended(): boolean {
    return this.#ended;
  }
}

/** Does work again, with a pause between, while the storage is away. Rejects with the `StorageFailure` when the pause has ended for good. */
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

/** Counts what is under way, so that its end can be awaited. */
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

  /** Resolves when nothing is under way, nor what it led to: a delivery that succeeded is then taken out of the outbox. */
  async ended(): Promise<void> {
    while (this.#count > 0) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
      await new Promise<void>((resolve) => void this.#time.setTimeout(resolve, 0));
    }
  }
}
