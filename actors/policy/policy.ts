/** All constants of reconnection, admission and delivery in one record. `config/` supplies the values, and tests shorten them. Times in milliseconds. */
import type { Pace, SlotLimits } from './pacing.ts';
import type { CampaignPolicy } from './campaign-policy.ts';
import type { GateLimits, OutageRule } from './gate.ts';
import type { ProxyPolicy } from './proxy-choice.ts';

export interface Policy {
  /**
   * Back-off: `U(0.5, 1) · min(max, min · 2^n)`. `n` returns to 0 after a connection of at least `stable`. A connect call cuts the wait short, once
   * in `cutEvery`.
   */
  readonly reconnect: { readonly min: number; readonly max: number; readonly stable: number; readonly cutEvery: number };
  /** The number of consecutive unknown closes without an open connection after which the instance is refused. */
  readonly unknownCloseLimit: number;
  /** The number of restarts by the platform (515) within `window` that do not count as failures. */
  readonly restarts: { readonly limit: number; readonly window: number };
  /** A session that another login took over (440) makes one attempt after U(min, max). A second takeover within `window` is final. */
  readonly replaced: { readonly min: number; readonly max: number; readonly window: number };
  /** The crash limit: after `limit` crashes within `window`, the session is stopped for `cooldown`. */
  readonly crash: { readonly limit: number; readonly window: number; readonly cooldown: number };
  readonly handshakes: GateLimits;
  readonly maxConnected: number;
  /** The lifetime of a QR code and of a pairing code. */
  readonly pairing: { readonly qr: number; readonly code: number };
  /** The longest wait of `connect` for a QR, a code or a connection. */
  readonly connectAnswer: number;
  /** The longest wait of a call for a hibernated instance to wake. */
  readonly wakeTimeout: number;
  /** The time-out of one operation on the platform. */
  readonly operationTimeout: number;
  /** The longest login of a session that is not connected and has to unlink its device before its credentials are deleted. */
  readonly unlinkTimeout: number;
  /** Hibernation: the idle time before it (0: never), the period of wake-ups, and the idle time after which a woken instance hibernates again. */
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
  /** The largest number of lead tags, and of quick replies in the gateway, for one instance. */
  readonly definitionsPerInstance: number;
  readonly adminRotateCooldown: number;
  /** The bounds of the audit log. `age` is 0 for ever. `most` counts the entries of instance tokens apart from all others. */
  readonly audit: { readonly age: number; readonly most: number };
  /** The period with which the figures of quality are logged; 0 or absent for never. */
  readonly numbersEvery?: number;
  /** The longest wait of a stop for storage and receivers. The next start continues unfinished work. */
  readonly stopGrace?: number;
  /** The time-out of a post to a webhook. In milliseconds. A session that moves waits as long for posts in flight. */
  readonly postTimeout?: number;
}

/** The media that is downloaded on arrival. */
export interface AutoDownload {
  /** `image`, `video`, `audio`, `document`, `sticker`; empty for none. */
  readonly kinds: readonly string[];
  /** The size limit of one file. In bytes. */
  readonly most: number;
  /** The longest wait of a message's event for its file. In milliseconds. */
  readonly wait: number;
}

/** Retention times of stored data. In milliseconds; 0 for ever. Delivered events have limits of their own. */
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
  /** Texts within `pause` of each other form one question. The first of them waits at most `longestPause`. */
  readonly pause: number;
  readonly longestPause: number;
  /** The largest number of texts in a question. */
  readonly burst: number;
  /** The age beyond which messages are not answered. */
  readonly fresh: number;
  /** The limits of concurrent calls: for all instances, and for one. */
  readonly atOnce: { readonly total: number; readonly perInstance: number };
  /** The time-out of one call. */
  readonly timeout: number;
  /** The number of retries after a transient failure. `retry` is the back-off of the retries. */
  readonly retries: number;
  readonly retry: { readonly min: number; readonly max: number };
  readonly circuit: { readonly failures: number; readonly min: number; readonly max: number };
  /** The token limit of one instance for one day; 0 for no limit. */
  readonly tokensPerDay: number;
  /** The token limit of one answer. */
  readonly answerTokens: number;
  /** The number of further calls with tool results for one answer. `toolCalls` limits the tool calls of one answer. */
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
  /** The cache lifetime of look-ups that found an account. `absentFor`: the cache lifetime of look-ups that found no account. */
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
  /** The largest file that is sent to Chatwoot. In bytes. */
  readonly fileBytes: number;
  /** The retention time of the links between messages on both sides. */
  readonly keep: number;
  /** The longest wait of an agent's message for a session that is not connected. */
  readonly replyWait: number;
  /** The largest number of agents' messages that wait for one instance. Further messages fail in Chatwoot. */
  readonly waiting: number;
  /** The largest number of agents' messages in flight: for all instances, and for one. */
  readonly atOnce: number;
  readonly atOncePerInstance: number;
}

export interface DeliveryPolicy {
  /** The largest number of parallel lanes of one webhook. */
  readonly concurrency: number;
  /** The delays of attempts that block the lane. The first is 0. */
  readonly quick: readonly number[];
  /** The delays of later attempts, for which the row is parked. */
  readonly slow: readonly number[];
  /** The number of consecutive failures that open the circuit breaker, and the back-off between probes. */
  readonly circuit: { readonly failures: number; readonly min: number; readonly max: number };
  /** The memory limit for one webhook and instance: rows, and bytes of their bodies. Further rows wait in the database. */
  readonly inMemory: number;
  readonly inMemoryBytes: number;
  /** The longest `Retry-After` that is followed. */
  readonly retryAfterMax: number;
  /** The limits of posts in flight: for all webhooks together, and for one host. */
  readonly atOnce: SlotLimits;
  /** The limits of waiting deliveries of one webhook: rows, bytes of their bodies, age of the event. */
  readonly bounds: { readonly rows: number; readonly bytes: number; readonly age: number };
  /** The limits of past deliveries: rows of a webhook (delivered and dead rows separately), and ages of the events (0: none are kept). */
  readonly kept: { readonly rows: number; readonly delivered: number; readonly dead: number };
  /** The period of the check of these limits. */
  readonly sweepEvery: number;
}

/** The time after which a session or a client at the cap of connected sessions retries. In milliseconds. */
export const capRetryMs = 60_000;

export const usualStopGrace = 3_000;

export { addTime, backOff, between } from './pacing.ts';
