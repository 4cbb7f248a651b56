/** The last steps of sessions through their charts, kept for those who look at them after a restart. */
import type { InstanceId } from '../model.ts';

export interface StepStore {
  /** Adds steps behind those that are stored, and keeps the newest `most` of each instance. An instance that is gone is passed over. */
  append(batch: readonly { readonly instanceId: InstanceId; readonly steps: readonly object[] }[], most: number): Promise<void>;
  /** The oldest first; whatever an earlier release wrote, so that the reader checks each. */
  read(instance: InstanceId): Promise<readonly unknown[]>;
}
