/** Entries that the journal refused for their data: kept until a person tries them again. */
import type { Claim, Entry, InstanceId } from '../model.ts';

/** What is shown of a refused entry; its content is not. */
export interface RefusedEntry {
  readonly instanceId: InstanceId;
  readonly id: string;
  readonly kind: Entry['kind'];
  /** The code of the database, or the name of the error. */
  readonly error: string;
  readonly tries: number;
  /** When it was refused first, in Unix milliseconds. */
  readonly at: number;
}

export interface RefusedStore {
  /** Keeps the entry. False when the instance has as many as may be kept. Rejects with `EpochLost` under an old epoch. */
  keep(claim: Claim, entry: Entry, error: string): Promise<boolean>;
  /** Oldest first for each instance. `instance`: null for all. */
  list(query: { readonly instance: InstanceId | null; readonly limit: number; readonly offset: number }): Promise<{
    readonly entries: readonly RefusedEntry[];
    readonly more: boolean;
  }>;
  /** Null when there is no such entry. */
  read(instance: InstanceId, id: string): Promise<Entry | null>;
  /** It was tried again, and refused. */
  tried(claim: Claim, id: string, error: string): Promise<void>;
  /** Whether it was there. */
  remove(claim: Claim, id: string): Promise<boolean>;
}
