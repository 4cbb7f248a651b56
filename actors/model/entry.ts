/** What happened in an instance, on its way to the journal. */
import type { ChatLabel, ChatPatch, Label } from './chat.ts';
import type { Definition } from './definition.ts';
import type { Group } from './group.ts';
import type { Message, MessageStatus, Revision } from './message.ts';
import type { Call, News } from './news.ts';
import type { UsedSendKey } from './send-key.ts';
import type { EventType } from './webhook.ts';

/** Part of what a phone hands over of its past; `of` is the word of contract/events.md. Status posts become events only; they are not stored. */
export type Past =
  | { readonly of: 'messages'; readonly items: readonly { readonly message: Message; readonly chat: ChatPatch }[] }
  | { readonly of: 'status'; readonly items: readonly Message[] }
  | { readonly of: 'chats'; readonly items: readonly ChatPatch[] }
  | { readonly of: 'labels'; readonly items: readonly Label[] }
  | { readonly of: 'chat_labels'; readonly items: readonly ChatLabel[] }
  | { readonly of: 'calls'; readonly items: readonly Call[] };

/** What a phone handed over at once: its whole past in parts, or what it was asked for. */
export interface HistoryTransfer {
  /** Id of the request that it answers; '' when nobody asked. */
  readonly requestId: string;
  readonly messages: number;
  /** The phone has more of the chat that it was asked for. */
  readonly more: boolean;
  /** Percent of the whole past that was handed over by now; null when it does not say. */
  readonly progress: number | null;
}

/**
 * What happened in an instance, to be recorded in one transaction with what it leads to.
 * Message entries are dropped when (instance, messageId, chatId) is known already: reconnects and offline queues repeat messages.
 */
export type Entry =
  /**
   * A message that arrived, or was written on another device of the account. Makes a `messages` event, in a channel a `newsletter_messages`.
   * `revises`: what it changes in a stored message, which has no event of its own.
   */
  | {
      readonly kind: 'message';
      readonly message: Message;
      readonly chat: ChatPatch;
      readonly unread: boolean;
      readonly revises?: Revision;
    }
  /** A message of the API that was accepted: stored as `Queued`, no event yet. `key`: stored in the same transaction. */
  | { readonly kind: 'queued'; readonly message: Message; readonly chat: ChatPatch; readonly key?: UsedSendKey }
  /** What is known of a key from now on. No event. */
  | { readonly kind: 'sendKey'; readonly key: UsedSendKey }
  /** A message of the asynchronous queue is complete now: replaces the content of a stored one that is still `Queued`. No event. */
  | { readonly kind: 'composed'; readonly message: Message }
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
      /** What the message changes in a stored one, now that it is sent. */
      readonly revises?: Revision;
    }
  /**
   * Deleted for everyone: the message loses its content and gets the status `Deleted`, with a `messages_update` of that state. It counts when the author
   * says so, or in a group anybody: the platform lets only admins delete what others wrote.
   */
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
  /**
   * The account read these messages of a chat by itself. Those that were unread become read: they leave the chat's count, with a `chats` event, and one
   * `messages_update` names them.
   */
  | {
      readonly kind: 'messagesRead';
      readonly chatId: string;
      readonly messageIds: readonly string[];
      readonly sender: string;
      readonly senderPn: string;
      readonly senderLid: string;
      readonly at: number;
    }
  /** The file of a message is kept: the message gets its address, and a `messages_update` with state `FileDownloaded` tells of it. */
  | {
      readonly kind: 'downloaded';
      readonly messageId: string;
      readonly chatId: string;
      readonly fileUrl: string;
      readonly mimetype: string;
      readonly at: number;
    }
  /** The account read a chat, on any device. Makes a `chats` event when something was unread. */
  | { readonly kind: 'chatRead'; readonly chatId: string }
  /** The account marked a chat as unread: it counts at least one unread message, with a `chats` event when it counted none. */
  | { readonly kind: 'chatUnread'; readonly chatId: string }
  /** The operator removed a chat from the storage; its messages stay. No event. Whatever comes next makes it anew. */
  | { readonly kind: 'chatRemoved'; readonly chatId: string }
  /**
   * Names, pictures, group facts, archive state; creates the chat when `create`. With `tell` it makes an event of that type if it changed
   * something; names of the address book become events without a chat as well.
   */
  | { readonly kind: 'chat'; readonly chat: ChatPatch; readonly create: boolean; readonly tell?: 'chats' | 'contacts' }
  /** Makes a `chat_labels` event when the chat's labels changed. */
  | ({ readonly kind: 'chatLabel' } & ChatLabel)
  /** A tag of leads has another name: the chat carries that one, with a `chats` event, when it carried the old one. */
  | { readonly kind: 'retagged'; readonly chatId: string; readonly from: string; readonly to: string }
  /** One batch of the past: stored, and published as one `history` event of what is new in it. `number` counts from 1 to `total`. */
  | {
      readonly kind: 'history';
      readonly past: Past;
      readonly number: number;
      readonly total: number;
      /** Of the last batch of what the phone handed over at once. */
      readonly transfer?: HistoryTransfer;
    }
  /** Takes the place of what is stored under its id, or is new. No event: labels have one, and come as `news` or `history`. */
  | { readonly kind: 'definition'; readonly definition: Definition }
  /** It is no more. No event. */
  | { readonly kind: 'definitionGone'; readonly definition: Definition }
  /** A whole group, as the platform answered: takes the place of what is stored of it. What its facts do not name stays as it is. No event. */
  | { readonly kind: 'group'; readonly group: Group }
  /** The account is in this group no more. No event. */
  | { readonly kind: 'groupGone'; readonly groupId: string }
  /** The platform listed every group of the account: others that are stored are gone. No event. `at`: Unix milliseconds, or 0 when it is not known which groups there are. */
  | { readonly kind: 'groupsListed'; readonly groupIds: readonly string[]; readonly at: number }
  /**
   * Makes an event of its own. `lane` orders it (chat id, or ''). A call is stored as a message too, without a `messages` event; a change of a group that is
   * stored is applied to it; a label is stored, and has an event only when it changed.
   */
  | { readonly kind: 'news'; readonly lane: string; readonly news: News }
  /** An event whose payload its maker has spelled out: it is passed on as it is. */
  | { readonly kind: 'event'; readonly type: EventType; readonly lane: string; readonly payload: Readonly<Record<string, unknown>> };

/** The progress of an own message, as the account itself reports it. `at`: Unix milliseconds. */
export const progress = (message: Message, status: MessageStatus, at: number, error = ''): Entry => ({
  kind: 'status',
  messageIds: [message.messageId],
  chatId: message.chatId,
  status,
  ...(error === '' ? {} : { error }),
  sender: message.sender,
  senderPn: message.senderPn,
  senderLid: message.senderLid,
  fromMe: true,
  at,
});
