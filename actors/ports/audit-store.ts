/** The stored audit log. */
import type { AuditNote, AuditPage, AuditQuery } from '../model.ts';

export interface AuditStore {
  /** Adds the entries in their order. */
  add(notes: readonly AuditNote[]): Promise<void>;
  find(query: AuditQuery): Promise<AuditPage>;
  /**
   * Removes at most `limit` entries, and returns their number: entries from before `before` (Unix milliseconds), and the oldest ones beyond `most`. Entries
   * of instance tokens are counted apart from those of administrators, so that the owner of a token cannot push out the others.
   */
  expire(before: number, most: number, limit: number): Promise<number>;
}
