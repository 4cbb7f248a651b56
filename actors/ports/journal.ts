/** Where entries become rows. */
import type { Delivery, Entry, GatewayEvent, InstanceRecord } from '../model.ts';

/** What one commit brought about. */
export interface Committed {
  readonly events: readonly GatewayEvent[];
  readonly deliveries: readonly Delivery[];
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
}
