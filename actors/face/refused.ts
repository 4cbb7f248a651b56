/** What the gateway offers on entries that the database refused. */
import type { InstanceId, Result } from '../model.ts';
import type { RefusedEntry } from '../ports/refused-store.ts';

export type { RefusedEntry } from '../ports/refused-store.ts';

export interface RefusedPage {
  readonly entries: readonly RefusedEntry[];
  readonly more: boolean;
}

export interface RefusedFace {
  /** Entries of sessions that the database refused for their data. `instance`: null for all. */
  refusedEntries(query: { readonly instance: InstanceId | null; readonly limit: number; readonly offset: number }): Promise<RefusedPage>;
  /** Stores the entry now, with its events. Refused: `notFound`; `conflict` when the database refuses it again. */
  retryRefused(id: InstanceId, entry: string): Promise<Result<null>>;
  /** Deletes the entry for good. Refused: `notFound`. */
  discardRefused(id: InstanceId, entry: string): Promise<Result<null>>;
}
