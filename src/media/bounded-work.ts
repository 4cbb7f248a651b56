/** Bounded work: a time-out, an abort by the caller, a limit of concurrent tasks, and the refusal of new work during a stop. */
import { done, type Reason, type Refusal, refuse, type Result } from '#actors/model.ts';

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

/** A task that runs. It waits for one slot at a time. */
export interface BoundedTask {
  /** A signal that aborts on a time-out, when the caller gives up, and when the gateway stops. */
  readonly signal: AbortSignal;
  /** Runs a part of the task in a slot. The wait for the slot has a separate time-out, and does not count towards the time-out of the work. */
  run<T>(slots: Slots, work: () => Promise<T>): Promise<T>;
}

/** A time-out that counts only the time between `start` and `stop`. */
class PausableTimeout {
  readonly #onEnd: () => void;
  /** The time that is left, in milliseconds. */
  #left: number;
  #begun = 0;
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor(ms: number, onEnd: () => void) {
    this.#left = ms;
    this.#onEnd = onEnd;
  }

  start(): void {
    this.#begun = performance.now();
    this.#timer = setTimeout(this.#onEnd, this.#left);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#left -= performance.now() - this.#begun;
  }
}

class TimedTask implements BoundedTask {
  readonly signal: AbortSignal;
  readonly #key: string;
  readonly #work: PausableTimeout;
  readonly #wait: PausableTimeout;
  #isWaiting = false;

  constructor(workMs: number, waitMs: number, key: string, others: readonly AbortSignal[]) {
    const late = new AbortController();
    this.signal = AbortSignal.any([late.signal, ...others]);
    this.#key = key;
    this.#work = new PausableTimeout(workMs, () => late.abort());
    this.#wait = new PausableTimeout(waitMs, () => late.abort());
    this.#work.start();
  }

  /** True while the task waits for a slot, and after the time-out of its waits. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  run<T>(slots: Slots, work: () => Promise<T>): Promise<T> {
    this.#work.stop();
    this.#wait.start();
    this.#isWaiting = true;
    return slots.run(this.#key, this.signal, () => {
      this.#isWaiting = false;
      this.#wait.stop();
      this.#work.start();
      return work();
    });
  }

  clear(): void {
    this.#work.stop();
    this.#wait.stop();
  }
}

/** Runs work that ends on a time-out, when its caller gives up, and when the gateway stops. */
export class BoundedWork {
  readonly #timeoutMs: number;
  readonly #turnMs: number;
  readonly #late: (isWaiting: boolean) => MediaFailure;
  readonly #closing = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();

  /**
   * `timeoutMs`: the time-out of each task. `turnMs`: the time-out of all waits of a task for its slots. `late` makes the refusal for a time-out of the work or
   * of the waits.
   */
  constructor(timeoutMs: number, late: (isWaiting: boolean) => MediaFailure, turnMs = timeoutMs) {
    this.#timeoutMs = timeoutMs;
    this.#turnMs = turnMs;
    this.#late = late;
  }

  /** Runs the work. A `MediaFailure` of the work and an abort become refusals. Other errors reject. `key`: the key of the task in slots. */
  run<T>(work: (task: BoundedTask) => Promise<T>, given?: AbortSignal, key = ''): Promise<Result<T>> {
    const task = new TimedTask(this.#timeoutMs, this.#turnMs, key, [this.#closing.signal, ...(given ? [given] : [])]);
    const { signal } = task;
    const cut = (error: unknown): never => {
      if (error instanceof MediaFailure || !signal.aborted) throw error;
      if (this.#closing.signal.aborted) throw new MediaFailure('unavailable', 'the server is stopping');
      if (given?.aborted) throw new MediaFailure('unavailable', 'the file was not waited for any longer');
      throw this.#late(task.isWaiting);
    };
    const working = (signal.aborted ? Promise.reject(signal.reason) : work(task)).catch(cut).finally(() => task.clear());
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

/**
 * Limits the number of concurrent tasks, in total and for each key, such as an instance. Further tasks wait. Keys with waiting tasks take turns, and the
 * tasks of one key keep their order.
 */
export class Slots {
  readonly #perKey: number;
  readonly #isStrict: boolean;
  #free: number;
  readonly #taken = new Map<string, number>();
  /** The waiting tasks by key, in the order in which the keys take turns. A key without waiting tasks is absent. */
  readonly #lines = new Map<string, Set<() => void>>();

  /**
   * `perKey`: the largest number of slots of one key; half of all slots by default. The remaining slots are left for other keys. `isStrict`: false if a key may
   * take more slots while no other key waits. Use false for tasks that end soon.
   */
  constructor(
    size: number,
    { perKey = Math.ceil(size / 2), isStrict = true }: { readonly perKey?: number; readonly isStrict?: boolean } = {},
  ) {
    this.#free = size;
    this.#perKey = perKey;
    this.#isStrict = isStrict;
  }

  /** Returns the number of waiting tasks of the key. */
  waiting(key: string): number {
    return this.#lines.get(key)?.size ?? 0;
  }

  /** Runs the work when a slot is free for the key. If the signal aborts before, rejects with the reason of the signal. */
  async run<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#turn(key, signal);
    try {
      return await work();
    } finally {
      this.#release(key);
    }
  }

  #hasRoom(key: string): boolean {
    if (this.#free === 0) return false;
    return (this.#taken.get(key) ?? 0) < this.#perKey || (!this.#isStrict && [...this.#lines.keys()].every((one) => one === key));
  }

  #occupy(key: string): void {
    this.#free -= 1;
    this.#taken.set(key, (this.#taken.get(key) ?? 0) + 1);
  }

  #release(key: string): void {
    this.#free += 1;
    const left = (this.#taken.get(key) ?? 1) - 1;
    if (left > 0) this.#taken.set(key, left);
    else this.#taken.delete(key);
    for (const [next, line] of this.#lines) {
      const [enter] = line;
      if (!enter || !this.#hasRoom(next)) continue;
      this.#occupy(next);
      enter();
      // The key takes its next turn after all other keys.
      if (this.#lines.delete(next)) this.#lines.set(next, line);
      return;
    }
  }

  async #turn(key: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#hasRoom(key)) return this.#occupy(key);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const line = this.#lines.get(key) ?? new Set();
    const leave = (): void => {
      line.delete(enter);
      if (line.size === 0) this.#lines.delete(key);
      signal.removeEventListener('abort', abort);
    };
    const enter = (): void => (leave(), resolve());
    const abort = (): void => (leave(), reject(signal.reason));
    line.add(enter);
    this.#lines.set(key, line);
    signal.addEventListener('abort', abort);
    await promise;
  }
}
