/** All constants of reconnection, admission and delivery in one record. `config/` supplies the values, and tests shorten them. Times in milliseconds. */
import type { Pace, SlotLimits } from './pacing.ts';
import type { CampaignPolicy } from './campaign-policy.ts';
import type { GateLimits, OutageRule } from './gate.ts';
import type { ProxyPolicy } from './proxy-choice.ts';

export interface Policy {
  /**
   * Back-off: `U(0.5, 1) · min(max, min · 2^n)`. A connection of at least `stable` resets `n` to 0. A connect call ends the wait early, at
   * most once within `cutEvery`.
   */
  readonly reconnect: { readonly min: number; readonly max: number; readonly stable: number; readonly cutEvery: number };
  /** The number of consecutive closes for an unknown reason, without an open connection between them, after which reconnecting stops. */
  readonly unknownCloseLimit: number;
  /** The number of restarts by the platform (515, 516) within `window` that reconnect without a back-off. */
  readonly restarts: { readonly limit: number; readonly window: number };
  /** A session that another login took over (440) reconnects once, after a random delay U(min, max). A second takeover within `window` is final. */
  readonly replaced: { readonly min: number; readonly max: number; readonly window: number };
  /** The crash limit: after `limit` crashes within `window`, the session is stopped for `cooldown`. */
  readonly crash: { readonly limit: number; readonly window: number; readonly cooldown: number };
  readonly handshakes: GateLimits;
  readonly maxConnected: number;
  /** The connections that calls of clients may begin on one instance. Calls that join a connection do not count. */
  readonly connects: Pace;
  /** The lifetime of a QR code and of a pairing code. */
  readonly pairing: { readonly qr: number; readonly code: number };
  /** The longest wait of `connect` for a QR, a code or a connection. */
  readonly connectAnswer: number;
  /** The longest wait of a call for a hibernated instance to wake. */
  readonly wakeTimeout: number;
  /** The time-out of one operation on the platform. */
  readonly operationTimeout: number;
  /** The time-out of a connection that is opened only to unlink the device, before the credentials are deleted. */
  readonly unlinkTimeout: number;
  /**
   * `after`: the idle time before hibernation; 0 for never. `wakeEvery`: the period of wake-ups. `drain`: the idle time after which a woken instance
   * hibernates again.
   */
  readonly hibernation: { readonly after: number; readonly wakeEvery: number; readonly drain: number };
  readonly outage: OutageRule;
  readonly proxies: ProxyPolicy;
  /** The limits of the asynchronous queue of one instance. */
  readonly queue: QueueLimits;
  readonly lookups: LookupPolicy;
  readonly campaigns: CampaignPolicy;
  /** The shortest time between two forced listings of all groups. */
  readonly groups: { readonly forceEvery: number };
  readonly pictures: PicturePolicy;
  /** The largest number of recipients of one status post. */
  readonly statusRecipients: number;
  /** The lifetime of an idempotency key. */
  readonly sendKeyAge: number;
  /** The largest number of chats of one instance with visible typing at once. */
  readonly typingAtOnce: number;
  readonly chatbot: ChatbotPolicy;
  readonly recorder: { readonly maxWait: number; readonly maxBatch: number };
  readonly delivery: DeliveryPolicy;
  readonly retention: Retention;
  readonly autoDownload: AutoDownload;
  readonly chatwoot: ChatwootPolicy;
  readonly webhooksPerInstance: number;
  /** The largest number of lead tags of one instance, and of quick replies that the gateway stores for the instance. */
  readonly definitionsPerInstance: number;
  readonly adminRotateCooldown: number;
  /** The bounds of the audit log. `age`: unlimited if 0. `most`: the largest number of entries, separately for instance tokens and for all other callers. */
  readonly audit: { readonly age: number; readonly most: number };
  /** The time between two log lines with the totals of `GET /admin/numbers`; 0 or absent for no lines. */
  readonly numbersEvery?: number;
  /** The longest time for which a stop waits for storage and receivers. The next start continues unfinished work. */
  readonly stopGrace?: number;
  /** The time-out of a post to a webhook. A session that moves to another node waits this long for posts in flight. */
  readonly postTimeout?: number;
}

/** The media that is downloaded on arrival. */
export interface AutoDownload {
  /** `image`, `video`, `audio`, `document`, `sticker`; empty for none. */
  readonly kinds: readonly string[];
  /** The size limit of one file. In bytes. */
  readonly most: number;
  /** The longest time for which the event of a message waits for its file. In milliseconds. */
  readonly wait: number;
}

/** Retention times of stored data; unlimited if 0. In milliseconds. Past deliveries have separate limits (`DeliveryPolicy.kept`). */
interface Retention {
  readonly messages: number;
  /** The age at which receipts are replaced by counts. */
  readonly receipts: number;
  /** The retention time of a file after its last use. */
  readonly files: number;
  /** The size limit of all files together; 0 for no limit. In bytes. */
  readonly fileBytes: number;
}

export interface QueueLimits {
  /** The largest number of waiting messages. */
  readonly items: number;
  /** The longest wait of a message. In milliseconds. */
  readonly age: number;
}

/** The pace and the cost limits of the chatbot. */
export interface ChatbotPolicy {
  /** Texts with pauses of less than `pause` between them form one question. The first text waits at most `longestPause`. */
  readonly pause: number;
  readonly longestPause: number;
  /** The largest number of texts in a question. */
  readonly burst: number;
  /** The largest age of a message that is answered. */
  readonly fresh: number;
  /** The largest number of concurrent requests to model services: for all instances, and for one instance. */
  readonly atOnce: { readonly total: number; readonly perInstance: number };
  /** The time-out of one request to a model service. */
  readonly timeout: number;
  /** The largest number of retries after a transient failure. `retry`: the bounds of their back-off. */
  readonly retries: number;
  readonly retry: { readonly min: number; readonly max: number };
  readonly circuit: { readonly failures: number; readonly min: number; readonly max: number };
  /** The token limit of one instance for one day; 0 for no limit. */
  readonly tokensPerDay: number;
  /** The token limit of one answer. */
  readonly answerTokens: number;
  /** The largest number of further requests with tool results for one answer. `toolCalls`: the largest number of tool calls of one answer. */
  readonly toolRounds: number;
  readonly toolCalls: number;
  /** The largest number of messages in one answer. */
  readonly pieces: number;
  /** The largest number of answers per minute in one conversation. */
  readonly answersPerMinute: number;
  /** The largest number of answers in one conversation. A conversation ends after a minute of silence. */
  readonly answersInARow: number;
  /** The largest number of answers in one chat within a UTC day. */
  readonly answersPerDay: number;
  /** The largest number of conversations of one instance. A conversation counts for a minute after its last answer. */
  readonly conversations: number;
}

/** Limits of number look-ups before the first message. Ages in milliseconds. */
export interface LookupPolicy {
  /** The rate limit of one session. */
  readonly pace: Pace;
  /** `knownFor`: the cache lifetime of look-ups that found an account. `absentFor`: the cache lifetime of look-ups that found none. */
  readonly knownFor: number;
  readonly absentFor: number;
}

/** Limits of look-ups of people's and groups' pictures. */
export interface PicturePolicy {
  /** The rate limit of one session. */
  readonly pace: Pace;
  /** The cache lifetime of an answer. In milliseconds. */
  readonly age: number;
  /** The largest number of people and groups of one session that wait for a look-up. */
  readonly waiting: number;
  /** The largest number of cached answers of one session. */
  readonly remembered: number;
}

/** Limits of the Chatwoot connector. Times in milliseconds. */
export interface ChatwootPolicy {
  /** The largest size of a file that is sent to Chatwoot. In bytes. */
  readonly fileBytes: number;
  /** The retention time of the links between messages on the platform and in Chatwoot. */
  readonly keep: number;
  /** The longest time for which an agent's message waits for a session that is not connected. */
  readonly replyWait: number;
  /** The largest number of agents' messages that wait for one instance. Further messages fail in Chatwoot. */
  readonly waiting: number;
  /** The largest number of agents' messages in flight: for all instances, and for one instance. */
  readonly atOnce: number;
  readonly atOncePerInstance: number;
}

export interface DeliveryPolicy {
  /** The largest number of parallel lanes of one webhook. */
  readonly concurrency: number;
  /** The delays before the first attempts, during which the lane is blocked. The first delay is 0. */
  readonly quick: readonly number[];
  /** The delays before later attempts. The row is parked meanwhile. */
  readonly slow: readonly number[];
  /** The number of consecutive failures that open the circuit breaker, and the back-off between probes. */
  readonly circuit: { readonly failures: number; readonly min: number; readonly max: number };
  /** The memory limit for one webhook and instance: rows, and bytes of their bodies. Further rows wait in the database. */
  readonly inMemory: number;
  readonly inMemoryBytes: number;
  /** The longest `Retry-After` that is obeyed. A longer value is cut to this limit. */
  readonly retryAfterMax: number;
  /** The largest number of posts in flight: for all webhooks together, and for one host. */
  readonly atOnce: SlotLimits;
  /** The limits of waiting deliveries of one webhook: rows, bytes of their bodies, age of the event. */
  readonly bounds: { readonly rows: number; readonly bytes: number; readonly age: number };
  /** The limits of past deliveries: rows of a webhook (delivered and dead rows separately), and ages of the events (0: none are kept). */
  readonly kept: { readonly rows: number; readonly delivered: number; readonly dead: number };
  /** The period of the check of these limits. */
  readonly sweepEvery: number;
}

/** The delay of a retry after the cap of connected sessions was reached. In milliseconds. */
export const capRetryMs = 60_000;

export const usualStopGrace = 3_000;

export { addTime, backOff, between } from './pacing.ts';
