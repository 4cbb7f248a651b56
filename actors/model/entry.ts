/** What happened in an instance, on its way to the journal. */
import type { ChannelPatch } from './channel.ts';
import type { Campaign, CampaignStatus, RecipientState } from './campaign.ts';
import type { ChatLabel, ChatPatch, Label } from './chat.ts';
import type { Definition } from './definition.ts';
import type { Group } from './group.ts';
import type { Message, MessageStatus, Revision } from './message.ts';
import type { Call, News } from './news.ts';
import type { PostCounts } from './post.ts';
import type { UsedSendKey } from './send-key.ts';
import type { EventType } from './webhook.ts';

/** A part of the history that a phone sends; `of` is the word of contract/events.md. Status posts become events only; they are not stored. */
export type Past =
  | { readonly of: 'messages'; readonly items: readonly { readonly message: Message; readonly chat: ChatPatch }[] }
  | { readonly of: 'status'; readonly items: readonly Message[] }
  | { readonly of: 'chats'; readonly items: readonly ChatPatch[] }
  | { readonly of: 'labels'; readonly items: readonly Label[] }
  | { readonly of: 'chat_labels'; readonly items: readonly ChatLabel[] }
  | { readonly of: 'calls'; readonly items: readonly Call[] };

/** What the phone sent in one transfer: its whole history, in parts, or the answer to a request. */
export interface HistoryTransfer {
  /** Id of the request that is answered; '' for a transfer that was not requested. */
  readonly requestId: string;
  readonly messages: number;
  /** The phone has more messages of the requested chat. */
  readonly more: boolean;
  /** Percent of the whole history that has been sent; null when the phone does not say. */
  readonly progress: number | null;
}

/**
 * What happened in an instance: recorded in one transaction, together with the rows and events that follow from it.
 * Message entries are dropped when (instance, messageId, chatId) is known already: reconnects and offline queues repeat messages.
 */
export type Entry =
  /**
   * A message that arrived, or was written on another device of the account. Makes a `messages` event, in a channel a `newsletter_messages`.
   * `revises`: what it changes in a stored message; that change makes no event of its own.
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
  /** A send key has a new state. No event. */
  | { readonly kind: 'sendKey'; readonly key: UsedSendKey }
  /**
   * What became of a recipient of a campaign. A message of a campaign that is stored, or that leaves, says so of its recipient by itself. `waiting`: its
   * message did not leave, and its turn comes again. No event.
   */
  | {
      readonly kind: 'recipient';
      readonly campaignId: string;
      readonly position: number;
      readonly state: Exclude<RecipientState, 'sending'>;
      readonly error: string;
      readonly at: number;
    }
  /** A campaign that began, ended, stopped by itself, or rests for another reason than before. Makes a `sender` event. */
  | {
      readonly kind: 'campaign';
      readonly campaign: Campaign;
      readonly status: CampaignStatus;
      readonly reason: string;
      readonly at: number;
    }
  /** A contact wrote that it wants no campaigns. No event. */
  | { readonly kind: 'optOut'; readonly chatId: string; readonly at: number }
  /** The content of a message of the asynchronous queue is complete: it replaces the stored content while the message is `Queued`. No event. */
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
      /** The number that a post got in its channel. */
      readonly serverId?: number;
    }
  /**
   * A post of a channel has another content: the stored one gets it, with an event like that of a new one. A post that is not stored is stored as it is
   * now. Nothing happens when the stored post has this content already, or a later one.
   */
  | { readonly kind: 'postEdited'; readonly message: Message; readonly chat: ChatPatch }
  /** Views and reactions of posts of a channel: those that are stored get them. No event. */
  | { readonly kind: 'postCounts'; readonly chatId: string; readonly counts: readonly PostCounts[] }
  /**
   * Deleted for everyone: the message loses its content and gets the status `Deleted`, with a `messages_update` of that state. Only the author may delete
   * a message, and in a group its admins. Deletions in channels come from the platform itself. `forMe`: the account deleted it for itself alone, whoever
   * wrote it.
   */
  | {
      readonly kind: 'deleted';
      readonly messageId: string;
      readonly chatId: string;
      readonly sender: string;
      readonly senderPn?: string;
      readonly senderLid?: string;
      readonly fromMe: boolean;
      /** The sender is an admin of the group, as its members were known when the deletion arrived. */
      readonly byAdmin?: boolean;
      readonly forMe?: boolean;
      readonly at: number;
    }
  /** The account starred a stored message, or took the star away, with a `messages_update` of the state `Starred` or `Unstarred`. */
  | {
      readonly kind: 'starred';
      readonly messageId: string;
      readonly chatId: string;
      readonly starred: boolean;
      /** The account, by whichever of its addresses. */
      readonly sender: string;
      readonly senderPn: string;
      readonly senderLid: string;
      readonly at: number;
    }
  /**
   * The account cleared a chat on the phone, or deleted it (`gone`). Its messages up to `until` go, except those that wait to be sent, and with
   * `keepStarred` except starred ones. A cleared chat shows no last message and nothing unread, with a `chats` event. A deleted chat goes like that of
   * `chatRemoved`. A chat with a newer message stays as it is.
   */
  | {
      readonly kind: 'chatErased';
      readonly chatId: string;
      readonly gone: boolean;
      readonly keepStarred: boolean;
      /** Unix milliseconds, the end of a second: the phone names whole seconds. */
      readonly until: number;
      /** Ids of the last messages that go: what arrived behind them in the same second stays. */
      readonly last: readonly string[];
    }
  /**
   * The account read these messages of a chat on another device. Unread ones become read: the chat's count falls, with a `chats` event, and one
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
  /** The file of a message is kept: the message gets its address. Makes a `messages_update` with state `FileDownloaded`. */
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
  /** The operator removed a chat from the storage; its messages stay. No event. The next entry about the chat creates it again. */
  | { readonly kind: 'chatRemoved'; readonly chatId: string }
  /**
   * Names, pictures, facts of a group, archive state; creates the chat when `create`. With `tell` it makes an event of that type when something changed;
   * names of the address book make events for people without a chat too.
   */
  | { readonly kind: 'chat'; readonly chat: ChatPatch; readonly create: boolean; readonly tell?: 'chats' | 'contacts' }
  /** Makes a `chat_labels` event when the chat's labels changed. */
  | ({ readonly kind: 'chatLabel' } & ChatLabel)
  /** A tag of leads was renamed: a chat that carries the old name gets the new one, with a `chats` event. */
  | { readonly kind: 'retagged'; readonly chatId: string; readonly from: string; readonly to: string }
  /** One batch of history: stored, and published as one `history` event with what is new in it. `number` counts from 1 to `total`. */
  | {
      readonly kind: 'history';
      readonly past: Past;
      readonly number: number;
      readonly total: number;
      /** With the last batch of a transfer. */
      readonly transfer?: HistoryTransfer;
    }
  /** Replaces the definition with this id, or adds it. No event; labels, which have one, come as `news` or `history`. */
  | { readonly kind: 'definition'; readonly definition: Definition }
  /** The definition is deleted. No event. */
  | { readonly kind: 'definitionGone'; readonly definition: Definition }
  /** Facts of a channel: what they do not name stays as it is stored. One that is not stored is stored when `create`. No event. */
  | { readonly kind: 'channel'; readonly channel: ChannelPatch; readonly create: boolean }
  /** A whole group, as the platform answered: replaces the stored one, except for facts that the answer does not name. No event. */
  | { readonly kind: 'group'; readonly group: Group }
  /** The account is not a member of this group any more. No event. */
  | { readonly kind: 'groupGone'; readonly groupId: string }
  /** The platform listed every group of the account: other stored groups are removed. No event. `at`: Unix milliseconds; 0: the list is not known. */
  | { readonly kind: 'groupsListed'; readonly groupIds: readonly string[]; readonly at: number }
  /**
   * Makes an event of its own. `lane`: the chat id by which events are ordered, or ''. A call is stored as a message too, without a `messages` event; the
   * change of a stored group is applied to it; a label is stored, and makes an event only when it changed.
   */
  | { readonly kind: 'news'; readonly lane: string; readonly news: News }
  /** An event with its finished payload, which is passed on unchanged. */
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
