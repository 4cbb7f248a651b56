/** Turns: those of one key one after the other, those of different keys side by side. */

export interface Line {
  /** Runs `task` when it is its turn; the next of the same key goes on when `task` calls `done` or ends. */
  run<T>(key: string, task: (done: () => void) => Promise<T>): Promise<T>;
}

export function createLine(): Line {
  const tails = new Map<string, Promise<void>>();
  return {
    async run(key, task) {
      const before = tails.get(key);
      const { promise, resolve } = Promise.withResolvers<void>();
      tails.set(key, promise);
      const done = (): void => {
        resolve();
        if (tails.get(key) === promise) tails.delete(key);
      };
      if (before) await before;
      try {
        return await task(done);
      } finally {
        done();
      }
    },
  };
}
