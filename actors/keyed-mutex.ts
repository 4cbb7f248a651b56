/** A mutex for each key: tasks of one key run one after the other, in the order of the calls; those of different keys run side by side. */

export interface KeyedMutex {
  /**
   * Runs `task` when all earlier tasks of the key have let go, and answers with its outcome. The next one goes on when `task` calls `release` or
   * ends, either way.
   */
  run<T>(key: string, task: (release: () => void) => Promise<T>): Promise<T>;
}

export function createKeyedMutex(): KeyedMutex {
  const tails = new Map<string, Promise<void>>();
  return {
    async run(key, task) {
      const before = tails.get(key);
      const { promise, resolve } = Promise.withResolvers<void>();
      tails.set(key, promise);
      const release = (): void => {
        resolve();
        if (tails.get(key) === promise) tails.delete(key);
      };
      if (before) await before;
      try {
        return await task(release);
      } finally {
        release();
      }
    },
  };
}

/** A mutex of one key. */
export const createMutex = (): (<T>(task: () => Promise<T>) => Promise<T>) => {
  const mutex = createKeyedMutex();
  return (task) => mutex.run('', task);
};
