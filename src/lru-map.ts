/** A bounded memory of what was used last. */

export interface LruMap<T> {
  get(key: string): T | undefined;
  set(key: string, value: T): void;
  delete(key: string): void;
}

/**
 * Keeps the `limit` entries that were used last, and at most twice as many. Two generations: what is used moves to the young one, and when that
 * is full the old one is dropped. One map in the order of use would be rewritten with every read.
 */
export const createLruMap = <T>(limit: number): LruMap<T> => {
  let young = new Map<string, T>();
  let old = new Map<string, T>();
  const keep = (key: string, value: T): void => {
    young.set(key, value);
    if (young.size <= limit) return;
    old = young;
    young = new Map();
  };
  return {
    get(key) {
      const value = young.get(key);
      if (value !== undefined) return value;
      const older = old.get(key);
      if (older !== undefined) keep(key, older);
      return older;
    },
    set: keep,
    delete(key) {
      young.delete(key);
      old.delete(key);
    },
  };
};
