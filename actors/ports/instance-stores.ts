/** Storage of instances, webhooks and server-wide settings. */
import type { InstanceId, InstancePatch, InstanceRecord, Webhook } from '../model.ts';

export interface InstanceStore {
  /** All of them, at start. */
  all(): Promise<readonly InstanceRecord[]>;
  insert(record: InstanceRecord): Promise<void>;
  /** Sets `updated` too. False when the instance is gone. Rejects with `EpochLost` when `epoch` is not the instance's any more. */
  update(id: InstanceId, epoch: number, patch: InstancePatch): Promise<boolean>;
  /** Removes the instance with everything that belongs to it, in one transaction. Fails like `update`. */
  remove(id: InstanceId, epoch: number): Promise<void>;
}

export interface WebhookStore {
  all(): Promise<readonly Webhook[]>;
  save(webhook: Webhook): Promise<void>;
  /** With what waits for it. */
  remove(id: string): Promise<void>;
}

/** Server-wide values, small and few. */
export interface SettingStore {
  get(name: string): Promise<string | null>;
  set(name: string, value: string): Promise<void>;
}
