/** What a courier needs of its surroundings, and what it is asked to do. */
import type { Delivery, DeliveryError, EventSender, InstanceId, Webhook } from '../model.ts';
import type { DeliveryPolicy } from '../policy/policy.ts';
import type { Attempt, Envelope, Log, Meter, OutboxStore, Receiver, Signer, Time } from '../ports.ts';
import type { Circuit } from './circuit.ts';
import type { Slots } from './slots.ts';

/** Delivers events to a service that is no webhook receiver (Chatwoot). */
export interface EventConnector {
  /** Delivers one event of a connector webhook. Never throws: a failure is an `Attempt`. */
  deliver(webhook: Webhook, row: Delivery): Promise<Attempt>;
}

/** Shared by all couriers. */
export interface CourierHost {
  readonly outbox: OutboxStore;
  readonly receiver: Receiver;
  /** Takes what goes to Chatwoot in place of the receiver. */
  readonly connector: EventConnector;
  readonly signer: Signer;
  readonly envelope: Envelope;
  /** Limits the posts under way at once, of all couriers together. */
  readonly slots: Slots;
  readonly time: Time;
  readonly policy: DeliveryPolicy;
  readonly log: Log;
  readonly meter: Pick<Meter, 'posted'>;
  random(): number;
  /** Whether this process may post for the instance now. */
  owns(instance: InstanceId): boolean;
  /** The configuration now; null when the webhook is gone. */
  webhook(id: string): Webhook | null;
  sender(instance: InstanceId): EventSender;
  /** Under which the instance's rows are written. */
  epoch(instance: InstanceId): number;
  /** Adds the record to the history, or updates the one of the same event. */
  failed(instance: InstanceId, webhook: Webhook, eventId: string, error: Omit<DeliveryError, 'url' | 'type' | 'created'>): void;
  /** Counts an event that could not be rendered for a webhook and was set aside. */
  setAside(instance: InstanceId): void;
  /** The receiver answered 410: it wants no more. */
  disable(webhook: Webhook): void;
  /** An attempt that says something of the receiver ended. */
  judged(webhookId: string, row: Delivery, outcome: Attempt): void;
  /** The circuit of this webhook, which the couriers of all instances share. */
  circuit(webhookId: string): Circuit;
}

export type CourierEvent =
  /** Rows were committed; none: rows may wait in the outbox. */
  | { readonly type: 'delivery.added'; readonly rows: readonly Delivery[] }
  /** The configuration of the webhook changed. */
  | { readonly type: 'delivery.changed' }
  /** Rows that may be in memory were dropped from the outbox. */
  | { readonly type: 'delivery.trimmed' }
  /** The rows in memory, and those under way, are not to be posted any more: the outbox is read anew. */
  | { readonly type: 'delivery.replaced' }
  /** Another node may post for the instance from now on: nothing more is sent, and what is under way is cut. */
  | { readonly type: 'delivery.lost' }
  /** Somebody looks: answered within the call, with null while the courier is being restarted. */
  | { readonly type: 'delivery.asked'; answer(view: CourierView | null): void };

/** What a courier does now. */
export interface CourierView {
  /** Rows in memory. */
  readonly waiting: number;
  /** More rows are due than are in memory. */
  readonly isBehind: boolean;
  /** Lanes under way, and how many may be. */
  readonly lanes: { readonly used: number; readonly of: number };
  /** No post is under way, and none that succeeded is left in the outbox. */
  readonly isQuiet: boolean;
}

export interface CourierInput {
  readonly host: CourierHost;
  readonly instanceId: InstanceId;
  readonly webhookId: string;
}
