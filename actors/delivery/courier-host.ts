/** The host of a courier, and the events that a courier takes. */
import type { Delivery, DeliveryError, EventSender, InstanceId, Webhook } from '../model.ts';
import type { DeliveryPolicy } from '../policy/policy.ts';
import type { Attempt, Envelope, Log, Meter, OutboxStore, Receiver, Signer, Time } from '../ports.ts';
import type { Circuit } from './receiver-health.ts';
import type { Slots } from '../policy/pacing.ts';

/** Delivers events to a service that is no webhook receiver (Chatwoot). */
export interface EventConnector {
  /** Delivers one event of a connector webhook. Never throws: a failure is an `Attempt`. */
  deliver(webhook: Webhook, row: Delivery): Promise<Attempt>;
}

/** The host that all couriers share. */
export interface CourierHost {
  readonly outbox: OutboxStore;
  readonly receiver: Receiver;
  /** Delivers events to Chatwoot instead of a receiver. */
  readonly connector: EventConnector;
  readonly signer: Signer;
  readonly envelope: Envelope;
  /** Limits the concurrent posts of all couriers together. */
  readonly slots: Slots;
  readonly time: Time;
  readonly policy: DeliveryPolicy;
  readonly log: Log;
  readonly meter: Pick<Meter, 'posted'>;
  random(): number;
  /** Returns true if this process may post for the instance now. */
  owns(instance: InstanceId): boolean;
  /** Returns the current configuration, or null if the webhook is gone. */
  webhook(id: string): Webhook | null;
  sender(instance: InstanceId): EventSender;
  /** Returns the epoch under which the rows of the instance are written. */
  epoch(instance: InstanceId): number;
  /** Adds a failure to the history, or updates the record of the same event. */
  failed(instance: InstanceId, webhook: Webhook, eventId: string, error: Omit<DeliveryError, 'url' | 'type' | 'created'>): void;
  /** Counts an event that could not be rendered for a webhook and was set aside. */
  setAside(instance: InstanceId): void;
  /** Disables a webhook whose receiver answered 410 (Gone). */
  disable(webhook: Webhook): void;
  /** Receives the outcome of an attempt that shows the health of the receiver. */
  judged(webhookId: string, row: Delivery, outcome: Attempt): void;
  /** Returns the circuit of a webhook, which the couriers of all instances share. */
  circuit(webhookId: string): Circuit;
}

export type CourierEvent =
  /** Hands over committed rows. An empty list means that rows may wait in the outbox. */
  | { readonly type: 'delivery.added'; readonly rows: readonly Delivery[] }
  /** Reports a change of the configuration of the webhook. */
  | { readonly type: 'delivery.changed' }
  /** Reports that rows were dropped from the outbox. The courier may still have these rows in memory. */
  | { readonly type: 'delivery.trimmed' }
  /** Makes the courier forget all rows, including those under way, and read the outbox again. */
  | { readonly type: 'delivery.replaced' }
  /** Stops the courier and cuts its posts, because another node may post for the instance from now on. */
  | { readonly type: 'delivery.lost' }
  /** Asks for the view of the courier. The answer comes within the call. The answer is null while the courier is being restarted. */
  | { readonly type: 'delivery.asked'; answer(view: CourierView | null): void };

/** The state of a courier. */
export interface CourierView {
  /** The number of rows in memory. */
  readonly waiting: number;
  /** True if more rows are due than are in memory. */
  readonly isBehind: boolean;
  /** The number of lanes with a row under way (`used`), and the limit (`of`). */
  readonly lanes: { readonly used: number; readonly of: number };
  /** True if no post is under way, and no delivered row is left in the outbox. */
  readonly isQuiet: boolean;
}

export interface CourierInput {
  readonly host: CourierHost;
  readonly instanceId: InstanceId;
  readonly webhookId: string;
}
