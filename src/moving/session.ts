/** A session in the store of another program: the result of every reader, and the input of the shared part. */
import type { AuthenticationCreds, SignalDataTypeMap } from '@whiskeysockets/baileys';
import type { ArchivedRows } from '#actors/ports.ts';

export type KeyType = keyof SignalDataTypeMap;

/**
 * One key in the form of the client library. Bytes are Buffers, which libsignal demands. A `sender-key` is a Buffer of JSON text. A `session` is the
 * object `{_sessions, version}` of libsignal-node, whatever the type of the library says.
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
  /** Names of `messageFilters`. */
  readonly excludeMessages: readonly string[];
  readonly addUrlEvents: boolean;
  readonly addUrlTypesMessages: boolean;
  /** The key of the signature (`whsec_…`); '' for none. */
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface CarriedSettings {
  /** The token of the instance in the source, which clients know; '' when it had none or when it is only known as a hash. */
  readonly token: string;
  /** `protocol://user:password@host:port`; '' for none. */
  readonly proxy: string;
  readonly webhooks: readonly CarriedWebhook[];
  /** Settings of the source without a counterpart, each as `name: what the operator can do`. Values of secrets never stand here. */
  readonly lost: readonly string[];
  /** Further settings in the words of this gateway. Only the gateway's own archive has them. */
  readonly own?: Readonly<Record<string, unknown>>;
}

export const noSettings: CarriedSettings = { token: '', proxy: '', webhooks: [], lost: [] };

/**
 * The state of the session in its source. `loggedOut`: the platform ended the session, and it is not imported. `connected`: the source uses the session, as
 * far as its store knows. `unknown`: the store does not tell.
 */
export type SourceState = 'loggedOut' | 'connected' | 'stopped' | 'unknown';

export interface FoundSession {
  readonly found: 'session';
  /** Its name in the source, which becomes the name of the instance. */
  readonly name: string;
  /** Complete: see `completeCredentials`. `me` and `account` are there, otherwise the reader refuses the session. */
  readonly creds: AuthenticationCreds;
  /**
   * Reads the keys, in any order, once at most and before the next session is asked for. May throw `SourceFault`: then nothing of this session is
   * imported and the others go on.
   */
  keys(): AsyncIterable<SessionKey>;
  readonly settings: CarriedSettings;
  readonly state: SourceState;
  /** Notes for the operator: one sentence each, without secrets. A reader may add sentences until the last key is read. */
  readonly notes: readonly string[];
  /** Reads chats and messages, once at most, after the keys and before the next session is asked for. Our own archive alone has them. May throw `SourceFault`. */
  readonly rows?: () => AsyncIterable<ArchivedRows>;
}

/** A session that cannot be imported, with one sentence that says why. */
interface RefusedSession {
  readonly found: 'refused';
  readonly name: string;
  readonly reason: string;
}

export type Found = FoundSession | RefusedSession;

/** The fault of a source or of a part of it. `message` is one sentence for the operator, and holds no secret and no content. */
export class SourceFault extends Error {
  override readonly name = 'SourceFault';
}

/** The place of a source. A reader names the needed options in its `usage`, and throws `SourceFault` if one is missing. */
export interface SourceOptions {
  /** A file or a folder. */
  readonly path: string | null;
  /** Address of a database. */
  readonly url: string | null;
  /** The Signal keys where they lie apart from the credentials: a folder, a file or the address of a database. */
  readonly keys: string | null;
  /** Key or passphrase of sealed fields, or of an archive of this gateway. */
  readonly secret: string | null;
  readonly signal: AbortSignal;
}

/** The form of an upload for a reader. A folder comes as a tar archive. */
interface UploadForm {
  readonly kind: 'file' | 'folder' | 'either';
  /** The noun of the expected upload, for an error text. */
  readonly takes: string;
}

export interface Reader {
  /** The place of the sessions, for the help: at most 60 characters. */
  readonly title: string;
  /** Complete examples of the command, one each line. */
  readonly examples: readonly string[];
  readonly upload: UploadForm;
  /**
   * Reads every session, one after the other; the caller ends it early by `return`. Changes nothing of the source. A session that cannot be read is
   * answered as refused. Throws `SourceFault` when the source as a whole cannot be read.
   */
  read(options: SourceOptions): AsyncIterable<Found>;
}
