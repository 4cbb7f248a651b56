/** Storage of the last steps of sessions through their charts. The steps remain visible after a restart. */
import type { InstanceId } from '../model.ts';

export interface StepStore {
  /** Appends steps and keeps the newest `most` of each instance. Skips removed instances. */
  append(batch: readonly { readonly instanceId: InstanceId; readonly steps: readonly object[] }[], most: number): Promise<void>;
  /** Returns the steps, oldest first. An earlier release may have written them, so the reader must check each step. */
  read(instance: InstanceId): Promise<readonly unknown[]>;
}
