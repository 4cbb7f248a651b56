/** Committed events on their way to receivers. */
import type { InstanceId } from './instance.ts';
import type { EventType } from './webhook.ts';

/** The length up to which a text may be a keyword. In characters. */
export const longestKeyword = 200;

/** A committed event, on its way to webhooks and streams. */
export interface GatewayEvent {
  /** A random, stable id. Every delivery of the event sends it as `webhook-id`. */
  readonly id: string;
  readonly instanceId: InstanceId;
  readonly type: EventType;
  /** The message type for the URL segment and the stream filter; '' for events without a message. */
  readonly messageType: string;
  /** The ordering key. Events of one lane stay in order, and different lanes are independent. */
  readonly lane: string;
  /**
   * The facts that filters test; null for events that no filter suppresses (receipts, connection). `messageId`: the platform's id. `keyword`: the
   * written or chosen text if it is short enough for a keyword, else ''.
   */
  readonly message: {
    readonly fromMe: boolean;
    readonly isGroup: boolean;
    readonly wasSentByApi: boolean;
    readonly messageId?: string;
    readonly trackSource?: string;
    readonly keyword?: string;
  } | null;
  readonly at: number;
  /** The keys of the event, as they stand at the root of a webhook body (docs/events.md). */
  readonly payload: Readonly<Record<string, unknown>>;
}

/** The fields of a webhook body that describe the instance. */
export interface EventSender {
  readonly owner: string;
  readonly token: string;
  readonly name: string;
  /** Address of this server. */
  readonly baseUrl: string;
}

/** One delivery that waits in the outbox. There is one row per event and webhook. */
export interface Delivery {
  /** The sequence number, which grows with every row. Rows of a lane are delivered in this order. */
  readonly seq: number;
  readonly webhookId: string;
  readonly instanceId: InstanceId;
  readonly eventId: string;
  readonly type: EventType;
  readonly messageType: string;
  readonly lane: string;
  /** JSON of the event's own keys, without the envelope. */
  readonly body: string;
  readonly attempts: number;
  readonly at: number;
  /** The earliest time of the next attempt of a parked delivery; 0 if the delivery waits in its lane. */
  readonly notBefore: number;
}

/**
 * The states of a delivery. `waiting`: in its lane; `parked`: until its next attempt, or behind a parked row of its lane; `dead`: attempts used up;
 * `delivered`: done.
 */
export const deliveryStates = ['waiting', 'parked', 'dead', 'delivered'] as const;

export type DeliveryState = (typeof deliveryStates)[number];

/** The stored outcome of the last attempt. */
export interface LastAttempt {
  /** The number of all attempts, including this one. */
  readonly attempts: number;
  /** The HTTP status; 0 if the receiver gave none. */
  readonly status: number;
  /** '' if the attempt succeeded. */
  readonly error: string;
}

/** One delivery for display, without its body. */
export interface DeliveryRecord
  extends LastAttempt, Pick<Delivery, 'webhookId' | 'instanceId' | 'eventId' | 'type' | 'messageType' | 'at'> {
  readonly state: DeliveryState;
  /** The time of the next attempt; 0 if the delivery waits in its lane or has ended. */
  readonly notBefore: number;
  /** The end of the delivery; 0 while it waits. */
  readonly endedAt: number;
}

/** One record of the history of delivery errors (`GET /webhook/errors`). */
export interface DeliveryError {
  readonly created: number;
  readonly url: string;
  readonly type: 'local' | 'global';
  readonly event: EventType;
  readonly messageType: string;
  readonly statusCode: number | null;
  readonly attempts: number;
  readonly error: string;
  readonly payload: unknown;
}
