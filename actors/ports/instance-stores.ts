/** Storage of instances, webhooks and server-wide settings. */
import type { InstanceId, InstancePatch, InstanceRecord, Webhook } from '../model.ts';

export interface InstanceStore {
  /** All of them, at start. */
  all(): Promise<readonly InstanceRecord[]>;
  /** Those of these that are registered. */
  some(ids: readonly InstanceId[]): Promise<readonly InstanceRecord[]>;
  /** The one with this token; null when there is none. */
  byToken(token: string): Promise<InstanceRecord | null>;
  insert(record: InstanceRecord): Promise<void>;
  /** Sets `updated` too. False when the instance is gone. Rejects with `EpochLost` when `epoch` is not the instance's any more. */
  update(id: InstanceId, epoch: number, patch: InstancePatch): Promise<boolean>;
  /**
   * The instance and its webhooks are gone for all other methods, and its credentials are deleted. Its rows are left to `RemovalStore`. Fails like
   * `update`.
   */
  remove(id: InstanceId, epoch: number): Promise<void>;
}

export interface WebhookStore {
  all(): Promise<readonly Webhook[]>;
  /** Those of these that there are. */
  some(ids: readonly string[]): Promise<readonly Webhook[]>;
  /** Adds or replaces the webhook. `epoch` is that of its instance. A global webhook has none, so that 0 is given. Rejects with `EpochLost` for a former owner. */
  save(webhook: Webhook, epoch: number): Promise<void>;
  /** The webhook is gone for all other methods. Its deliveries are left to `RemovalStore`. Fails like `save`. */
  remove(webhook: Pick<Webhook, 'id' | 'instanceId'>, epoch: number): Promise<void>;
}

/** Something that was removed and still has rows. */
export interface Removal {
  /** `account`: what an instance has of its account. Its settings, its webhooks with their deliveries, and its credentials stay. `keys`: of a session of the instance that ended. */
  readonly kind: 'instance' | 'webhook' | 'campaign' | 'account' | 'keys';
  /** Of a campaign behind that of its instance, with a space between. */
  readonly id: string;
}

/** Removes the rows of what was removed, which may be millions, a bounded number at a time. */
export interface RemovalStore {
  /** Removals that are not finished, those of an earlier run among them. */
  pending(): Promise<readonly Removal[]>;
  /** Removes one piece; false when nothing is left of it. Safe to repeat, also after a crash in between. */
  removePiece(removal: Removal): Promise<boolean>;
}

/** Server-wide values, small and few. */
export interface SettingStore {
  get(name: string): Promise<string | null>;
  set(name: string, value: string): Promise<void>;
  /** Sets it where it is still `before` (null: where there is none yet); false where somebody else was first. */
  swap(name: string, before: string | null, value: string): Promise<boolean>;
}
