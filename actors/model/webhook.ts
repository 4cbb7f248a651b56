/** Webhooks, the options of their deliveries, and committed events on their way to receivers. */
import type { ChatwootInbox } from './chatwoot.ts';
import type { InstanceId } from './instance.ts';

// Webhooks and the options of their deliveries.

/** The event types, in the order of the OpenAPI document. */
export const eventTypes = [
  'connection',
  'history',
  'messages',
  'messages_update',
  'newsletter_messages',
  'call',
  'contacts',
  'presence',
  'groups',
  'labels',
  'chats',
  'chat_labels',
  'sender',
] as const;

export type EventType = (typeof eventTypes)[number];

/**
 * The names that a webhook may list: a type, all types, or `status_posts`. The gateway accepts `status_posts` because clients of newer servers with
 * this API send the name, but makes no such event (docs/events.md).
 */
export const eventNames: readonly string[] = ['all', 'All', ...eventTypes, 'status_posts'];

const webhooksOnly: readonly EventType[] = ['newsletter_messages', 'sender'];

/** The eleven event types that streams show. */
export const streamTypes: readonly EventType[] = eventTypes.filter((type) => !webhooksOnly.includes(type));

/** The filters of `excludeMessages` (`POST /webhook`). */
export const messageFilters = ['wasSentByApi', 'wasNotSentByApi', 'fromMeYes', 'fromMeNo', 'isGroupYes', 'isGroupNo'] as const;

export type MessageFilter = (typeof messageFilters)[number];

/** The columns of a webhook that can be damaged in the database, with their names in the interface. */
const damageWords = {
  private: 'secret and headers',
  events: 'events',
  exclude_messages: 'excludeMessages',
} as const;
type DamagedPart = keyof typeof damageWords;

/** Returns the names of the damaged columns, such as `private, events`; '' for none. */
export const damagedParts = (isDamaged: Readonly<Record<DamagedPart, boolean>>): string =>
  (Object.keys(damageWords) as DamagedPart[]).filter((part) => isDamaged[part]).join(', ');

const damageOf = ({ unreadable = '' }: Webhook): readonly DamagedPart[] =>
  (Object.keys(damageWords) as DamagedPart[]).filter((part) => unreadable.split(', ').includes(part));

/** Returns true if the list of the webhook's events is damaged. All events then wait, because the gateway does not know which of them the webhook wants. */
export const listensToUnknown = (webhook: Webhook): boolean => damageOf(webhook).includes('events');

/** Returns the reason why nothing is posted to a damaged webhook; '' if the webhook is whole. */
export const damageText = (webhook: Webhook): string => {
  const words = damageOf(webhook)
    .map((part) => damageWords[part])
    .join(', ');
  if (words === '') return '';
  return `${words} of the webhook are damaged in the database, and nothing is posted: save the webhook with ${words.replaceAll(', ', ' and ')}, or delete it`;
};

/** Returns true if a change writes every damaged field. The former values are unknown, so the change must replace all of them. */
export const repairs = (
  webhook: Webhook,
  change: { readonly secret?: unknown; readonly events?: unknown; readonly excludeMessages?: unknown },
): boolean => {
  const given: Readonly<Record<DamagedPart, unknown>> = {
    private: change.secret,
    events: change.events,
    exclude_messages: change.excludeMessages,
  };
  return damageOf(webhook).every((part) => given[part] !== undefined);
};

/** A webhook of an instance, or the global webhook (`instanceId` null). */
export interface Webhook {
  readonly id: string;
  readonly instanceId: InstanceId | null;
  readonly enabled: boolean;
  readonly url: string;
  /** The names as the client sent them. Unknown names never match. `All` and `all` match every type except `newsletter_messages`. */
  readonly events: readonly string[];
  readonly excludeMessages: readonly string[];
  readonly addUrlEvents: boolean;
  readonly addUrlTypesMessages: boolean;
  /** True for the webhook that a client manages without ids (`POST /webhook` without `action` and `id`). */
  readonly managed: boolean;
  /** The `whsec_…` secret that signs deliveries (Standard Webhooks); '' for none. Sealed at rest. */
  readonly secret: string;
  /** Headers of every delivery. The headers may contain credentials and are sealed at rest. */
  readonly headers: Readonly<Record<string, string>>;
  /** The inbox that shows the deliveries as messages. In that case `url` is the Chatwoot server. Absent for webhooks that post to a receiver. */
  readonly chatwoot?: ChatwootInbox;
  readonly created: number;
  /**
   * The damaged columns, such as `private, events`. Nothing is posted while any column is damaged. `private`: the sealed secret, headers and inbox cannot
   * be decrypted. Absent if the row is whole. Never stored.
   */
  readonly unreadable?: string;
}

// Committed events on their way to receivers.

/** The largest length of a keyword. In characters. */
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
  /** The keys of the event, as they are at the root of a webhook body (docs/events.md). */
  readonly payload: Readonly<Record<string, unknown>>;
}

/** The fields of a webhook body that describe the instance. */
export interface EventSender {
  readonly owner: string;
  readonly token: string;
  readonly name: string;
  /** The public URL of this gateway. */
  readonly baseUrl: string;
}

/** A delivery that waits in the outbox. The outbox has one row for each event and webhook. */
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
  /** The size of the body. In bytes. */
  readonly size: number;
  readonly attempts: number;
  readonly at: number;
  /** The earliest time of the next attempt of a parked delivery; 0 if the delivery waits in its lane. */
  readonly notBefore: number;
  /** The attempts so far; absent before the first one. */
  readonly tries?: readonly Try[];
}

/** One attempt at a delivery, for people who look for a fault. */
export interface Try {
  /** The start, in Unix milliseconds. */
  readonly at: number;
  /** The duration, in milliseconds. */
  readonly ms: number;
  /** The HTTP status; 0 if the receiver gave none. */
  readonly status: number;
  /** '' if the attempt succeeded. */
  readonly error: string;
  /** The beginning of the body of a refusal. Only the last attempt of a delivery has this field. */
  readonly answer?: string;
}

/**
 * The states of a delivery. `waiting`: in its lane; `parked`: until its next attempt, or behind a parked row of its lane; `dead`: given up;
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
  /** The last attempts, the latest at the end; absent if none is known. */
  readonly tries?: readonly Try[];
}

/** One delivery for display, without its body. */
export interface DeliveryRecord
  extends LastAttempt, Pick<Delivery, 'webhookId' | 'instanceId' | 'eventId' | 'type' | 'messageType' | 'at'> {
  readonly state: DeliveryState;
  /** The time of the next attempt; 0 if the delivery waits in its lane or has ended. */
  readonly notBefore: number;
  /** The time at which the delivery ended; 0 while the delivery waits. In Unix milliseconds. */
  readonly endedAt: number;
}

/** One delivery for display, with its body. */
export interface DeliveryInFull extends DeliveryRecord, Pick<Delivery, 'body'> {}

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
