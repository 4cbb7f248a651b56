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

type Entries = readonly { readonly key: string; readonly value: unknown }[];

/** A small cache with the interface that Baileys expects. The default caches of Baileys have a timer each, and no limit of entries. */
export class TtlCache implements PossiblyExtendedCacheStore {
  readonly #ttlMs: number;
  readonly #limit: number;
  readonly #now: () => number;
  readonly #entries = new Map<string, { readonly value: unknown; readonly until: number }>();

  constructor(ttlMs: number, limit: number, now: () => number = Date.now) {
    this.#ttlMs = ttlMs;
    this.#limit = limit;
    this.#now = now;
  }

  get<T>(key: string): T | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.until > this.#now()) return entry.value as T;
    this.#entries.delete(key);
    return undefined;
  }

  set(key: string, value: unknown): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, until: this.#now() + this.#ttlMs });
    if (this.#entries.size > this.#limit) for (const oldest of this.#entries.keys()) return void this.#entries.delete(oldest);
  }

  del(key: string): void {
    this.#entries.delete(key);
  }

  flushAll(): void {
    this.#entries.clear();
  }

  close(): void {
    this.#entries.clear();
  }

  async mget<T>(keys: string[]): Promise<Record<string, T | undefined>> {
    const found: Record<string, T | undefined> = {};
    for (const key of keys) found[key] = this.get<T>(key);
    return found;
  }

  mset(values: Entries): void {
    for (const { key, value } of values) this.set(key, value);
  }

  mdel(keys: string[]): void {
    for (const key of keys) this.del(key);
  }
}

const minute = 60_000;
const usersKept = 5_000;

/**
 * The cache of device lists. After a miss, the library queries a list, and stores it some time later. If the list is deleted in between, the answer
 * may be outdated, and is not stored.
 */
export class DeviceCache extends TtlCache {
  readonly #asked = new LruMap<true>(usersKept);

  constructor() {
    super(5 * minute, usersKept);
  }

  override del(user: string): void {
    this.#asked.delete(user);
    super.del(user);
  }

  override async mget<T>(users: string[]): Promise<Record<string, T | undefined>> {
    const found = await super.mget<T>(users);
    for (const user of users) if (found[user] === undefined) this.#asked.set(user, true);
    return found;
  }

  override mset(lists: Entries): void {
    super.mset(lists.filter(({ key }) => this.#asked.get(key)));
  }
}

/** The longest delay of a timer, in milliseconds. With this delay, the library makes no further QR texts and sends no pings. */
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
  /** Reports a message that shows a new identity key. `address`: the address of its Signal session. */
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
  // `KeepAlive` sends the pings.
  keepAliveIntervalMs: never,
  defaultQueryTimeoutMs: minute,
  // `PairingOffer` makes the further QR texts.
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
  userDevicesCache: new DeviceCache(),
  msgRetryCounterCache: new TtlCache(60 * minute, 500),
  callOfferCache: new TtlCache(5 * minute, 50),
  placeholderResendCache: new TtlCache(60 * minute, 200),
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
