/** The messaging platform as the actors see it. */
import type { ClientVersionView, Entry, InstanceId, InstancePatch, Message, Result, Route, Send, TimeLock } from '../model.ts';
import type { AnswerOf, Operation, OperationControl, OperationName, Outcome } from '../operations.ts';

/** A close as the adapter observed it. `classify` in `policy/close-cause.ts` maps it to a cause. */
export interface Close {
  /** The status code of the platform or of the HTTP upgrade; null if there was none. */
  readonly code: number | null;
  readonly message: string;
  /** Attributes of a `<failure>`: `expire`, `code`, `location`. If the code is the HTTP status of the upgrade, `stage` is `upgrade`. */
  readonly data?: Readonly<Record<string, string>>;
}

/** The account of the session, as a pairing or a login names it. */
export interface Identity {
  readonly jid: string;
  readonly lid: string;
  readonly owner: string;
  readonly profileName: string;
  readonly isBusiness: boolean;
  readonly platform: string;
}

/**
 * The options that the platform asks a browser to sign: `PublicKeyCredentialRequestOptionsJSON` of WebAuthn. Binary values are base64url without
 * padding.
 */
export interface PasskeyOptions {
  readonly challenge: string;
  readonly rpId: string;
  readonly timeout?: number;
  /** The allowed passkeys; empty or absent for any passkey of the site. */
  readonly allowCredentials?: readonly { readonly id: string }[];
  readonly [more: string]: unknown;
}

/** The signed assertion of the browser: the fields of `PublicKeyCredential.toJSON()` that the platform accepts. */
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

/** Steps of linking an account with a passkey, in their order. The platform may repeat a request. */
export type PasskeyFact =
  /** The platform asks for an assertion. */
  | { readonly type: 'platform.passkeyRequested'; readonly options: PasskeyOptions }
  /** The phone answered the assertion. `handedOff`: the owner has no code to compare, and linking continues by itself. */
  | { readonly type: 'platform.passkeyCode'; readonly code: string; readonly handedOff: boolean };

/** A step of the account's owner in linking: the signed assertion, or the confirmation of the code. */
export type PasskeyStep = { readonly type: 'assert'; readonly assertion: PasskeyAssertion } | { readonly type: 'confirm' };

/** A fact that a link reports. Facts come in the order in which they happened. No fact follows `platform.closed`. */
export type PlatformFact =
  /** A QR text to show. Each text replaces the previous one. */
  | { readonly type: 'platform.qr'; readonly qr: string }
  /** The pairing code (8 characters) to type on the phone, after the platform accepted it. Each code replaces the previous one. */
  | { readonly type: 'platform.code'; readonly code: string }
  /** The transport is open. HTTP upgrade and Noise handshake are done. */
  | { readonly type: 'platform.handshaken' }
  /** The session is paired. The credentials are stored already. The platform closes with 515 next. */
  | { readonly type: 'platform.paired'; readonly identity: Identity }
  | PasskeyFact
  /** The session is logged in and live. */
  | { readonly type: 'platform.opened'; readonly identity: Identity }
  /** The profile name or the picture changed on an open connection. */
  | { readonly type: 'platform.identity'; readonly patch: InstancePatch }
  /** The link is closed and reports nothing more. Keys are flushed. */
  | { readonly type: 'platform.closed'; readonly close: Close };

export interface OpenOptions {
  /** The phone number. An unpaired session pairs by code if a number is given, else by QR. Ignored if credentials exist. */
  readonly phone?: string;
  /** One of `deviceBrowsers`. */
  readonly browser?: string;
  /** The name in the phone's list of devices. Any text. */
  readonly systemName?: string;
  /** One of `deviceSystems`, used in the request of a pairing code. */
  readonly system?: string;
}

/**
 * The connection of one instance to the platform. An instance has one link for all its connections. The link outlives the actors that use it.
 * After an error, the caller only has to close the link.
 */
export interface PlatformLink {
  /**
   * Starts connecting and reports through `emit`. Never throws. A failure is a `platform.closed` fact. The caller may call `open` only while the link is
   * closed: before the first `open`, after `close` resolved, or after `platform.closed`.
   */
  open(options: OpenOptions, emit: (fact: PlatformFact) => void): void;
  /**
   * Requests pairing by code on the current connection, in place of the QR or the code that the connection offers. After the call, no QR and no code for
   * another number is emitted. Has no effect if the session is paired or the link is closed.
   */
  pair(phone: string): void;
  /** Sends a step of the owner to the platform. Has no effect unless this connection asked for a passkey. A failure is a `platform.closed` fact. */
  passkey(step: PasskeyStep): void;
  /** Returns the problem of an assertion as a sentence; null if the assertion is valid. Pure. */
  passkeyProblem(assertion: PasskeyAssertion, options: PasskeyOptions): string | null;
  /**
   * Closes the link. Nothing is emitted after the call. Resolves, within the close deadline, when the socket is gone and all keys are flushed.
   * Idempotent.
   */
  close(): Promise<void>;
  /** Logs the device out at the platform, then closes. Resolves with true if the platform confirmed the logout. Credentials stay until `discard`. */
  logout(): Promise<boolean>;
  /** Returns true if credentials of a finished pairing exist. */
  paired(): Promise<boolean>;
  /**
   * Discards the credentials. The link must be closed. `delete`: removes the credentials. `setAside`: archives the credentials with time and reason.
   * No connection uses archived credentials.
   */
  discard(how: 'delete' | 'setAside', reason: string): Promise<void>;
  /** Drops the keys in memory after all their changes are stored, because the stored keys will be replaced. The link must be closed. */
  forgetKeys(): Promise<void>;
  /**
   * Performs an operation on the platform. Never rejects for an expected failure. `notSent`: nothing was written because the session is not live.
   * `unknown`: a frame was written and no answer came. `refused`: the platform refused. Resolves soon after `signal` aborts or the deadline passes.
   */
  perform<N extends OperationName>(operation: Operation<N>, control: OperationControl): Promise<Outcome<AnswerOf<N>>>;
  /**
   * Returns the id under which a chat is stored, for any spelling, from memory. `certain`: no other id is possible. Otherwise `chat.resolve` queries
   * storage. `forms`: the ids under which the platform may know the number, the most likely first. The list is empty for groups, LIDs and other ids
   * without a look-up. Refuses (`invalid`) a number that is not valid.
   */
  chatOf(number: string): Result<{ readonly chatId: string; readonly certain: boolean; readonly forms: readonly string[] }>;
  /**
   * Builds a message for the asynchronous queue without a connection. Ids, chat, kind and text are final. `raw` is set if the message is complete.
   * Otherwise `message.compose` completes the message. Refuses (`invalid`) a number that is not valid.
   */
  draft(send: Send, account: { readonly jid: string; readonly lid: string; readonly name: string }): Result<Message>;
  /** Returns the time of the last frame from the platform; 0 before the first. In Unix milliseconds. */
  lastFrameAt(): number;
  /** Returns the reach-out time-lock that the platform reported last; null before the first. The lock may be over. */
  timeLock(): TimeLock | null;
}

/**
 * Kinds of forged stanzas. `unsealed`: an unencrypted message outside channels. `phoneOnly`: a stanza that only the account's phone may send, from
 * another sender. `keys`: keys of a contact that the contact did not sign.
 */
export const forgeries = ['unsealed', 'phoneOnly', 'keys'] as const;
export type Forgery = (typeof forgeries)[number];

export interface LinkHost {
  readonly id: InstanceId;
  /** Takes entries from the platform, in order. The link never waits for the recording. */
  record(entries: readonly Entry[]): void;
  /**
   * Resolves with true when all entries given to `record` before are stored, or refused because of their data. Resolves with false if entries were
   * lost. Never rejects.
   */
  recorded(): Promise<boolean>;
  /** Reports that the picture of a person or group was changed or removed. `id` is the chat id. */
  pictureChanged(id: string): void;
  /** Reports a stanza that was dropped because its sender has no right to send it. */
  forged(what: Forgery): void;
  /** Reports an unhandled error in the adapter. The link then closes with a `platform.closed` of code 500. */
  surprise(error: unknown): void;
  readonly epoch: number;
  /** Returns true if this process owns the instance now. The link asks before every frame. If false, the frame is not sent and the connection ends. */
  mayAct(): boolean;
  /** Returns the route of a new connection and of its media. The link asks at each `open`. */
  route(): Route;
  /**
   * Compares the number of the credentials (`owner`) with the instance's account. The link calls this method before it sends data under the credentials.
   * `change`: the link must call `beginAnew` first. `refused`: the link must not use the credentials.
   */
  accountOf(owner: string): 'same' | 'change' | 'refused';
  /**
   * Empties the instance for another account. Rejects with a `StorageFailure` during an outage of the database, or if `isCurrent` returns false because the
   * connection was given up. Safe to repeat.
   */
  beginAnew(identity: Identity, isCurrent: () => boolean): Promise<void>;
}

/** A JPEG of at most 10 KB. Different bytes have a different `tag`. */
export interface SmallPicture {
  readonly jpeg: Uint8Array;
  readonly tag: string;
}

/** A reading of the platform's clock. */
export interface PlatformTime {
  /** The time that the platform named. In Unix milliseconds. */
  readonly at: number;
  /** The time at which this process received `at`, by `Time.monotonic`. In milliseconds. */
  readonly heardAt: number;
}

export interface Platform {
  /** Returns the picture of the instance's account from memory; null if there is none. Sends no request. */
  picture(instance: InstanceId): SmallPicture | null;
  link(host: LinkHost): PlatformLink;
  /** Returns the client version for the next connection. */
  clientVersion(): ClientVersionView;
  /** Returns the last time that the platform sent to any session; null before the first. Logins, live messages and acknowledgements contain the time. */
  heardTime(): PlatformTime | null;
}
