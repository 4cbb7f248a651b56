/** The messaging platform as the actors see it. */
import type { ClientVersionView, Entry, InstanceId, InstancePatch, Message, Result, Route, Send } from '../model.ts';
import type { AnswerOf, Operation, OperationControl, OperationName, Outcome } from '../operations.ts';

/** A close as the adapter saw it; `classify` in `policy/close-cause.ts` says what it means. */
export interface Close {
  /** Status code of the platform or of the HTTP upgrade; null when there was none. */
  readonly code: number | null;
  readonly message: string;
  /** Attributes of a `<failure>`: `expire`, `code`, `location`. A code that is the HTTP answer to the upgrade comes with `stage: 'upgrade'`. */
  readonly data?: Readonly<Record<string, string>>;
}

/** Who the session is; known when it opens. */
export interface Identity {
  readonly jid: string;
  readonly lid: string;
  readonly owner: string;
  readonly profileName: string;
  readonly isBusiness: boolean;
  readonly platform: string;
}

/** What the platform asks a browser to sign: `PublicKeyCredentialRequestOptionsJSON` of WebAuthn. Binary values are base64url without padding. */
export interface PasskeyOptions {
  readonly challenge: string;
  readonly rpId: string;
  readonly timeout?: number;
  /** Empty or absent: any passkey of the site. */
  readonly allowCredentials?: readonly { readonly id: string }[];
  readonly [more: string]: unknown;
}

/** What the browser signed: the fields of `PublicKeyCredential.toJSON()` that the platform takes. */
export interface PasskeyAssertion {
  readonly id: string;
  readonly rawId: string;
  readonly type: string;
  readonly response: {
    readonly clientDataJSON: string;
    readonly authenticatorData: string;
    readonly signature: string;
    readonly userHandle?: string | null;
  };
}

/** Steps of linking an account that has a passkey, in their order. A request may be repeated. */
export type PasskeyFact =
  /** The platform asks for an assertion. */
  | { readonly type: 'platform.passkeyRequested'; readonly options: PasskeyOptions }
  /** The phone answered. `handedOff`: the owner has nothing to compare, and the link goes on by itself. */
  | { readonly type: 'platform.passkeyCode'; readonly code: string; readonly handedOff: boolean };

/** What the owner does about a passkey. */
export type PasskeyStep = { readonly type: 'assert'; readonly assertion: PasskeyAssertion } | { readonly type: 'confirm' };

/** What a link reports. Facts come in the order in which they happened; after `platform.closed` there is none. */
export type PlatformFact =
  /** A QR text to show; each replaces the one before. */
  | { readonly type: 'platform.qr'; readonly qr: string }
  /** The pairing code to type on the phone (8 characters), which the platform has taken; each replaces the one before. */
  | { readonly type: 'platform.code'; readonly code: string }
  /** The transport is open: HTTP upgrade and Noise handshake are done. */
  | { readonly type: 'platform.handshaken' }
  /** Paired; the platform closes with 515 next. Credentials are durable already. */
  | { readonly type: 'platform.paired'; readonly identity: Identity }
  | PasskeyFact
  /** Logged in and live. */
  | { readonly type: 'platform.opened'; readonly identity: Identity }
  /** Changed while open: profile name, picture. */
  | { readonly type: 'platform.identity'; readonly patch: InstancePatch }
  /** The link is closed and will say nothing more; keys are flushed. */
  | { readonly type: 'platform.closed'; readonly close: Close };

export interface OpenOptions {
  /** With it an unpaired session pairs by code, without it by QR. Ignored when credentials exist. */
  readonly phone?: string;
  /** One of `deviceBrowsers`. */
  readonly browser?: string;
  /** What the phone's list of devices shows: any name. */
  readonly systemName?: string;
  /** One of `deviceSystems`, which the request of a pairing code names. */
  readonly system?: string;
}

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
  /**
   * Asks for a pairing by code on the connection that is open or being opened, in place of the QR or the code that it offers. No QR is emitted after
   * the call, and no code for another number. Without effect when the session is paired or the link is closed.
   */
  pair(phone: string): void;
  /** Takes a step of the owner on the connection that asked for a passkey. Without effect on another one. A failure is a `platform.closed` fact. */
  passkey(step: PasskeyStep): void;
  /** Returns what is wrong with an assertion, in words, or null. Pure: asks nobody. */
  passkeyProblem(assertion: PasskeyAssertion, options: PasskeyOptions): string | null;
  /** Idempotent. Nothing is emitted after the call. Resolves, within the close deadline, when the socket is gone and all keys are flushed. */
  close(): Promise<void>;
  /** Tells the platform to forget this device, then closes. Resolves with whether the platform answered. Credentials stay: see `discard`. */
  logout(): Promise<boolean>;
  /** Credentials of a finished pairing exist. */
  paired(): Promise<boolean>;
  /** Only while closed. `delete`: gone; `setAside`: kept with time and reason, never used again by itself. */
  discard(how: 'delete' | 'setAside', reason: string): Promise<void>;
  /**
   * Asks the platform. Never rejects for an ordinary failure: `notSent` when nothing was written because the session is not live, `unknown`
   * when something was written and never answered, `refused` when the platform said no. Resolves soon after `signal` aborts or the deadline passes.
   */
  perform<N extends OperationName>(operation: Operation<N>, control: OperationControl): Promise<Outcome<AnswerOf<N>>>;
  /**
   * The id under which a chat is kept, for any spelling of it, from memory. `certain`: no other id is possible; else `chat.resolve` asks storage.
   * `forms`: ids under which the platform may know the number, this one first; empty for groups, LIDs and whatever is never looked up.
   * Refused (`invalid`) when the number makes no sense.
   */
  chatOf(number: string): Result<{ readonly chatId: string; readonly certain: boolean; readonly forms: readonly string[] }>;
  /**
   * A message for the asynchronous queue, made without any connection: ids, chat, kind and text are final. `raw` is set when nothing has to be
   * looked up for it; else `message.compose` completes it. Refused (`invalid`) when the number makes no sense.
   */
  draft(send: Send, account: { readonly jid: string; readonly lid: string; readonly name: string }): Result<Message>;
  /** Time of the last frame from the platform; 0 before the first. */
  lastFrameAt(): number;
}

/** `unsealed`: a message without encryption outside of channels. `phoneOnly`: what only the account's phone may send, from somebody else. */
export const forgeries = ['unsealed', 'phoneOnly'] as const;
export type Forgery = (typeof forgeries)[number];

export interface LinkHost {
  readonly id: InstanceId;
  /** Takes what the platform tells, in order; the link never waits for it. */
  record(entries: readonly Entry[]): void;
  /** Resolves when everything given to `record` before is stored, or refused for what it is; false when it was lost. Never rejects. */
  recorded(): Promise<boolean>;
  /** The picture of a person or group, named by the id of the chat, changed or went. */
  pictureChanged(id: string): void;
  /** Something was dropped because whoever sent it may not. */
  forged(what: Forgery): void;
  /** Something in the adapter threw where nobody listened. The link is being closed with a `platform.closed` of code 500. */
  surprise(error: unknown): void;
  readonly epoch: number;
  /** Whether this process owns the instance, at this moment. Asked before every frame; one that may not leave ends the connection. */
  mayAct(): boolean;
  /** Asked at each open: what the new connection, with its media, goes through. */
  route(): Route;
  /** Asked with the number of credentials before anything is sent under them. `change`: `beginAnew` comes first; `refused`: they are not used. */
  accountOf(owner: string): 'same' | 'change' | 'refused';
  /** Empties the instance for another account. Rejects with a `StorageFailure` when the database is away; safe to repeat. */
  beginAnew(identity: Identity): Promise<void>;
}

/** A JPEG of at most 10 KB; `tag` is another one for other bytes. */
export interface SmallPicture {
  readonly jpeg: Uint8Array;
  readonly tag: string;
}

export interface Platform {
  /** The picture of the instance's account, from memory; null while there is none. Asks nobody. */
  picture(instance: InstanceId): SmallPicture | null;
  link(host: LinkHost): PlatformLink;
  /** The version of the next connection. */
  clientVersion(): ClientVersionView;
}
