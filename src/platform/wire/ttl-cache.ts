/** A small cache in the shape that Baileys takes, instead of its own, which keep a timer each and copy what they hold. */
import type { PossiblyExtendedCacheStore } from '@whiskeysockets/baileys';

export const createTtlCache = (ttlMs: number, limit: number, now: () => number = Date.now): PossiblyExtendedCacheStore => {
  const entries = new Map<string, { readonly value: unknown; readonly until: number }>();
  const get = <T>(key: string): T | undefined => {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.until > now()) return entry.value as T;
    entries.delete(key);
    return undefined;
  };
  const set = (key: string, value: unknown): void => {
    entries.delete(key);
    entries.set(key, { value, until: now() + ttlMs });
    if (entries.size > limit) for (const oldest of entries.keys()) return void entries.delete(oldest);
  };
  return {
    get,
    set,
    del: (key) => void entries.delete(key),
    flushAll: () => entries.clear(),
    close: () => entries.clear(),
    async mget<T>(keys: string[]) {
      const found: Record<string, T | undefined> = {};
      for (const key of keys) found[key] = get<T>(key);
      return found;
    },
    mset: (values) => values.forEach(({ key, value }) => set(key, value)),
    mdel: (keys) => keys.forEach((key) => entries.delete(key)),
  };
};
