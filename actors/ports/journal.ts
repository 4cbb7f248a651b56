/** The interface of the journal, which turns entries into rows. */
import type { Delivery, Entry, GatewayEvent, InstanceRecord, InstanceId, Message } from '../model.ts';

/** An event that could not be built or serialised to JSON. The entry of the event is stored nevertheless. */
export interface UnrenderedEvent extends Pick<GatewayEvent, 'id' | 'type' | 'messageType'> {
  /** The webhooks that would have received the event. */
  readonly webhooks: readonly string[];
  readonly error: unknown;
}

/** A message whose short id was taken, so that it was stored, and told, under another one. */
export interface RenamedMessage extends Pick<Message, 'messageId' | 'chatId' | 'id'> {}

/** The outcome of one commit. */
export interface Committed {
  readonly events: readonly GatewayEvent[];
  readonly deliveries: readonly Delivery[];
  /** Absent if all events were rendered. */
  readonly unrendered?: readonly UnrenderedEvent[];
  /** Absent when there is none. */
  readonly renamed?: readonly RenamedMessage[];
}

/** The journal. One transaction writes messages, chats and outbox together. */
export interface Journal {
  /**
   * Commits the entries in order, all or nothing. `targets` returns the webhooks of an event, and each gets a delivery row. Committing the same
   * entries again is harmless. Rejects with `EpochLost` if `epoch` is outdated.
   */
  commit(
    instance: Pick<InstanceRecord, 'id' | 'owner' | 'epoch'>,
    entries: readonly Entry[],
    targets: (event: GatewayEvent) => readonly string[],
  ): Promise<Committed>;
  /** Clears the cache of the instance, because rows of the instance were removed. */
  forget(instance: InstanceId): void;
}
