/** Repeats work until the storage takes it: a session must neither lose nor refuse what arrives while the storage is away or busy. */
import type { Log } from '#actors/ports.ts';
import { StorageFailure } from '#actors/ports.ts';

const firstMs = 50;
const longestMs = 2_000;

export interface StorageRetry {
  /** Tries until it works, with a growing pause. Rejects with any error but `StorageFailure`; with that only after `giveUp`. */
  wait<T>(what: string, work: () => Promise<T>): Promise<T>;
  /** Work that waits now rejects; work that begins later waits again. */
  giveUp(): void;
}

export const createStorageRetry = (log: Log, instance: string): StorageRetry => {
  let round = 0;
  const pausing = new Set<() => void>();

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        pausing.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      pausing.add(wake);
    });

  return {
    async wait(what, work) {
      const begun = round;
      for (let ms = firstMs; ; ms = Math.min(ms * 2, longestMs)) {
        try {
          return await work();
        } catch (error) {
          if (!(error instanceof StorageFailure) || begun !== round) throw error;
          log.warn({ instance, what, retryInMs: ms }, 'platform.storage-away');
        }
        await pause(ms);
      }
    },
    giveUp() {
      round += 1;
      for (const wake of pausing) wake();
    },
  };
};
