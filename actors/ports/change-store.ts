/** The change log with which every node keeps its copy of all instances and webhooks current. */
import type { InstanceId } from '../model.ts';

export interface Change {
  readonly kind: 'instance' | 'webhook';
  readonly id: string;
  /** The version, which grows with every change. A change may be committed after a change with a higher version. */
  readonly version: number;
  readonly removed: boolean;
}

/** The result of one query for changes. Transactions are numbered in the order in which they begin to write. */
export interface ChangeLook {
  /** The changes, oldest first. Objects whose rows are completely deleted are not listed. */
  readonly changes: readonly Change[];
  /** The last version that a transaction has taken, committed or not. */
  readonly latest: number;
  /** All transactions with a lower number have ended, and `changes` contains their committed changes. */
  readonly oldest: number;
  /** Transactions with this number or a higher one had not begun to write. */
  readonly next: number;
}

export interface ChangeStore {
  /** Returns committed changes with a higher version. */
  since(version: number): Promise<ChangeLook>;
  /** Returns the ids of all instances and webhooks that are not removed. */
  ids(): Promise<{ readonly instances: readonly InstanceId[]; readonly webhooks: readonly string[] }>;
}
