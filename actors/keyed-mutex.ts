/** A mutex for each key. Tasks of one key run in the order of the calls, and tasks of different keys run in parallel. */

export interface KeyedMutex {
  /**
   * Runs `task` when all earlier tasks of the key have released the mutex, and returns the outcome. The next task starts when `task` calls `release`
   * or ends with any outcome.
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

/** Creates a mutex with a single key. */
export const createMutex = (): (<T>(task: () => Promise<T>) => Promise<T>) => {
  const mutex = createKeyedMutex();
  return (task) => mutex.run('', task);
};
