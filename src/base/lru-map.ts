/** A map of bounded size that keeps the most recently used entries. */

export interface LruMap<T> {
  get(key: string): T | undefined;
  /** `bytes`: the size of the entry. Without `bytes`, an existing entry keeps its size, and a new entry counts 0. */
  set(key: string, value: T, bytes?: number): void;
  /** Sets the size of an entry after it was added. Does nothing for a missing entry. */
  weigh(key: string, bytes: number): void;
  delete(key: string): void;
}

class Generation<T> {
  readonly values = new Map<string, T>();
  readonly #sizes = new Map<string, number>();
  bytes = 0;

  size(key: string): number | undefined {
    return this.#sizes.get(key);
  }

  weigh(key: string, bytes: number): void {
    this.bytes += bytes - (this.#sizes.get(key) ?? 0);
    if (bytes > 0) this.#sizes.set(key, bytes);
    else this.#sizes.delete(key);
  }

  delete(key: string): void {
    this.weigh(key, 0);
    this.values.delete(key);
  }
}

/**
 * Keeps at least the `limit` most recently used entries, and at most twice as many. `maxBytes` bounds the sum of their sizes: at most twice `maxBytes`
 * and one entry are kept. There are two generations. A used entry moves to the young generation. When the young generation is full, the old one is
 * dropped. A single map in the order of use would be rewritten with every read.
 */
export const createLruMap = <T>(limit: number, maxBytes = Infinity): LruMap<T> => {
  let young = new Generation<T>();
  let old = new Generation<T>();
  const retire = (): void => {
    if (young.values.size <= limit && young.bytes <= maxBytes) return;
    old = young;
    young = new Generation();
  };
  const keep = (key: string, value: T, bytes: number): void => {
    young.values.set(key, value);
    if (maxBytes !== Infinity) young.weigh(key, bytes);
    retire();
  };
  const sizeOf = (key: string): number => young.size(key) ?? old.size(key) ?? 0;
  return {
    get(key) {
      const value = young.values.get(key);
      if (value !== undefined) return value;
      const older = old.values.get(key);
      if (older !== undefined) keep(key, older, sizeOf(key));
      return older;
    },
    set: (key, value, bytes = sizeOf(key)) => keep(key, value, bytes),
    weigh(key, bytes) {
      const generation = young.values.has(key) ? young : old;
      if (generation.values.has(key)) generation.weigh(key, bytes);
      retire();
    },
    delete(key) {
      young.delete(key);
      old.delete(key);
    },
  };
};
