/**
 * What the actors need from the world. `src/` implements these; the comments are obligations of the implementation.
 *
 * Unless a comment says otherwise a method may reject only with a surprise (`StorageUnavailable` among them), never for an ordinary failure.
 */
import type { Entry, InstanceId, InstancePatch, Message, ReadKey } from './model.ts';
import type { Stores } from './stores.ts';

export type { ReadKey } from './model.ts';
export type * from './stores.ts';

/** The database cannot be reached now. Nothing was stored; trying again later is safe. HTTP answers 503. */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable';
}

/** A write carried an epoch that is not the instance's any more: another node owns it. */
export class EpochLost extends Error {
  override readonly name = 'EpochLost';
}

/* ---------- platform ---------- */

/** A close as the adapter saw it; `classify` in `policy/close-cause.ts` says what it means. */
export interface Close {
  /** Status code of the platform or of the HTTP upgrade; null when there was none. */
  readonly code: number | null;
  readonly message: string;
  /** Attributes of a `<failure>`: `expire`, `code`, `location`. A code that is the HTTP answer to the upgrade comes with `stage: 'upgrade'`. */
  readonly data?: Readonly<Record<string, string>>;
}

/** Who the session is, told when it opens. */
export interface Identity {
  readonly jid: string;
  readonly lid: string;
  readonly owner: string;
  readonly profileName: string;
  readonly isBusiness: boolean;
  readonly platform: string;
}

/** What a link reports. Facts come in the order in which they happened; after `platform.closed` there is none. */
export type PlatformFact =
  /** A QR text to show; each replaces the one before. */
  | { readonly type: 'platform.qr'; readonly qr: string }
  /** The pairing code to type on the phone (8 characters). */
  | { readonly type: 'platform.code'; readonly code: string }
  /** The transport is open: HTTP upgrade and Noise handshake are done. */
  | { readonly type: 'platform.handshaken' }
  /** Paired; the platform closes with 515 next. Credentials are durable already. */
  | { readonly type: 'platform.paired'; readonly identity: Identity }
  /** Logged in and live. */
  | { readonly type: 'platform.opened'; readonly identity: Identity }
  /** Changed while open: profile name, picture. */
  | { readonly type: 'platform.identity'; readonly patch: InstancePatch }
  /** The link is closed and will say nothing more; keys are flushed. */
  | { readonly type: 'platform.closed'; readonly close: Close };

export interface OpenOptions {
  /** With it an unpaired session pairs by code, without it by QR. Ignored when credentials exist. */
  readonly phone?: string;
  readonly browser?: string;
  readonly systemName?: string;
}

/** The common fields of all sends (contract/behaviour.md, "Sends"), after validation. */
export interface TextSend {
  /** As the client wrote it: digits, or a jid with any suffix of specification 2.8. */
  readonly number: string;
  readonly text: string;
  /** null: none; 'auto': fetched from the first link in the text. */
  readonly preview:
    | null
    | 'auto'
    | { readonly title: string; readonly description: string; readonly image: string; readonly large: boolean };
  readonly replyTo: string;
  /** Digits or jids; `all` for every member of a group. */
  readonly mentions: readonly string[];
  readonly forward: boolean;
}

/** A message that is ready to go. */
export interface Composed {
  /** Complete but for the tracking fields; status `Queued`, wasSentByApi true, `raw` set. */
  readonly message: Message;
  /**
   * Writes it and waits for the platform's ack. Called at most once. Messages leave in the order in which `transmit` was called.
   * Never rejects.
   */
  transmit(): Promise<Transmission>;
}

export type Composition =
  | { readonly ok: true; readonly composed: Composed }
  | { readonly ok: false; readonly closed?: true; readonly message: string };

export type Transmission =
  | { readonly ok: true; readonly at: number }
  | { readonly ok: false; readonly reason: 'platform' | 'timeout' | 'closed'; readonly code?: number; readonly error: string };

/**
 * One instance's connection to the platform, made once per instance and reused for every connection: it is the only thing to close when
 * anything goes wrong, and it outlives the actors that use it.
 */
export interface PlatformLink {
  /**
   * Starts connecting and reports through `emit`. Never throws: a failure is a `platform.closed` fact. Only called when the link is closed
   * (before the first `open`, after `close` resolved, or after `platform.closed`).
   */
  open(options: OpenOptions, emit: (fact: PlatformFact) => void): void;
  /** Idempotent. Nothing is emitted after the call. Resolves, within the close deadline, when the socket is gone and all keys are flushed. */
  close(): Promise<void>;
  /** Tells the platform to forget this device, then closes. Resolves with whether it could be told. Credentials stay: see `discard`. */
  logout(): Promise<boolean>;
  /** Credentials of a finished pairing exist. */
  paired(): Promise<boolean>;
  /** Only while closed. `delete`: gone; `setAside`: kept with time and reason, never used again by itself. */
  discard(how: 'delete' | 'setAside', reason: string): Promise<void>;
  /**
   * Prepares a text. Only while open. `Err` when the number makes no sense or the quoted message is unknown: then `message` says so. With `closed`
   * when the connection has ended, which the facts tell a little later.
   */
  compose(send: TextSend): Promise<Composition>;
  /** Composes again what was stored as `Queued` (after a restart, or by the queue). Only while open. */
  recompose(message: Message): Composed;
  /** Own presence. Only while open. Never rejects; false when the link went away. */
  presence(presence: 'available' | 'unavailable'): Promise<boolean>;
  /** Typing or recording shown to a chat. Same promise. */
  chatState(chatId: string, state: 'composing' | 'recording' | 'paused'): Promise<boolean>;
  /** Sends read receipts. Same promise. */
  markRead(keys: readonly ReadKey[]): Promise<boolean>;
  /** Time of the last frame from the platform; 0 before the first. */
  lastFrameAt(): number;
}

export interface LinkHost {
  readonly id: InstanceId;
  /** Takes what the platform tells, in order; the link never waits for it. */
  record(entries: readonly Entry[]): void;
  /** Resolves when everything given to `record` before is stored, or refused for what it is; false when it was lost. Never rejects. */
  recorded(): Promise<boolean>;
  /** Something in the adapter threw where nobody listened. The link is being closed with a `platform.closed` of code 500. */
  surprise(error: unknown): void;
  readonly epoch: number;
}

export interface Platform {
  link(host: LinkHost): PlatformLink;
}

/* ---------- the rest of the world ---------- */

/** Outcome of one POST to a receiver. */
export type Attempt =
  | { readonly ok: true; readonly status: number }
  | { readonly ok: false; readonly status?: number; readonly error: string; /** Seconds. */ readonly retryAfter?: number };

export interface Receiver {
  /** Posts JSON, waits at most the configured time. Never rejects. */
  post(url: string, body: string, headers: Readonly<Record<string, string>>): Promise<Attempt>;
  /** Why this address is never posted to (scheme, form, a forbidden literal); null when nothing speaks against it. Resolves no name. */
  objection(url: string): string | null;
}

/** Signatures as in the Standard Webhooks specification. */
export interface Signer {
  /** A fresh secret, `whsec_` and base64. */
  make(): string;
  /** Why this text is no secret; null when it is one. */
  objection(secret: string): string | null;
  /** The value of `webhook-signature`; `timestamp` in seconds. */
  sign(secret: string, id: string, timestamp: number, body: string): string;
}

export interface Media {
  /** PNG data URL of a QR code, made in a worker. */
  qrPng(text: string): Promise<string>;
}

export interface Chance {
  /** 0 ≤ x < 1. */
  random(): number;
  /** `bytes` random bytes in hex. */
  hex(bytes: number): string;
  /** URL-safe token of `length` letters and digits. */
  token(length: number): string;
}

export interface Log {
  debug(fields: object, event: string): void;
  info(fields: object, event: string): void;
  warn(fields: object, event: string): void;
  error(fields: object, event: string): void;
}

/** A clock that XState understands (`setTimeout`, `clearTimeout`) and that tells the time. */
export interface Time {
  now(): number;
  setTimeout(fn: () => void, ms: number): unknown;
  clearTimeout(id: unknown): void;
  /** Resolves when everything that is ready has had its turn, without waiting for anything. */
  turn(): Promise<void>;
}

export interface Ports extends Stores {
  /** SHA-256 in hex, for secrets that are only compared. */
  readonly digest: (text: string) => string;
  /** 99th percentile of the event loop's delay over the last minute, in milliseconds. */
  readonly loopLagMs: () => number;
  readonly platform: Platform;
  readonly receiver: Receiver;
  readonly signer: Signer;
  readonly media: Media;
  readonly chance: Chance;
  readonly time: Time;
  readonly log: Log;
}
