/** What every node remembers of all instances, and what changed of it. */
import type { InstanceId } from '../model.ts';

export interface Change {
  readonly kind: 'instance' | 'webhook';
  readonly id: string;
  /** Grows with every change. A change may be committed after a later one. */
  readonly version: number;
  readonly removed: boolean;
}

export interface ChangeStore {
  latest(): Promise<number>;
  /** Those of a higher version, the oldest first. What is gone completely is not among them. */
  since(version: number): Promise<readonly Change[]>;
  /** Everything that is not removed. */
  ids(): Promise<{ readonly instances: readonly InstanceId[]; readonly webhooks: readonly string[] }>;
}
