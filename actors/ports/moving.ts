/** Sessions that come from other gateways, or leave for them. */
import type { Claim, InstanceId, InstancePatch, Result, Webhook } from '../model.ts';
import type { Identity } from './platform.ts';

/** JSON text in the form in which sessions store their keys. */
export interface MovedKey {
  readonly type: string;
  readonly id: string;
  readonly value: string;
}

/** A webhook of the source, before it has an id here. */
export type MovedWebhook = Omit<Webhook, 'id' | 'instanceId' | 'managed' | 'created' | 'chatwoot'>;

/** The tables of which an archive may have rows, in the order in which they are stored. */
export const archivedTables = ['contacts', 'chats', 'messages'] as const;
export type ArchivedTable = (typeof archivedTables)[number];

/** Rows of one table as JSON has them: some hundred at most. Messages come in the order of their times. */
export interface ArchivedRows {
  readonly of: ArchivedTable;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

/** A whole session, in memory, as it will be stored. */
export interface ArrivingSession {
  /** Its name in the source. */
  readonly name: string;
  readonly identity: Identity;
  readonly credentials: string;
  readonly keys: readonly MovedKey[];
  /** '' where the source has none. */
  readonly token: string;
  /** Address of a proxy with its credentials; '' for none. */
  readonly proxy: string;
  readonly webhooks: readonly MovedWebhook[];
  /** Further settings, which only another gateway of this kind has. */
  readonly settings: InstancePatch;
  /** Settings without a counterpart, one sentence each. */
  readonly lost: readonly string[];
  /** Notes for the operator, one sentence each. */
  readonly notes: readonly string[];
  /**
   * Reads the chats and messages of the session, once at most and before the next session is asked for. Absent if the source has none. The iteration
   * may throw a `SourceProblem`.
   */
  readonly rows?: () => AsyncIterable<ArchivedRows>;
}

/** A session that was found, or why one that was found cannot be taken. */
export type Arrival =
  | { readonly found: 'session'; readonly session: ArrivingSession }
  | { readonly found: 'refused'; readonly name: string; readonly reason: string };

/** The kind of store of an upload. */
export interface UploadedSource {
  /** Name of a reader. */
  readonly from: string;
  /** Key or passphrase of what is sealed; '' for none. */
  readonly secret: string;
  readonly signal: AbortSignal;
}

export interface MovingSources {
  /**
   * Takes an upload to the disk, and answers with its sessions, one in memory at a time. The file is removed when the iteration ends or is ended.
   * Refused: `invalid` for an unknown source or an upload that is none, `tooLarge`. The iteration may throw a `SourceProblem`.
   */
  receive(upload: AsyncIterable<Uint8Array>, source: UploadedSource): Promise<Result<AsyncIterable<Arrival>>>;
  /** Writes sessions as a sealed archive. `hasRows`: true if the sessions bring their rows, which older versions cannot read. */
  archive(sessions: AsyncIterable<LeavingSession>, passphrase: string, hasRows: boolean): AsyncIterable<Uint8Array>;
}

/** The source as a whole cannot be read any further: `message` is for the operator. */
export class SourceProblem extends Error {
  override readonly name = 'SourceProblem';
}

/** A session as it is stored here. `keys` are read in pieces. */
export interface LeavingSession {
  readonly name: string;
  readonly token: string;
  readonly proxy: string;
  readonly webhooks: readonly MovedWebhook[];
  readonly settings: InstancePatch;
  readonly credentials: string;
  keys(): AsyncIterable<MovedKey>;
  /** Chats and messages, in pieces. Absent if they stay. */
  readonly rows?: () => AsyncIterable<ArchivedRows>;
}

/** The data that is stored in one transaction with a session. */
export interface Landing {
  readonly credentials: string;
  readonly keys: readonly MovedKey[];
  readonly patch: InstancePatch;
  readonly webhooks: readonly Webhook[];
}

export interface SessionStore {
  /**
   * Stores a session in an instance that has none: everything, or nothing after a kill. `elsewhere`: another instance has the session by now, and
   * nothing was stored. Rejects with `EpochLost` for a former owner.
   */
  land(claim: Claim, landing: Landing): Promise<'stored' | 'elsewhere'>;
  /** Resolves when nothing of a former session is left. Before `land`. */
  cleared(id: InstanceId): Promise<void>;
  /** JSON text; null when the instance has no session. */
  credentials(id: InstanceId): Promise<string | null>;
  /** All keys, in pieces. Changes that are made meanwhile may be in it or not. */
  keys(id: InstanceId): AsyncIterable<MovedKey>;
  /** Chats and messages with their contacts, in pieces, without messages that still wait to be sent. */
  rows(id: InstanceId): AsyncIterable<ArchivedRows>;
}
