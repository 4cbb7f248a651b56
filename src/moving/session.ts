/** A session in the store of another program: the result of every reader, and the input of `arrival.ts`. */
import type { AuthenticationCreds, SignalDataTypeMap } from '@whiskeysockets/baileys';
import type { ArchivedRows } from '#actors/ports.ts';

export type KeyType = keyof SignalDataTypeMap;

/**
 * One key in the format of the client library. libsignal requires that bytes are Buffers. A `sender-key` is a Buffer of JSON text. A `session` is the object
 * `{_sessions, version}` of libsignal-node, although the library's type differs.
 */
export interface SessionKey {
  readonly type: KeyType;
  readonly id: string;
  readonly value: unknown;
}

/** A webhook of the source in the form of this gateway. */
export interface CarriedWebhook {
  readonly url: string;
  readonly enabled: boolean;
  /** Names of `eventTypes`, or `all`. */
  readonly events: readonly string[];
  /** Messages that the webhook leaves out, by the names of `messageFilters`. */
  readonly excludeMessages: readonly string[];
  readonly addUrlEvents: boolean;
  readonly addUrlTypesMessages: boolean;
  /** The key of the signature (`whsec_…`); '' for none. */
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface CarriedSettings {
  /** The token of the instance in the source, which clients use; '' if there is none or only its hash is stored. */
  readonly token: string;
  /** `protocol://user:password@host:port`; '' for none. */
  readonly proxy: string;
  readonly webhooks: readonly CarriedWebhook[];
  /** Settings of the source that are not taken over, each as `name: what the operator can do`. The texts contain no secrets. */
  readonly lost: readonly string[];
  /** Further settings with the names of this gateway. Only archives of this gateway contain such settings. */
  readonly own?: Readonly<Record<string, unknown>>;
}

export const noSettings: CarriedSettings = { token: '', proxy: '', webhooks: [], lost: [] };

/**
 * The state of the session in its source. `loggedOut`: the platform ended the session, and it is not imported. `connected`: the source uses
 * the session, as far as its store knows. `unknown`: the store does not show the state.
 */
export type SourceState = 'loggedOut' | 'connected' | 'stopped' | 'unknown';

export interface FoundSession {
  readonly found: 'session';
  /** The name in the source, which becomes the name of the instance. */
  readonly name: string;
  /** Complete credentials: see `completeCredentials`. If `me` or `account` is missing, the reader refuses the session. */
  readonly creds: AuthenticationCreds;
  /**
   * Reads the keys in any order. Call this method at most once, before the next session is requested. After a `SourceFault` this session is not imported, and
   * the import goes on with the next session.
   */
  keys(): AsyncIterable<SessionKey>;
  readonly settings: CarriedSettings;
  readonly state: SourceState;
  /** Notes for the operator: one sentence each, without secrets. A reader may add sentences until the last key is read. */
  readonly notes: readonly string[];
  /** The time at which the last connection with these keys ended, in Unix milliseconds. Only archives of this gateway contain this time. */
  readonly endedAt?: number;
  /**
   * Reads chats and messages, after the keys. Call this function at most once, before the next session is requested. Only archives of this gateway contain
   * chats and messages. May throw `SourceFault`.
   */
  readonly rows?: () => AsyncIterable<ArchivedRows>;
}

/** A session that cannot be imported, with the reason as one sentence. */
interface RefusedSession {
  readonly found: 'refused';
  readonly name: string;
  readonly reason: string;
}

export type Found = FoundSession | RefusedSession;

/** The fault of a source or of one session. `message` is one sentence for the operator, and contains no secret and no content. */
export class SourceFault extends Error {
  override readonly name = 'SourceFault';
}

/** The location of a source. A reader shows the needed options in its `examples`, and throws `SourceFault` if one is missing. */
export interface SourceOptions {
  /** A file or a folder. */
  readonly path: string | null;
  /** Address of a database. */
  readonly url: string | null;
  /** The Signal keys, if they are stored apart from the credentials: a folder, a file or the address of a database. */
  readonly keys: string | null;
  /** Key or passphrase of sealed fields, or of an archive of this gateway. */
  readonly secret: string | null;
  readonly signal: AbortSignal;
}

/** The kind of upload that a reader takes. A folder is uploaded as a tar archive. */
interface UploadForm {
  readonly kind: 'file' | 'folder' | 'either';
  /** The noun of the expected upload, for an error text. */
  readonly takes: string;
}

export interface Reader {
  /** The store of the sessions, as the help shows it: at most 60 characters. */
  readonly title: string;
  /** Complete examples of the command, one on each line. */
  readonly examples: readonly string[];
  readonly upload: UploadForm;
  /**
   * Reads the sessions one after the other. The caller may end the read early by `return`. Changes nothing in the source. A session that cannot be
   * read becomes a refusal. Throws `SourceFault` if the source as a whole cannot be read.
   */
  read(options: SourceOptions): AsyncIterable<Found>;
}
