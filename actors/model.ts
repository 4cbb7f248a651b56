/**
 * The vocabulary of the gateway: records and facts, free of any library.
 *
 * Names are the field's own; the interface's spellings (`plataform`, `wa_chatid`) exist only in `src/contract/`.
 * Times are Unix milliseconds, bytes are `Uint8Array`, absent texts are ''.
 */

/** `r` and 14 hex digits (behaviour.md, "Ids"). */
export type InstanceId = string;

/** The four words of the API (specification 2.1). */
export const statuses = ['disconnected', 'connecting', 'connected', 'hibernated'] as const;
export type Status = (typeof statuses)[number];

/** What the operator asked for last; it decides what happens at the next start. Stored, never guessed. */
export const wantedStates = ['offline', 'online', 'asleep'] as const;
export type Wanted = (typeof wantedStates)[number];

/** Event types of specification 6.1, in its order. */
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

/** Filters of specification 6.2 rule 3. */
export const messageFilters = ['wasSentByApi', 'wasNotSentByApi', 'fromMeYes', 'fromMeNo', 'isGroupYes', 'isGroupNo'] as const;
export type MessageFilter = (typeof messageFilters)[number];

/** One registered instance as it is stored (specification 2.1). */
export interface InstanceRecord {
  readonly id: InstanceId;
  readonly name: string;
  /** Bearer credential of the instance; looked up by hash, encrypted at rest. */
  readonly token: string;
  readonly wanted: Wanted;
  /** Every write of keys and credentials carries it, so that a node that lost the instance writes nothing. */
  readonly epoch: number;
  /** Digits of the account; kept while disconnected. */
  readonly owner: string;
  /** Own device jid such as `5534…:57@s.whatsapp.net`, '' before the first pairing and after a logout. */
  readonly jid: string;
  readonly lid: string;
  readonly profileName: string;
  readonly profilePicUrl: string;
  readonly isBusiness: boolean;
  /** Lower case, such as `android`. */
  readonly platform: string;
  readonly systemName: string;
  readonly lastDisconnect: number | null;
  /** The sentence people read, such as `401: logged out from another device`. */
  readonly lastDisconnectReason: string;
  /** The stable machine-readable reason (`CloseCause`), '' when there was none. */
  readonly lastDisconnectCause: string;
  readonly adminField01: string;
  readonly adminField02: string;
  readonly aiApikey: string;
  readonly chatbotEnabled: boolean;
  readonly chatbotIgnoreGroups: boolean;
  readonly chatbotStopConversation: string;
  readonly chatbotStopMinutes: number;
  readonly chatbotStopWhenYouSendMsg: number;
  readonly fieldsMap: Readonly<Record<string, unknown>> | null;
  readonly lastActiveAt: number;
  readonly created: number;
  readonly updated: number;
}

/** Fields of an instance that change after it was made. */
export type InstancePatch = Partial<Omit<InstanceRecord, 'id' | 'created' | 'updated'>>;

/** Lifecycle of a message (specification 3.2); '' for messages received. The order is the order of progress. */
export const messageStatuses = ['', 'Queued', 'Canceled', 'Failed', 'Sent', 'Delivered', 'Read', 'Played'] as const;
export type MessageStatus = (typeof messageStatuses)[number];

/** One message as it is stored (specification 2.5); unique by (instance, messageId, chatId). */
export interface Message {
  /** `r` and 7 hex digits. */
  readonly id: string;
  /** Id at the platform. */
  readonly messageId: string;
  /** Phone jid where it is known, group jid, or the LID as a last resort. */
  readonly chatId: string;
  readonly chatLid: string;
  readonly sender: string;
  readonly senderPn: string;
  readonly senderLid: string;
  readonly senderName: string;
  readonly groupName: string;
  readonly isGroup: boolean;
  readonly fromMe: boolean;
  readonly wasSentByApi: boolean;
  /** Such as `Conversation`, `ImageMessage` (table in contract/events.md). */
  readonly messageType: string;
  /** `text`, `media`, `poll`, `reaction`, … */
  readonly type: string;
  /** `image`, `ptt`, …; '' for what is no media. */
  readonly mediaType: string;
  readonly source: string;
  readonly timestamp: number;
  readonly status: MessageStatus;
  readonly text: string;
  /** Id of the quoted message. */
  readonly quoted: string;
  /** Id of the message that this one edits. */
  readonly edited: string;
  /** Id of the message that this one reacts to. */
  readonly reaction: string;
  readonly vote: string;
  readonly convertOptions: string;
  readonly buttonOrListId: string;
  readonly error: string;
  /** Plain string or JSON with the contract's casing (`URL`, `fileSHA256`), bytes as base64. */
  readonly content: unknown;
  readonly sendFunction: string;
  readonly sendPayload: unknown;
  readonly fileUrl: string;
  readonly trackSource: string;
  readonly trackId: string;
  /** The encoded protobuf message, for quoting, forwarding and retry requests; null when there is none. */
  readonly raw: Uint8Array | null;
}

/** One chat as it is stored (specification 2.4); unique by (instance, chatId). `lead*` and `chatbot*` fields live in `extra` by API name. */
export interface Chat {
  readonly id: string;
  readonly chatId: string;
  readonly chatLid: string;
  readonly isGroup: boolean;
  readonly phone: string;
  readonly name: string;
  readonly contactName: string;
  readonly pushName: string;
  readonly image: string;
  readonly imagePreview: string;
  readonly archived: boolean;
  readonly blocked: boolean;
  readonly pinned: boolean;
  readonly groupAdmin: boolean;
  readonly groupAnnounce: boolean;
  readonly groupCommunity: boolean;
  readonly groupMember: boolean;
  readonly ephemeralExpiration: number;
  readonly muteEndTime: number;
  readonly labels: readonly string[];
  readonly notes: string;
  readonly unreadCount: number;
  readonly lastMessageText: string;
  readonly lastMessageType: string;
  readonly lastMessageSender: string;
  readonly lastMessageTimestamp: number;
  /** Lead and chatbot fields (`lead_name`, `chatbot_disableUntil`, …) by their API name. */
  readonly extra: Readonly<Record<string, unknown>>;
}

/** What one event told about a chat: only the fields that it names change. */
export type ChatPatch = { readonly chatId: string } & Partial<Omit<Chat, 'id' | 'chatId' | 'extra'>>;

/** A label as the account's owner defined it. `color` is an index of 0 to 19. */
export interface Label {
  readonly id: string;
  readonly name: string;
  readonly color: number;
  readonly deleted: boolean;
}

/** A label was put on a chat, or taken off. */
export interface ChatLabel {
  readonly chatId: string;
  readonly labelId: string;
  readonly labeled: boolean;
}

/** Part of what a phone hands over of its past; `of` is the word of contract/events.md. Status posts and calls are told, not stored. */
export type Past =
  | { readonly of: 'messages'; readonly items: readonly { readonly message: Message; readonly chat: ChatPatch }[] }
  | { readonly of: 'status'; readonly items: readonly Message[] }
  | { readonly of: 'chats'; readonly items: readonly ChatPatch[] }
  | { readonly of: 'labels'; readonly items: readonly Label[] }
  | { readonly of: 'chat_labels'; readonly items: readonly ChatLabel[] }
  | { readonly of: 'calls'; readonly items: readonly Readonly<Record<string, unknown>>[] };

/** A webhook of an instance, or the global one (`instanceId` null) (specification 2.2). */
export interface Webhook {
  readonly id: string;
  readonly instanceId: InstanceId | null;
  readonly enabled: boolean;
  readonly url: string;
  /** As sent; names outside the enumeration never match; `All` and `all` mean every event. */
  readonly events: readonly string[];
  readonly excludeMessages: readonly string[];
  readonly addUrlEvents: boolean;
  readonly addUrlTypesMessages: boolean;
  /** The one that simple mode manages (specification 4.1 rule 1). */
  readonly managed: boolean;
  /** `whsec_…`: deliveries are signed with it (Standard Webhooks); '' for none. Sealed at rest. */
  readonly secret: string;
  /** Sent with every delivery; they may hold credentials and are sealed at rest. */
  readonly headers: Readonly<Record<string, string>>;
  readonly created: number;
}

/**
 * What happened in an instance, to be recorded in one transaction with what it leads to.
 * Message entries are dropped when (instance, messageId, chatId) is known already: reconnects and offline queues repeat messages.
 */
export type Entry =
  /** A message that arrived, or was written on another device of the account. Makes a `messages` event, in a channel a `newsletter_messages`. */
  | { readonly kind: 'message'; readonly message: Message; readonly chat: ChatPatch; readonly unread: boolean }
  /** A message of the API that was accepted: stored as `Queued`, no event yet. */
  | { readonly kind: 'queued'; readonly message: Message; readonly chat: ChatPatch }
  /**
   * Progress of messages. A status never goes back (messageStatuses is the order; `Failed` only replaces `Queued`).
   * `Sent` of an API message makes its `messages` event, everything else a `messages_update`; in groups every member's confirmation has one.
   */
  | {
      readonly kind: 'status';
      readonly messageIds: readonly string[];
      readonly chatId: string;
      readonly status: MessageStatus;
      readonly error?: string;
      /** Who confirmed: contact or group member; '' for the platform itself. */
      readonly sender: string;
      readonly senderPn: string;
      readonly senderLid: string;
      readonly fromMe: boolean;
      readonly at: number;
    }
  /** Deleted for everyone: `messages_update` with state `Deleted`. */
  | {
      readonly kind: 'deleted';
      readonly messageId: string;
      readonly chatId: string;
      readonly sender: string;
      readonly senderPn?: string;
      readonly senderLid?: string;
      readonly fromMe: boolean;
      readonly at: number;
    }
  /** The account read a chat, on any device. Makes a `chats` event when something was unread. */
  | { readonly kind: 'chatRead'; readonly chatId: string }
  /**
   * Names, pictures, group facts, archive state; creates the chat when `create`. With `tell` it makes an event of that type if it changed
   * something; names of the address book are told without a chat as well.
   */
  | { readonly kind: 'chat'; readonly chat: ChatPatch; readonly create: boolean; readonly tell?: 'chats' | 'contacts' }
  /** Makes a `chat_labels` event when the chat's labels changed. */
  | ({ readonly kind: 'chatLabel' } & ChatLabel)
  /** One batch of the past: stored, and told as one `history` event of what is new in it. `number` counts from 1 to `total`. */
  | { readonly kind: 'history'; readonly past: Past; readonly number: number; readonly total: number }
  /** Anything that is only passed on: `payload` holds the event's own keys. `lane` orders it (chat id, or ''). */
  | { readonly kind: 'event'; readonly type: EventType; readonly lane: string; readonly payload: Readonly<Record<string, unknown>> };

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
  /** What the filters look at; null for what they never suppress (receipts, connection). */
  readonly message: { readonly fromMe: boolean; readonly isGroup: boolean; readonly wasSentByApi: boolean } | null;
  readonly at: number;
  /** The event's own keys, as they stand at the root of a webhook body (contract/events.md). */
  readonly payload: Readonly<Record<string, unknown>>;
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

/** `waiting` in its lane, `parked` until its next attempt, `dead` when the attempts are used up, `delivered`. */
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

/** A message that can be marked as read. */
export interface ReadKey {
  readonly chatId: string;
  readonly messageId: string;
  readonly sender: string;
}

/** A failure that is part of normal life: a value, never thrown. One table in `src/http/` turns `reason` into a status. */
export interface Refusal {
  readonly reason:
    | 'invalid' // the input makes no sense
    | 'notFound'
    | 'notConnected' // needs a connected session, and there is none
    | 'capped' // the server holds as many connected instances as it may
    | 'conflict' // the state does not allow it
    | 'platform' // the platform said no; `code` is its word
    | 'timeout' // the platform did not answer in time; unknown whether it happened
    | 'unavailable'; // storage is away, or the server is stopping
  readonly message: string;
  readonly code?: number;
  /** Seconds. */
  readonly retryAfter?: number;
  /** Unix milliseconds between which it is refused, where that is known. */
  readonly pause?: { readonly from: number; readonly to: number };
}

export type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal };

export const done = <T>(value: T): Result<T> => ({ ok: true, value });
export const refuse = (reason: Refusal['reason'], message: string, more: Partial<Refusal> = {}): { ok: false; refusal: Refusal } => ({
  ok: false,
  refusal: { reason, message, ...more },
});
