/** Storage of instances and webhooks, of server-wide settings, and of their administration: changes, one-time codes, sign-ins and steps. */
import type { InstanceId, InstancePatch, InstanceRecord, Webhook } from '../model.ts';

// Storage of instances, webhooks and server-wide settings.

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
  /** Adds or replaces the webhook. `epoch`: the epoch of its instance; 0 for a global webhook. Rejects with `EpochLost` for a former owner. */
  save(webhook: Webhook, epoch: number): Promise<void>;
  /** Disables the webhook if it still has this address. Changes no other field, because another change may be under way. Fails like `save`. */
  disable(webhook: Pick<Webhook, 'id' | 'instanceId' | 'url'>, epoch: number): Promise<void>;
  /** Hides the webhook from all other methods. `RemovalStore` deletes the deliveries of the webhook later. Fails like `save`. */
  remove(webhook: Pick<Webhook, 'id' | 'instanceId'>, epoch: number): Promise<void>;
}

/** A removed object that still has rows. */
export interface Removal {
  /** The kind of object. `keys`: keys of an ended session. */
  readonly kind: 'instance' | 'webhook' | 'campaign' | 'keys';
  /** The id. For a campaign: the id of its instance, a space, and the id of the campaign. */
  readonly id: string;
}

/** The data of an instance's former account. The settings, webhooks and credentials of the instance stay. */
interface AccountRemoval {
  readonly kind: 'account';
  readonly id: InstanceId;
  /**
   * The epoch of the instance. The removal of rows with an outdated epoch rejects with `EpochLost`, because the next owner may have rows of the new
   * account.
   */
  readonly epoch: number;
}

/** Deletes the rows of removed objects in batches of bounded size, because an object may have millions of rows. */
export interface RemovalStore {
  /** Returns unfinished removals, including those that an earlier process began. */
  pending(): Promise<readonly Removal[]>;
  /** Removes one batch. Returns false if no rows are left. Safe to repeat, also after a crash. */
  removePiece(removal: Removal | AccountRemoval): Promise<boolean>;
  /** Forgets the position of an interrupted removal. The next removal of the instance begins at the first row, because new rows may precede the position. */
  rewind(id: InstanceId): void;
}

/** The name of the setting that holds the admin token as a hash. */
export const adminTokenSetting = 'admin.token';

export interface SettingStore {
  get(name: string): Promise<string | null>;
  set(name: string, value: string): Promise<void>;
  /** Sets the value if it still equals `before` (null for no value). Returns false if another writer was first. */
  swap(name: string, before: string | null, value: string): Promise<boolean>;
}

// The change log with which every node keeps its copy of all instances and webhooks current.

export interface Change {
  readonly kind: 'instance' | 'webhook';
  readonly id: string;
  /** The version, which grows with every change. A change may be committed after a change with a higher version. */
  readonly version: number;
  readonly removed: boolean;
}

/** The result of one query for changes. PostgreSQL numbers transactions in the order in which they begin to write. */
export interface ChangeLook {
  /** The changes, oldest first. Objects whose rows are completely deleted are not listed. */
  readonly changes: readonly Change[];
  /** The last version that a transaction has taken, committed or not. */
  readonly latest: number;
  /** The number of the oldest open transaction; equal to `next` if none is open. `changes` includes every commit with a lower number. */
  readonly oldest: number;
  /** The lowest number that PostgreSQL has not assigned. A transaction that begins to write after this query gets this number or a higher number. */
  readonly next: number;
  /** The setting `adminTokenSetting`; null if the setting is absent. */
  readonly admin: string | null;
}

export interface ChangeStore {
  /** Returns committed changes with a higher version. */
  since(version: number): Promise<ChangeLook>;
  /** Returns the ids of all instances and webhooks that are not removed. */
  ids(): Promise<{ readonly instances: readonly InstanceId[]; readonly webhooks: readonly string[] }>;
}

// One-time codes for passkeys. A code is valid on every node. Times are measured by the database's clock. Durations are in milliseconds.

export interface PasskeyCodeRow {
  readonly instanceId: InstanceId;
  /** True if the code was exchanged for a ticket. The hash is then that of the ticket. */
  readonly used: boolean;
}

export interface PasskeyCodeStore {
  /** Replaces the code or the ticket of the instance. */
  put(instanceId: InstanceId, hash: string, ms: number): Promise<void>;
  /** Returns the row if it is still valid, else null. */
  find(hash: string): Promise<PasskeyCodeRow | null>;
  /** Exchanges a code for a ticket. Returns false if the code is no longer valid. Only one of two concurrent calls succeeds. */
  use(hash: string, ticket: string, ms: number): Promise<boolean>;
  /** Ends the code or the ticket of the instance. Idempotent. */
  end(instanceId: InstanceId): Promise<void>;
}

/** Storage of the last steps of sessions through their charts. The steps remain visible after a restart. */
export interface StepStore {
  /** Appends steps and keeps the newest `most` of each instance. Skips removed instances. */
  append(batch: readonly { readonly instanceId: InstanceId; readonly steps: readonly object[] }[], most: number): Promise<void>;
  /** Returns the steps, oldest first. An earlier release may have written them, so the reader must check each step. */
  read(instance: InstanceId): Promise<readonly unknown[]>;
  /** Returns the last eight steps of each instance. Leaves out instances without steps. The reader must check each step, as for `read`. */
  last(instances: readonly InstanceId[]): Promise<ReadonlyMap<InstanceId, readonly unknown[]>>;
}
