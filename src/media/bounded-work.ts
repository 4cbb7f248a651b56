/** Bounded work: a time limit, cancellation by the caller, a bound of concurrent work, and the refusal of further work. */
import { done, type Reason, type Refusal, refuse, type Result } from '#actors/model.ts';
import { deadline } from '#src/webhooks/address-guard.ts';

// A refusal on its way through streams, which can only fail by throwing. `resultOf` makes a value of it at the border.

export class MediaFailure extends Error {
  override readonly name = 'MediaFailure';
  readonly refusal: Refusal;

  constructor(reason: Reason, message: string, more: Partial<Refusal> = {}) {
    super(message);
    this.refusal = { ...more, reason, message };
  }
}

/** The value of the work, or the refusal that it threw. Other errors are unexpected and are thrown. */
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

/** `64 MiB`; with one digit after the point where that says more. */
export const sizeText = (bytes: number): string => {
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  return `${Math.round((bytes / 1024 ** power) * 10) / 10} ${units[power]}`;
};

export const tooManyBytes = (limit: number): MediaFailure =>
  new MediaFailure('tooLarge', `the file is larger than the ${sizeText(limit)} that are allowed`);

/** Work with an end: a time limit, a caller who may leave, and a server that may stop. */
export class BoundedWork {
  readonly #timeoutMs: number;
  readonly #late: () => MediaFailure;
  readonly #closing = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();

  /** `late`: the answer when the time is over. */
  constructor(timeoutMs: number, late: () => MediaFailure) {
    this.#timeoutMs = timeoutMs;
    this.#late = late;
  }

  /** A `MediaFailure` of the work and an abort are refusals. Other errors reject. */
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

/** Limits the concurrent work. Other callers wait in FIFO order. */
export class Slots {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(size: number) {
    this.#free = size;
  }

  /** Runs the work when it has its turn. Rejects with the reason of the signal when that aborts first. */
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
