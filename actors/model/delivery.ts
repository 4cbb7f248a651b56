/** Committed events on their way to receivers. */
import type { InstanceId } from './instance.ts';
import type { EventType } from './webhook.ts';

/** Characters of a text that may be a keyword. */
export const longestKeyword = 200;

/** A committed event, on its way to webhooks and streams. */
export interface GatewayEvent {
  /** Random, stable; the `webhook-id` of every delivery of it. */
  readonly id: string;
  readonly instanceId: InstanceId;
  readonly type: EventType;
  /** Message type for the URL segment and the stream filter; '' when it is no message. */
  readonly messageType: string;
  /** Events of one lane stay in order; those of different lanes need not. */
  readonly lane: string;
  /**
   * What the filters look at; null for what they never suppress (receipts, connection). `messageId`: at the platform. `keyword`: what was written
   * or chosen, when it is short enough for a keyword; else ''.
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
  /** The event's own keys, as they stand at the root of a webhook body (contract/events.md). */
  readonly payload: Readonly<Record<string, unknown>>;
}

/** What every webhook body says of the instance whose event it is. */
export interface EventSender {
  readonly owner: string;
  readonly token: string;
  readonly name: string;
  /** Address of this server. */
  readonly baseUrl: string;
}

/** One delivery that waits: a row per (event, webhook). */
export interface Delivery {
  /** Grows with every row; the order of delivery within a lane. */
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
  /** Not before this time (parked); 0 when it waits in its lane. */
  readonly notBefore: number;
}

/** `waiting` in its lane, `parked` until its next attempt or behind a row of its lane that is, `dead` when the attempts are used up, `delivered`. */
export const deliveryStates = ['waiting', 'parked', 'dead', 'delivered'] as const;

export type DeliveryState = (typeof deliveryStates)[number];

/** How an attempt went, as far as it is kept. */
export interface LastAttempt {
  /** All of them, this one included. */
  readonly attempts: number;
  /** 0 when the receiver gave none. */
  readonly status: number;
  /** '' when it succeeded. */
  readonly error: string;
}

/** One delivery as it is shown; everything but the body. */
export interface DeliveryRecord
  extends LastAttempt, Pick<Delivery, 'webhookId' | 'instanceId' | 'eventId' | 'type' | 'messageType' | 'at'> {
  readonly state: DeliveryState;
  /** When it is attempted again; 0 when it waits in its lane or has ended. */
  readonly notBefore: number;
  /** 0 while it waits. */
  readonly endedAt: number;
}

/** One record of the delivery-error history (specification 2.3). */
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
