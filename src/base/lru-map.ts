/** A map of bounded size that keeps the most recently used entries. */

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
 * Keeps at least the `limit` most recently used entries, and at most twice as many. `maxBytes` bounds the sum of their sizes to twice `maxBytes` plus the size
 * of one entry. There are two generations. A used entry moves to the young generation. When the young generation is full, the old one is dropped. A single map
 * in the order of use would need a deletion and an insertion at every read.
 */
export class LruMap<T> {
  readonly #limit: number;
  readonly #maxBytes: number;
  #young = new Generation<T>();
  #old = new Generation<T>();

  constructor(limit: number, maxBytes = Infinity) {
    this.#limit = limit;
    this.#maxBytes = maxBytes;
  }

  get(key: string): T | undefined {
    const value = this.#young.values.get(key);
    if (value !== undefined) return value;
    const older = this.#old.values.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  /** `bytes`: the size of the entry. Without `bytes`, an existing entry keeps its size, and a new entry counts 0. */
  set(key: string, value: T, bytes = this.#sizeOf(key)): void {
    this.#young.values.set(key, value);
    if (this.#maxBytes !== Infinity) this.#young.weigh(key, bytes);
    this.#retire();
  }

  /** Sets the size of an entry after it was added. Does nothing for a missing entry. */
  weigh(key: string, bytes: number): void {
    const generation = this.#young.values.has(key) ? this.#young : this.#old;
    if (generation.values.has(key)) generation.weigh(key, bytes);
    this.#retire();
  }

  delete(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  #sizeOf(key: string): number {
    return this.#young.size(key) ?? this.#old.size(key) ?? 0;
  }

  #retire(): void {
    if (this.#young.values.size <= this.#limit && this.#young.bytes <= this.#maxBytes) return;
    this.#old = this.#young;
    this.#young = new Generation();
  }
}
