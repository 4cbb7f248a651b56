/** Gateway methods for entries that the database refused. */
import type { InstanceId, Result } from '../model.ts';
import type { RefusedEntry } from '../ports/journal.ts';

export type { RefusedEntry } from '../ports/journal.ts';

export interface RefusedPage {
  readonly entries: readonly RefusedEntry[];
  readonly more: boolean;
}

export interface RefusedFace {
  /** Returns entries that the database refused because of their data. `instance`: null for all. */
  refusedEntries(query: { readonly instance: InstanceId | null; readonly limit: number; readonly offset: number }): Promise<RefusedPage>;
  /** Stores the entry now, with its events. Refuses with `notFound`, or with `conflict` if the database refuses the entry again. */
  retryRefused(id: InstanceId, entry: string): Promise<Result<null>>;
  /** Deletes the entry for good. Refuses with `notFound`. */
  discardRefused(id: InstanceId, entry: string): Promise<Result<null>>;
}
