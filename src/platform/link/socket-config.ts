/** The configuration of Baileys for an instance, with its reasons. */
import type { PossiblyExtendedCacheStore, UserFacingSocketConfig, WAVersion } from '@whiskeysockets/baileys';
import { Dispatcher1Wrapper } from 'undici';
import type { OpenOptions } from '#actors/ports.ts';
import { LruMap } from '#src/base/lru-map.ts';
import type { BaileysLogger } from '../app-state/baileys-logger.ts';
import type { GroupCache } from '../events/group-cache.ts';
import { historyWanted } from '../inbound/arrivals.ts';
import type { AuthState } from '../keys/auth-state.ts';
import { type KeyJudge, watchSharedKeys } from '../keys/forged-keys.ts';
import { ratchetsOf } from '../keys/ratchets.ts';
import type { HistoryFiles } from '../outbound/history-files.ts';
import { finalForm } from '../outbound/stanza.ts';
import type { LiveRoute } from '../proxy/route.ts';
import { statusJid } from '../wire/jid.ts';
import { browserOf } from './link-code.ts';

// Caches for the library.

/** Makes a small cache with the interface that Baileys expects. The default caches of Baileys have a timer each, and no limit of entries. */
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
 * Makes the cache of device lists. After a miss, the library queries a list, and stores it some time later. If the list is deleted in between, the answer
 * may be outdated, and is not stored.
 */
export const createDeviceCache = (): PossiblyExtendedCacheStore => {
  const cache = createTtlCache(5 * minute, usersKept);
  const asked = new LruMap<true>(usersKept);
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

/** The longest delay of a timer, in milliseconds. With it the library makes no further QR texts. `PairingOffer` makes them. */
const never = 2 ** 31 - 1;

interface SocketParts {
  /** The address of the platform. Null for the library's built-in address. */
  readonly url: string | null;
  readonly version: WAVersion;
  readonly auth: AuthState;
  readonly forgedKeys: KeyJudge;
  readonly open: OpenOptions;
  readonly logger: BaileysLogger;
  readonly route: LiveRoute;
  /** Fetches files of the media hosts for the library. */
  readonly files: Pick<HistoryFiles, 'dispatcher'>;
  readonly groups: Pick<GroupCache, 'metadata'>;
  /** The time without a frame after which a connection counts as dead. In milliseconds. */
  readonly silenceMs: number;
  /** Reports a message under an unknown identity key. `address`: the address of its Signal session. */
  identityReplaced(address: string): void;
  /** Reports that the library lacks a key of the shared state. */
  keyMissing(id: string): void;
  readonly getMessage: NonNullable<UserFacingSocketConfig['getMessage']>;
  /** Returns true while the library handles a request to send a message again. */
  resending(): boolean;
}

export const socketConfig = (parts: SocketParts): UserFacingSocketConfig => ({
  ...(parts.url === null ? {} : { waWebSocketUrl: parts.url }),
  version: parts.version,
  auth: { creds: parts.auth.state.creds, keys: watchSharedKeys(parts.auth.state.keys, parts.keyMissing) },
  makeSignalRepository: ratchetsOf(parts.auth.ratchets, parts.forgedKeys, parts.identityReplaced),
  logger: parts.logger,
  browser: browserOf(parts.open),
  // 0 disables the library's time-out. The session has its own deadlines, and the time-out costs a timer and two stack traces for each frame.
  connectTimeoutMs: 0,
  // A connection counts as dead only after three missed pings, even if the limit is short.
  keepAliveIntervalMs: Math.min(minute / 2, parts.silenceMs / 3),
  defaultQueryTimeoutMs: minute,
  qrTimeout: never,
  // The gateway records its own messages, so the library's echo is not needed. The echo would cost more than the send.
  emitOwnEvents: false,
  // If the gateway were online, the phone would show no notifications.
  markOnlineOnConnect: false,
  syncFullHistory: false,
  // The library does not verify MACs by default. With these settings it skips a patch with a wrong MAC, and reads a collection with a wrong MAC again
  // from its snapshot.
  appStateMacVerification: { patch: true, snapshot: true },
  shouldSyncHistoryMessage: historyWanted,
  // Status posts are ignored, because they are unwanted and outnumber messages. Requests to send an own status post again come from the same chat, and
  // are not ignored.
  shouldIgnoreJid: (jid) => jid === statusJid && !parts.resending(),
  cachedGroupMetadata: (jid) => parts.groups.metadata(jid),
  getMessage: parts.getMessage,
  patchMessageBeforeSending: finalForm,
  userDevicesCache: createDeviceCache(),
  msgRetryCounterCache: createTtlCache(60 * minute, 500),
  callOfferCache: createTtlCache(5 * minute, 50),
  placeholderResendCache: createTtlCache(60 * minute, 200),
  ...routeOf(parts),
});

/**
 * Routes the library's own HTTP requests like the socket. The library uses Node's `fetch`, whose version of undici may be older than that of the
 * dispatcher. The wrapper supports both.
 */
const routeOf = ({ route: { agent, fetchAgent }, files }: SocketParts): Partial<UserFacingSocketConfig> => ({
  options: { dispatcher: new Dispatcher1Wrapper(files.dispatcher) } as object,
  ...(agent === undefined ? {} : { agent }),
  ...(fetchAgent === undefined ? {} : { fetchAgent }),
});
