/** Bounded work: a time-out, an abort by the caller, a limit of concurrent tasks, and the refusal of new work during a stop. */
import { done, type Reason, type Refusal, refuse, type Result } from '#actors/model.ts';
import { deadline } from '#src/webhooks/address-guard.ts';

// The error that carries a refusal through streams. Streams can fail only by throwing. `resultOf` turns the error into a value.

export class MediaFailure extends Error {
  override readonly name = 'MediaFailure';
  readonly refusal: Refusal;

  constructor(reason: Reason, message: string, more: Partial<Refusal> = {}) {
    super(message);
    this.refusal = { ...more, reason, message };
  }
}

/** Returns the value of the work, or the refusal that it threw. Rethrows other errors. */
const resultOf = async <T>(work: Promise<T>): Promise<Result<T>> => {
  try {
    return done(await work);
  } catch (error) {
    if (!(error instanceof MediaFailure)) throw error;
    const { reason, message, ...more } = error.refusal;
    return refuse(reason, message, more);
  }
};

const units = ['bytes', 'KiB', 'MiB', 'GiB'] as const;

/** Returns a size as text such as `64 MiB`, with at most one decimal. */
export const sizeText = (bytes: number): string => {
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  return `${Math.round((bytes / 1024 ** power) * 10) / 10} ${units[power]}`;
};

export const tooManyBytes = (limit: number): MediaFailure =>
  new MediaFailure('tooLarge', `the file is larger than the ${sizeText(limit)} that are allowed`);

/** Runs work that ends on a time-out, when its caller gives up, and when the gateway stops. */
export class BoundedWork {
  readonly #timeoutMs: number;
  readonly #late: () => MediaFailure;
  readonly #closing = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();

  /** `timeoutMs`: the time-out of each task. `late` makes the refusal for a time-out. */
  constructor(timeoutMs: number, late: () => MediaFailure) {
    this.#timeoutMs = timeoutMs;
    this.#late = late;
  }

  /** Runs the work. A `MediaFailure` of the work and an abort become refusals. Other errors reject. */
  run<T>(work: (signal: AbortSignal) => Promise<T>, given?: AbortSignal): Promise<Result<T>> {
    const { signal: late, clear } = deadline(this.#timeoutMs);
    const signal = AbortSignal.any([late, this.#closing.signal, ...(given ? [given] : [])]);
    const cut = (error: unknown): never => {
      if (error instanceof MediaFailure || !signal.aborted) throw error;
      if (this.#closing.signal.aborted) throw new MediaFailure('unavailable', 'the server is stopping');
      if (given?.aborted) throw new MediaFailure('unavailable', 'the file was not waited for any longer');
      throw this.#late();
    };
    const working = (signal.aborted ? Promise.reject(signal.reason) : work(signal)).catch(cut).finally(clear);
    this.#underWay.add(working);
    void working.catch(() => undefined).finally(() => this.#underWay.delete(working));
    return resultOf(working);
  }

  /** Aborts all work, refuses new work, and resolves when no work is left. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#underWay);
  }
}

/** Limits the number of concurrent tasks. Further tasks wait in FIFO order. */
export class Slots {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(size: number) {
    this.#free = size;
  }

  /** Runs the work when a slot is free. If the signal aborts before, rejects with the reason of the signal. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#turn(signal);
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      if (next) next();
      else this.#free += 1;
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = (): void => {
      this.#waiting.delete(enter);
      signal.removeEventListener('abort', abort);
    };
    const enter = (): void => (leave(), resolve());
    const abort = (): void => (leave(), reject(signal.reason));
    this.#waiting.add(enter);
    signal.addEventListener('abort', abort);
    await promise;
  }
}
