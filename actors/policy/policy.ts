/** Every constant of reconnection, admission and delivery in one record; `config/` supplies it, tests shorten it. Times in milliseconds. */
import type { SlotLimits } from '../events/slots.ts';
import type { CampaignPolicy } from './campaign-policy.ts';
import type { Pace } from './token-bucket.ts';
import type { GateLimits, OutageRule } from './gate.ts';
import type { ProxyPolicy } from './proxy-route.ts';

export interface Policy {
  /** Back-off: `U(0.5, 1) · min(max, min · 2^n)`; n returns to 0 after `stable` of connection. A connect cuts it short once in `cutEvery`. */
  readonly reconnect: { readonly min: number; readonly max: number; readonly stable: number; readonly cutEvery: number };
  /** Closes of unknown meaning in a row, none of which reached open, before the instance is refused. */
  readonly unknownCloseLimit: number;
  /** Restarts asked for by the platform (515) that are free of charge within `window`. */
  readonly restarts: { readonly limit: number; readonly window: number };
  /** A session taken over by another login (440) tries once after U(min, max), then gives up for `window`. */
  readonly replaced: { readonly min: number; readonly max: number; readonly window: number };
  /** Crashes of our own making: `limit` within `window`, then failed for `cooldown`. */
  readonly crash: { readonly limit: number; readonly window: number; readonly cooldown: number };
  readonly handshakes: GateLimits;
  readonly maxConnected: number;
  /** How long a QR or a pairing code stays on offer. */
  readonly pairing: { readonly qr: number; readonly code: number };
  /** How long `connect` waits for something to show before it answers. */
  readonly connectAnswer: number;
  /** How long a call waits for a hibernated instance to wake. */
  readonly wakeTimeout: number;
  /** How long one operation may take on the platform. */
  readonly operationTimeout: number;
  /** How long a session that is not connected tries to log in, so that it can unlink its device before its credentials go. */
  readonly unlinkTimeout: number;
  /** Idle time after which an instance hibernates (0: never); how often a sleeping one wakes, and how long without traffic until it sleeps again. */
  readonly hibernation: { readonly after: number; readonly wakeEvery: number; readonly drain: number };
  readonly outage: OutageRule;
  readonly proxies: ProxyPolicy;
  /** What may wait in the asynchronous queue of one instance: messages, and milliseconds. */
  readonly queue: QueueLimits;
  readonly lookups: LookupPolicy;
  readonly campaigns: CampaignPolicy;
  /** How often a client may have all groups listed anew. */
  readonly groups: { readonly forceEvery: number };
  readonly pictures: PicturePolicy;
  /** Recipients of one status post at most. */
  readonly statusRecipients: number;
  /** How long the key of a send counts. */
  readonly sendKeyAge: number;
  /** Chats of one instance in which typing may be kept up at once. */
  readonly typingAtOnce: number;
  readonly chatbot: ChatbotPolicy;
  readonly recorder: { readonly maxWait: number; readonly maxBatch: number };
  readonly delivery: DeliveryPolicy;
  readonly retention: Retention;
  readonly autoDownload: AutoDownload;
  readonly chatwoot: ChatwootPolicy;
  readonly webhooksPerInstance: number;
  /** Tags of leads, and quick replies that are kept here, of one instance. */
  readonly definitionsPerInstance: number;
  readonly adminRotateCooldown: number;
  /** How often the figures of quality are logged; 0 or absent: not at all. */
  readonly numbersEvery?: number;
  /** How long a stop waits for storage and receivers; what they did not take by then is taken up at the next start. */
  readonly stopGrace?: number;
  /** How long a post to a webhook may take, in milliseconds. A session that moves waits as long for posts under way. */
  readonly postTimeout?: number;
}

/** Which media is downloaded as it arrives. */
export interface AutoDownload {
  /** `image`, `video`, `audio`, `document`, `sticker`; none: nothing is. */
  readonly kinds: readonly string[];
  /** Bytes of one file. */
  readonly most: number;
  /** How long the event of a message waits for its file, in milliseconds. */
  readonly wait: number;
}

/** How long what is stored is kept, in milliseconds; 0: for ever. What was delivered has bounds of its own. */
export interface Retention {
  readonly messages: number;
  /** Then only counts are kept. */
  readonly receipts: number;
  /** Since their last use. */
  readonly files: number;
  /** Bytes of all files together; 0: no limit. */
  readonly fileBytes: number;
}

export interface QueueLimits {
  /** Messages that may wait. */
  readonly items: number;
  /** Milliseconds that a message may wait. */
  readonly age: number;
}

/** When the chatbot answers, and what it may cost. */
export interface ChatbotPolicy {
  /** Texts that come within `pause` of each other are one question; the first of them waits `longestPause` at most. */
  readonly pause: number;
  readonly longestPause: number;
  /** Texts of a question at most. */
  readonly burst: number;
  /** Older messages are not answered. */
  readonly fresh: number;
  /** Calls under way at once: of all instances, and of one. */
  readonly atOnce: { readonly total: number; readonly perInstance: number };
  /** Of one call. */
  readonly timeout: number;
  /** After a failure that may pass: how often, and after how long it is asked again. */
  readonly retries: number;
  readonly retry: { readonly min: number; readonly max: number };
  readonly circuit: { readonly failures: number; readonly min: number; readonly max: number };
  /** Of one instance on one day; 0: no bound. */
  readonly tokensPerDay: number;
  /** Of one answer. */
  readonly answerTokens: number;
  /** Times that the model is asked again with what its tools led to, and uses of tools, for one answer. */
  readonly toolRounds: number;
  readonly toolCalls: number;
  /** Messages of one answer at most. */
  readonly pieces: number;
  /** Of one conversation. */
  readonly answersPerMinute: number;
  /** Of one conversation, without a minute of silence. */
  readonly answersInARow: number;
  /** Of one chat, within a day of UTC. */
  readonly answersPerDay: number;
  /** Of one instance, under way or over for less than a minute. */
  readonly conversations: number;
}

/** Looking numbers up before the first message; ages in milliseconds. */
export interface LookupPolicy {
  /** Of one session. */
  readonly pace: Pace;
  /** How long an answer counts that found an account, and one that found none. */
  readonly knownFor: number;
  readonly absentFor: number;
}

/** Looking up pictures of people and groups. */
export interface PicturePolicy {
  /** Of one session. */
  readonly pace: Pace;
  /** Milliseconds for which an answer counts. */
  readonly age: number;
  /** People and groups of one session that may wait to be looked up. */
  readonly waiting: number;
  /** Answers of one session in memory. */
  readonly remembered: number;
}

/** The connector to Chatwoot; times in milliseconds. */
export interface ChatwootPolicy {
  /** Largest file that goes there, in bytes. */
  readonly fileBytes: number;
  /** How long it is known which messages stand on both sides. */
  readonly keep: number;
  /** How long what an agent wrote waits for a session that is away. */
  readonly replyWait: number;
  /** Messages of agents that may wait for one instance; Chatwoot shows more as failed. */
  readonly waiting: number;
  /** Messages of agents that are being sent at once: of all instances, and of one. */
  readonly atOnce: number;
  readonly atOncePerInstance: number;
}

export interface DeliveryPolicy {
  /** Lanes of one webhook that are sent side by side. */
  readonly concurrency: number;
  /** Delays before the attempts that keep the lane waiting; the first is 0. */
  readonly quick: readonly number[];
  /** Delays of the attempts after those, the row being parked. */
  readonly slow: readonly number[];
  /** Failures in a row that open the circuit, and the pauses between probes. */
  readonly circuit: { readonly failures: number; readonly min: number; readonly max: number };
  /** Rows of one webhook and instance held in memory, and bytes of their bodies; the rest waits in the database. */
  readonly inMemory: number;
  readonly inMemoryBytes: number;
  /** Longest `Retry-After` that is honoured. */
  readonly retryAfterMax: number;
  /** Posts under way at once: of all webhooks together, and to one host. */
  readonly atOnce: SlotLimits;
  /** What may wait for one webhook: deliveries, bytes of their bodies, age of the event. */
  readonly bounds: { readonly rows: number; readonly bytes: number; readonly age: number };
  /** Past deliveries: rows of a webhook (delivered and dead ones each), and ages of the event until which they are kept (0: not at all). */
  readonly kept: { readonly rows: number; readonly delivered: number; readonly dead: number };
  /** How often the bounds are looked after. */
  readonly sweepEvery: number;
}

/** Milliseconds after which a session, or a client, that met the cap of connected sessions tries again. */
export const capRetryMs = 60_000;

export const usualStopGrace = 3_000;

export { addTime, backOff, between } from './back-off.ts';
