/** At most so many at once; the others wait in the order in which they came. */

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
