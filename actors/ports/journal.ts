/** The ports of the journal, of the entries that the journal refused, and of the idempotency keys that it wrote. */
import type { Claim, Delivery, Entry, GatewayEvent, InstanceId, InstanceRecord, Message, UsedSendKey } from '../model.ts';
import type { ArchivedRows } from './moving.ts';

// The interface of the journal, which turns entries into rows.

/** An event that could not be built or serialised to JSON. The entry of the event is stored nevertheless. */
export interface UnrenderedEvent extends Pick<GatewayEvent, 'id' | 'type' | 'messageType'> {
  /** The webhooks that would have received the event. */
  readonly webhooks: readonly string[];
  readonly error: unknown;
}

/** A message that is stored and published under another short id, because another message already has its short id. */
export interface RenamedMessage extends Pick<Message, 'messageId' | 'chatId' | 'id'> {}

/** The outcome of one commit. */
export interface Committed {
  /** The events to publish, including events of an earlier commit without an answer. `deliveries` lacks the deliveries of these earlier events. */
  readonly events: readonly GatewayEvent[];
  readonly deliveries: readonly Delivery[];
  /** Absent if all events were rendered. */
  readonly unrendered?: readonly UnrenderedEvent[];
  /** Absent if no message got another short id. */
  readonly renamed?: readonly RenamedMessage[];
}

/** The journal. One transaction writes messages, chats and outbox together. */
export interface Journal {
  /**
   * Commits the entries in order, all or nothing. `targets` returns the webhooks of an event. Each webhook gets a delivery row. Committing the
   * same entries again is harmless. `again`: true if an earlier commit of these entries had no answer. Rejects with `EpochLost` if `epoch` is outdated.
   */
  commit(
    instance: Pick<InstanceRecord, 'id' | 'owner' | 'epoch'>,
    entries: readonly Entry[],
    targets: (event: GatewayEvent) => readonly string[],
    again?: boolean,
  ): Promise<Committed>;
  /**
   * Stores rows of an archive between two commits, without events. A stored message or contact stays as it is. A stored chat without lead fields gets
   * those of the archive. A stored chat also gets the last message of the archive if that message is later. Returns the number of rows that were added or
   * changed. Safe to repeat. Rejects with `EpochLost` if the epoch is outdated or the instance is gone.
   */
  addArchived(claim: Claim, rows: ArchivedRows): Promise<number>;
  /** Clears the cache of the instance, or of all instances (null), because their rows changed without the journal. */
  forget(instance: InstanceId | null): void;
}

// Entries that the journal refused because of their data. The entries are stored until a person retries or discards them.

/** The public facts of a refused entry, without its content. */
export interface RefusedEntry {
  readonly instanceId: InstanceId;
  readonly id: string;
  readonly kind: Entry['kind'];
  /** The error code of the database, or the name of the error. */
  readonly error: string;
  readonly tries: number;
  /** The time of the first refusal. In Unix milliseconds. */
  readonly at: number;
}

export interface RefusedStore {
  /** Stores the refused entry. Returns false if the instance has reached its limit of entries. Rejects with `EpochLost` for an outdated epoch. */
  keep(claim: Claim, entry: Entry, error: string): Promise<boolean>;
  /** Returns a page of entries, oldest first within each instance. `instance`: null for all. */
  list(query: { readonly instance: InstanceId | null; readonly limit: number; readonly offset: number }): Promise<{
    readonly entries: readonly RefusedEntry[];
    readonly more: boolean;
  }>;
  /** Returns the entry; null if there is none. */
  read(instance: InstanceId, id: string): Promise<Entry | null>;
  /** Records a retry that failed. */
  tried(claim: Claim, id: string, error: string): Promise<void>;
  /** Removes the entry. Returns true if it existed. */
  remove(claim: Claim, id: string): Promise<boolean>;
}

/** Queries of used idempotency keys. The journal writes the keys. */
export interface SendKeyStore {
  /** Returns the used key; null if the key was never used or has been removed. */
  find(instance: InstanceId, hash: string): Promise<UsedSendKey | null>;
  /** Removes keys of all instances that were used before this time (Unix milliseconds), at most `limit`. Returns the number of removed keys. */
  expire(before: number, limit: number): Promise<number>;
}
