/** The ports that import sessions of other gateways and export sessions. */
import type { Claim, InstanceId, InstancePatch, InstanceRecord, Result, Webhook } from '../model.ts';
import type { Identity } from './platform.ts';

/** A key of a session. `value` is JSON text in the form in which sessions store their keys. */
export interface MovedKey {
  readonly type: string;
  readonly id: string;
  readonly value: string;
}

/** A webhook of the source, before this gateway gives it an id. */
export type MovedWebhook = Omit<Webhook, 'id' | 'instanceId' | 'managed' | 'created' | 'chatwoot'>;

/** The tables whose rows an archive may contain, in the order in which an import stores them. */
export const archivedTables = ['contacts', 'chats', 'messages'] as const;
export type ArchivedTable = (typeof archivedTables)[number];

/** A batch of rows of one table, as plain JSON objects: a few hundred at most. Messages are in the order of their times. */
export interface ArchivedRows {
  readonly of: ArchivedTable;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

/** A session of a source, in the form in which it will be stored. The whole session is in memory. */
export interface ArrivingSession {
  /** The name of the session in the source. */
  readonly name: string;
  readonly identity: Identity;
  readonly credentials: string;
  readonly keys: readonly MovedKey[];
  /** '' if the source has none. */
  readonly token: string;
  /** Address of a proxy with its credentials; '' for none. */
  readonly proxy: string;
  readonly webhooks: readonly MovedWebhook[];
  /** Further settings. Only another Dormouse gateway has them. */
  readonly settings: InstancePatch;
  /** Settings of the source that this gateway does not have, one sentence each. */
  readonly lost: readonly string[];
  /** Notes for the operator, one sentence each. */
  readonly notes: readonly string[];
  /** The end of the last connection with these keys. In Unix milliseconds. Absent if the source does not store it. */
  readonly endedAt?: number;
  /**
   * Reads the chats and messages of the session. The caller may call `rows` once, and only before the request for the next session. Absent if the source
   * has no chats and messages. The iteration may throw a `SourceProblem`.
   */
  readonly rows?: () => AsyncIterable<ArchivedRows>;
}

/** A session that the source has, or the reason why the session cannot be imported. */
export type Arrival =
  | { readonly found: 'session'; readonly session: ArrivingSession }
  | { readonly found: 'refused'; readonly name: string; readonly reason: string };

/** The format of an upload, and the key to open the upload. */
export interface UploadedSource {
  /** The name of the reader for this format. */
  readonly from: string;
  /** The key or the passphrase of the sealed parts; '' for none. */
  readonly secret: string;
  readonly signal: AbortSignal;
}

export interface MovingSources {
  /**
   * Writes an upload to the disk, and returns its sessions. One session at a time is in memory. The file is removed when the iteration ends, or when
   * the caller ends it. Refuses with `invalid` for an unknown format or an upload in another format, and with `tooLarge`. The iteration may throw a
   * `SourceProblem`.
   */
  receive(upload: AsyncIterable<Uint8Array>, source: UploadedSource): Promise<Result<AsyncIterable<Arrival>>>;
  /** Writes sessions as a sealed archive. `hasRows`: true if the archive includes the rows of the sessions. Older releases cannot read such an archive. */
  archive(sessions: AsyncIterable<LeavingSession>, passphrase: string, hasRows: boolean): AsyncIterable<Uint8Array>;
}

/** The error of a source that cannot be read any further. `message` is for the operator. */
export class SourceProblem extends Error {
  override readonly name = 'SourceProblem';
}

/** A stored session that is exported. `keys` are read in batches. */
export interface LeavingSession {
  readonly name: string;
  readonly token: string;
  readonly proxy: string;
  readonly webhooks: readonly MovedWebhook[];
  readonly settings: InstancePatch;
  /** Settings that an archive does not contain, one sentence each. */
  readonly lost: readonly string[];
  readonly credentials: string;
  /** The end of the last connection. In Unix milliseconds. */
  readonly endedAt: number | null;
  keys(): AsyncIterable<MovedKey>;
  /** Chats and messages, in batches. Absent if they are not exported. */
  readonly rows?: () => AsyncIterable<ArchivedRows>;
}

/** The data that is stored in one transaction with a session. */
export interface Landing {
  /** The new instance of the session, which the transaction inserts; null for a stored instance. */
  readonly fresh: InstanceRecord | null;
  /** True if the session replaces an older copy of the same session in the instance. The keys of that copy are deleted. */
  readonly replaces: boolean;
  readonly credentials: string;
  readonly keys: readonly MovedKey[];
  readonly patch: InstancePatch;
  readonly webhooks: readonly Webhook[];
}

export interface SessionStore {
  /**
   * Stores a session, all or nothing: in a new instance, in an instance without a session, or in place of an older copy of the session. `elsewhere`: another
   * instance already has the session, and nothing was stored. Rejects with `EpochLost` for a former owner.
   */
  land(claim: Claim, landing: Landing): Promise<'stored' | 'elsewhere'>;
  /** Resolves when all data of a former session is deleted. The caller must wait for this before `land`. */
  cleared(id: InstanceId): Promise<void>;
  /** Returns the credentials as JSON text; null if the instance has no session. */
  credentials(id: InstanceId): Promise<string | null>;
  /** Reads all keys, in batches. A change that is made during the read may be included or not. */
  keys(id: InstanceId): AsyncIterable<MovedKey>;
  /** Reads chats, messages and contacts, in batches. Messages that wait to be sent are left out. */
  rows(id: InstanceId): AsyncIterable<ArchivedRows>;
}
