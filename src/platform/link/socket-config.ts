/** The configuration of Baileys for an instance, with its reasons. */
import type { PossiblyExtendedCacheStore, UserFacingSocketConfig, WAVersion } from '@whiskeysockets/baileys';
import { Dispatcher1Wrapper } from 'undici';
import type { OpenOptions } from '#actors/ports.ts';
import { createLruMap } from '#src/base/lru-map.ts';
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

// The caches of the library: small ones with a time to live, and the lists of people's devices.

/** A small cache with the interface that Baileys expects. Baileys' own caches keep a timer each and copy their values. */
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

/** The longest delay of a timer. The library makes only the first QR text, and `PairingOffer` makes the others. */
const never = 2 ** 31 - 1;

interface SocketParts {
  /** Null: the platform's own address, as compiled into the library. */
  readonly url: string | null;
  readonly version: WAVersion;
  readonly auth: AuthState;
  readonly forgedKeys: KeyJudge;
  readonly open: OpenOptions;
  readonly logger: BaileysLogger;
  readonly route: LiveRoute;
  /** Fetches files from the media host for the library. */
  readonly files: Pick<HistoryFiles, 'dispatcher'>;
  readonly groups: Pick<GroupCache, 'metadata'>;
  /** Time without a frame after which a connection counts as dead. */
  readonly silenceMs: number;
  /** Reports a message under an unknown identity key. `address`: the address of its Signal session. */
  identityReplaced(address: string): void;
  /** The library lacks a key of the shared state. */
  keyMissing(id: string): void;
  readonly getMessage: NonNullable<UserFacingSocketConfig['getMessage']>;
  /** The library is being given a request to send a message again. */
  resending(): boolean;
}

export const socketConfig = (parts: SocketParts): UserFacingSocketConfig => ({
  ...(parts.url === null ? {} : { waWebSocketUrl: parts.url }),
  version: parts.version,
  auth: { creds: parts.auth.state.creds, keys: watchSharedKeys(parts.auth.state.keys, parts.keyMissing) },
  makeSignalRepository: ratchetsOf(parts.auth.ratchets, parts.forgedKeys, parts.identityReplaced),
  logger: parts.logger,
  browser: browserOf(parts.open),
  // No time-out: the session has deadlines of its own, and a time-out here costs a timer and two stack traces for each frame.
  connectTimeoutMs: 0,
  // Three pings are missed before a connection counts as dead, however short that time is.
  keepAliveIntervalMs: Math.min(minute / 2, parts.silenceMs / 3),
  defaultQueryTimeoutMs: minute,
  qrTimeout: never,
  // The gateway records its own messages. The library's echo costs more than the send.
  emitOwnEvents: false,
  // Otherwise the phone stays silent while the gateway is connected.
  markOnlineOnConnect: false,
  syncFullHistory: false,
  // Off in the library. A patch that fails is skipped, and a collection whose sum is wrong is read again from its snapshot.
  appStateMacVerification: { patch: true, snapshot: true },
  shouldSyncHistoryMessage: historyWanted,
  // Requests to send an own post again come from the chat of the stories too.
  // Status posts: nobody asked for them, and they outnumber messages. People, groups, channels, bots and lists pass.
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
 * Sends the library's own requests the same way as the socket. The library uses Node's `fetch`, whose undici may be older than the dispatcher's: the
 * wrapper speaks to both.
 */
const routeOf = ({ route: { agent, fetchAgent }, files }: SocketParts): Partial<UserFacingSocketConfig> => ({
  options: { dispatcher: new Dispatcher1Wrapper(files.dispatcher) } as object,
  ...(agent === undefined ? {} : { agent }),
  ...(fetchAgent === undefined ? {} : { fetchAgent }),
});
