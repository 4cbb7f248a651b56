/** Entries that the journal refused because of their data. The entries are kept until a person retries them. */
import type { Claim, Entry, InstanceId } from '../model.ts';

/** The public facts of a refused entry, without its content. */
export interface RefusedEntry {
  readonly instanceId: InstanceId;
  readonly id: string;
  readonly kind: Entry['kind'];
  /** The error code of the database, or the name of the error. */
  readonly error: string;
  readonly tries: number;
  /** The time of the first refusal. In Unix milliseconds. */
  readonly at: number;
}

export interface RefusedStore {
  /** Keeps the entry. Returns false if the instance has reached its limit of entries. Rejects with `EpochLost` for an outdated epoch. */
  keep(claim: Claim, entry: Entry, error: string): Promise<boolean>;
  /** Returns a page of entries, oldest first within each instance. `instance`: null for all. */
  list(query: { readonly instance: InstanceId | null; readonly limit: number; readonly offset: number }): Promise<{
    readonly entries: readonly RefusedEntry[];
    readonly more: boolean;
  }>;
  /** Returns the entry; null if there is none. */
  read(instance: InstanceId, id: string): Promise<Entry | null>;
  /** Records a retry that failed. */
  tried(claim: Claim, id: string, error: string): Promise<void>;
  /** Removes the entry. Returns true if it existed. */
  remove(claim: Claim, id: string): Promise<boolean>;
}
