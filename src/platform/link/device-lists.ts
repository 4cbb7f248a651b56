/** The caches of the library: small ones with a time to live, and the lists of people's devices. */
import type { PossiblyExtendedCacheStore } from '@whiskeysockets/baileys';
import { createLruMap } from '#src/base/lru-map.ts';

/** A small cache in the shape that Baileys takes, instead of its own, which keep a timer each and copy what they hold. */
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

const minute = 60_000;
const usersKept = 5_000;

/**
 * The library asks for a list after a miss, and waits for further answers before it keeps the list. A list that is deleted meanwhile was asked for too
 * early, and is not kept.
 */
export const createDeviceCache = (): PossiblyExtendedCacheStore => {
  const cache = createTtlCache(5 * minute, usersKept);
  const asked = createLruMap<true>(usersKept);
  const forget = (user: string): void => {
    asked.delete(user);
    void cache.del(user);
  };
  return {
    ...cache,
    async mget<T>(users: string[]) {
      const found: Record<string, T | undefined> = {};
      for (const user of users) {
        const list = (await cache.get<T>(user)) ?? undefined;
        if (list === undefined) asked.set(user, true);
        found[user] = list;
      }
      return found;
    },
    mset(lists) {
      for (const { key, value } of lists) if (asked.get(key)) void cache.set(key, value);
    },
    del: forget,
    mdel: (users) => users.forEach(forget),
  };
};
