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
  /** Writes sessions as a sealed archive. */
  archive(sessions: AsyncIterable<LeavingSession>, passphrase: string): AsyncIterable<Uint8Array>;
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
}
