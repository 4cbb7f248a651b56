/** Where entries become rows. */
import type { Delivery, Entry, GatewayEvent, InstanceRecord, InstanceId } from '../model.ts';

/** An event that could not be made or has no JSON. What it tells of is stored all the same. */
export interface UnrenderedEvent extends Pick<GatewayEvent, 'id' | 'type' | 'messageType'> {
  /** Webhooks that would have got it. */
  readonly webhooks: readonly string[];
  readonly error: unknown;
}

/** What one commit brought about. */
export interface Committed {
  readonly events: readonly GatewayEvent[];
  readonly deliveries: readonly Delivery[];
  /** Absent when there is none. */
  readonly unrendered?: readonly UnrenderedEvent[];
}

/** Where entries become rows: one transaction for messages, chats and outbox together. */
export interface Journal {
  /**
   * Commits the entries in their order. `targets` says which webhooks want an event; a delivery row is made for each.
   * Committing the same entries again is harmless. All or nothing; rejects with `EpochLost` when `epoch` is not the instance's any more.
   */
  commit(
    instance: Pick<InstanceRecord, 'id' | 'owner' | 'epoch'>,
    entries: readonly Entry[],
    targets: (event: GatewayEvent) => readonly string[],
  ): Promise<Committed>;
  /** Rows of the instance were removed: what is remembered of them is not used any more. */
  forget(instance: InstanceId): void;
}
