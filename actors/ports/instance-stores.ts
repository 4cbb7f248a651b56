/** Storage of instances, webhooks and server-wide settings. */
import type { InstanceId, InstancePatch, InstanceRecord, Webhook } from '../model.ts';

export interface InstanceStore {
  /** Returns all instances, for the start of the process. */
  all(): Promise<readonly InstanceRecord[]>;
  /** Returns the registered instances among these ids. */
  some(ids: readonly InstanceId[]): Promise<readonly InstanceRecord[]>;
  /** Returns the instance with this token; null if there is none. */
  byToken(token: string): Promise<InstanceRecord | null>;
  insert(record: InstanceRecord): Promise<void>;
  /** Updates the record and sets `updated`. Returns false if the instance was removed. Rejects with `EpochLost` if `epoch` is outdated. */
  update(id: InstanceId, epoch: number, patch: InstancePatch): Promise<boolean>;
  /**
   * Hides the instance and its webhooks from all other methods, and deletes its credentials. `RemovalStore` deletes the rows of the instance later.
   * Fails like `update`.
   */
  remove(id: InstanceId, epoch: number): Promise<void>;
}

export interface WebhookStore {
  all(): Promise<readonly Webhook[]>;
  /** Returns the existing webhooks among these ids. */
  some(ids: readonly string[]): Promise<readonly Webhook[]>;
  /** Adds or replaces the webhook. `epoch` is that of its instance, or 0 for a global webhook. Rejects with `EpochLost` for a former owner. */
  save(webhook: Webhook, epoch: number): Promise<void>;
  /** Hides the webhook from all other methods. `RemovalStore` deletes the deliveries of the webhook later. Fails like `save`. */
  remove(webhook: Pick<Webhook, 'id' | 'instanceId'>, epoch: number): Promise<void>;
}

/** A removed object that still has rows. */
export interface Removal {
  /**
   * The kind of object. `account`: the data of an instance's account; its settings, webhooks, deliveries and credentials stay. `keys`: keys of an
   * ended session.
   */
  readonly kind: 'instance' | 'webhook' | 'campaign' | 'account' | 'keys';
  /** The id. For a campaign: the id of its instance, a space, and the id of the campaign. */
  readonly id: string;
}

/** Deletes the rows of removed objects in batches of bounded size. There may be millions of rows. */
export interface RemovalStore {
  /** Returns unfinished removals, including those of an earlier run. */
  pending(): Promise<readonly Removal[]>;
  /** Removes one batch. Returns false if no rows are left. Safe to repeat, also after a crash. */
  removePiece(removal: Removal): Promise<boolean>;
}

/** A few small server-wide values. */
export interface SettingStore {
  get(name: string): Promise<string | null>;
  set(name: string, value: string): Promise<void>;
  /** Sets the value if it still equals `before` (null for no value). Returns false if another writer was first. */
  swap(name: string, before: string | null, value: string): Promise<boolean>;
}
