/** What every node remembers of all instances, and what changed of it. */
import type { InstanceId } from '../model.ts';

export interface Change {
  readonly kind: 'instance' | 'webhook';
  readonly id: string;
  /** Grows with every change. A change may be committed after a later one. */
  readonly version: number;
  readonly removed: boolean;
}

/** The result of one query for changes. Transactions are numbered in the order in which they begin to write. */
export interface ChangeLook {
  /** The oldest first. What is gone completely is not among them. */
  readonly changes: readonly Change[];
  /** The last version that a transaction has taken, committed or not. */
  readonly latest: number;
  /** All transactions with a lower number are over, and `changes` has what they committed. */
  readonly oldest: number;
  /** Transactions with this number or a higher one had not begun to write. */
  readonly next: number;
}

export interface ChangeStore {
  /** Committed changes of a higher version. */
  since(version: number): Promise<ChangeLook>;
  /** Everything that is not removed. */
  ids(): Promise<{ readonly instances: readonly InstanceId[]; readonly webhooks: readonly string[] }>;
}
