/** A bounded memory of what was used last. */

export interface Recent<T> {
  get(key: string): T | undefined;
  set(key: string, value: T): void;
  delete(key: string): void;
}

/** Insertion order is the order of use: the first entry is the one that was not used for longest. */
export const createRecent = <T>(limit: number): Recent<T> => {
  const entries = new Map<string, T>();
  return {
    get(key) {
      const value = entries.get(key);
      if (value === undefined) return undefined;
      entries.delete(key);
      entries.set(key, value);
      return value;
    },
    set(key, value) {
      entries.delete(key);
      entries.set(key, value);
      if (entries.size > limit) for (const oldest of entries.keys()) return void entries.delete(oldest);
    },
    delete: (key) => void entries.delete(key),
  };
};
