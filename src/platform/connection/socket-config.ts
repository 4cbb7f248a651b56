/** How Baileys is configured for an instance, and why. */
import { DEFAULT_CONNECTION_CONFIG, PROCESSABLE_HISTORY_TYPES, type UserFacingSocketConfig, proto } from '@whiskeysockets/baileys';
import type { OpenOptions } from '#actors/ports.ts';
import { statusJid } from '../jid.ts';
import type { AuthState } from '../keys/auth-state.ts';
import type { BaileysLogger } from './baileys-logger.ts';
import { ratchetsOf } from '../keys/ratchets.ts';
import { finalForm } from '../outbound/forms.ts';
import type { LiveRoute } from '../proxy/route.ts';
import type { GroupCache } from './group-cache.ts';
import { createTtlCache } from './ttl-cache.ts';

/** Longest delay of a timer: the library makes the first QR text only, `PairingOffer` makes the others. */
const never = 2 ** 31 - 1;
const minute = 60_000;

/** Recent history only: a full one is years of messages. */
export const historyWanted = ({ syncType }: proto.Message.IHistorySyncNotification): boolean =>
  syncType !== proto.HistorySync.HistorySyncType.FULL && PROCESSABLE_HISTORY_TYPES.some((known) => known === syncType);

export interface SocketParts {
  /** Null: the platform's own address, as compiled into the library. */
  readonly url: string | null;
  readonly auth: AuthState;
  readonly open: OpenOptions;
  readonly logger: BaileysLogger;
  readonly route: LiveRoute;
  readonly groups: Pick<GroupCache, 'metadata'>;
  /** Time without a frame after which a connection counts as dead. */
  readonly silenceMs: number;
  readonly getMessage: NonNullable<UserFacingSocketConfig['getMessage']>;
  /** The library is being given a request to send a message again. */
  resending(): boolean;
}

/** What the phone's list of devices shows: `Chrome (Dormouse)`. A name with "android" in it would make the session pose as a phone. */
export const browserOf = ({ browser, systemName }: OpenOptions): [string, string, string] => {
  const wanted = browser?.trim() ?? '';
  const usable = wanted !== '' && wanted.toLowerCase() !== 'auto' && !wanted.toLowerCase().includes('android');
  return [systemName?.trim() || 'Dormouse', usable ? wanted : 'Chrome', '1.0'];
};

export const socketConfig = (parts: SocketParts): UserFacingSocketConfig => ({
  ...(parts.url === null ? {} : { waWebSocketUrl: parts.url }),
  auth: parts.auth.state,
  makeSignalRepository: ratchetsOf(parts.auth.ratchets),
  logger: parts.logger,
  browser: browserOf(parts.open),
  // None: the session has deadlines of its own, and with one here each frame costs a timer and two stack traces.
  connectTimeoutMs: 0,
  // Three pings are missed before a connection counts as dead, however short that time is.
  keepAliveIntervalMs: Math.min(minute / 2, parts.silenceMs / 3),
  defaultQueryTimeoutMs: minute,
  qrTimeout: never,
  // The gateway records its own messages; the library's echo costs more than the send.
  emitOwnEvents: false,
  // Otherwise the phone stays silent while the gateway is connected.
  markOnlineOnConnect: false,
  syncFullHistory: false,
  shouldSyncHistoryMessage: historyWanted,
  // Requests to send an own post again come from the chat of the stories too.
  // Status posts: nobody asked for them, and they outnumber messages. People, groups, channels, bots and lists pass.
  shouldIgnoreJid: (jid) => jid === statusJid && !parts.resending(),
  cachedGroupMetadata: (jid) => parts.groups.metadata(jid),
  getMessage: parts.getMessage,
  patchMessageBeforeSending: finalForm,
  userDevicesCache: createTtlCache(5 * minute, 5_000),
  msgRetryCounterCache: createTtlCache(60 * minute, 500),
  callOfferCache: createTtlCache(5 * minute, 50),
  placeholderResendCache: createTtlCache(60 * minute, 200),
  ...routeOf(parts.route),
});

/** What the library fetches takes the same way as the socket. */
const routeOf = ({ agent, fetchAgent, fetchDispatcher: dispatcher }: LiveRoute): Partial<UserFacingSocketConfig> => ({
  options: dispatcher === undefined ? DEFAULT_CONNECTION_CONFIG.options : ({ dispatcher } as object),
  ...(agent === undefined ? {} : { agent }),
  ...(fetchAgent === undefined ? {} : { fetchAgent }),
});
