/** The messaging platform as the actors see it. */
import type { Entry, InstanceId, InstancePatch, Message, ReadKey } from '../model.ts';

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
  /**
   * `refused`: the platform said no, with its code. `unknown`: no answer came in time. `closed`: the connection ended while the answer was awaited, so
   * the frame may have left. `notSent`: the connection had ended before, nothing left.
   */
  | { readonly ok: false; readonly reason: 'refused' | 'unknown' | 'closed' | 'notSent'; readonly code?: number; readonly error: string };

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
