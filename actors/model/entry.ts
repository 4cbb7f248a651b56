/** Entries: changes of an instance on their way to the journal. */
import type { Campaign, CampaignStatus, CreatedCampaign, RecipientState } from './campaign.ts';
import type { ChannelPatch, PostCounts } from './channel.ts';
import type { ChatLabel, ChatPatch, Definition, Label } from './chat.ts';
import type { Group } from './people.ts';
import type { Message, MessageStatus, Revision } from './message.ts';
import type { Call, News } from './news.ts';
import type { Result } from './result.ts';
import type { EventType } from './webhook.ts';

// Idempotency keys (header `Idempotency-Key`). A client that repeats a request with its key causes no second message and no second campaign.

/** A client's idempotency key, as two digests. `hash` is the digest of the key itself. */
export interface IdempotencyKey {
  readonly hash: string;
  /** The digest of the request. Another request under the same key is refused. */
  readonly request: string;
}

/** The result of a request with a key. The digest `request` covers the kind of request, so the key of a send is refused for a campaign. */
export type DoneOnce = Message | CreatedCampaign;

/** A key that was used; unique by (instance, hash). */
export interface UsedSendKey extends IdempotencyKey {
  /** The id of the message or the campaign. */
  readonly messageId: string;
  /** The time of the first request; 0 if the key may be used again. In Unix milliseconds. */
  readonly at: number;
  /** The answer to the first request; null while the outcome is unknown. A message in the answer lacks `raw` and `queuedSend`. */
  readonly answer: Result<DoneOnce> | null;
}

/**
 * A part of the history that a phone sends. Events of the type `history` have the value of `of` in their field `event` (docs/events.md). Status posts are
 * sent as events, and not stored.
 */
export type Past =
  | { readonly of: 'messages'; readonly items: readonly { readonly message: Message; readonly chat: ChatPatch }[] }
  | { readonly of: 'status'; readonly items: readonly Message[] }
  | { readonly of: 'chats'; readonly items: readonly ChatPatch[] }
  | { readonly of: 'labels'; readonly items: readonly Label[] }
  | { readonly of: 'chat_labels'; readonly items: readonly ChatLabel[] }
  | { readonly of: 'calls'; readonly items: readonly Call[] };

/** The two addresses of one person, in the form of chat ids: `…@s.whatsapp.net` and `…@lid`. */
export interface PersonPair {
  readonly chatId: string;
  readonly chatLid: string;
}

/** One history transfer of the phone: the parts of its whole history, or the answer to a request. */
export interface HistoryTransfer {
  /** The id of the request that the phone answers; '' for a transfer that was not requested. */
  readonly requestId: string;
  readonly messages: number;
  /** True if the phone has more messages of the requested chat. */
  readonly more: boolean;
  /** The percentage of the whole history that the phone has sent; null if the phone gives none. */
  readonly progress: number | null;
}

/**
 * A change of an instance. One transaction records an entry together with the rows and events that follow from the entry. An entry of a message is
 * dropped if (instance, messageId, chatId) is stored already, because reconnects and offline queues repeat messages.
 */
export type Entry =
  /**
   * A message that arrived, or that the account wrote on another device. Makes a `messages` event, or a `newsletter_messages` event in a channel.
   * `revises`: the change to a stored message. That change makes no event of its own.
   */
  | {
      readonly kind: 'message';
      readonly message: Message;
      readonly chat: ChatPatch;
      readonly unread: boolean;
      readonly revises?: Revision;
    }
  /** A message that the API accepted. The message is stored as `Queued` without an event. `key` is stored in the same transaction. */
  | { readonly kind: 'queued'; readonly message: Message; readonly chat: ChatPatch; readonly key?: UsedSendKey }
  /** A new state of an idempotency key. No event. */
  | { readonly kind: 'sendKey'; readonly key: UsedSendKey }
  /**
   * A new state of a campaign recipient. When a campaign message is stored or sent, the state of its recipient changes without this entry. `waiting`:
   * the message did not leave, and is sent later. No event.
   */
  | {
      readonly kind: 'recipient';
      readonly campaignId: string;
      readonly position: number;
      readonly state: Exclude<RecipientState, 'sending'>;
      readonly error: string;
      readonly at: number;
    }
  /** A campaign began, ended, paused itself, or has a new reason to wait. Makes a `sender` event. */
  | {
      readonly kind: 'campaign';
      readonly campaign: Campaign;
      readonly status: CampaignStatus;
      readonly reason: string;
      readonly at: number;
    }
  /** A contact opted out of campaigns by a message. No event. */
  | { readonly kind: 'optOut'; readonly chatId: string; readonly at: number }
  /** A message of the asynchronous queue was composed. The composed content replaces the stored content if the message is still `Queued`. No event. */
  | { readonly kind: 'composed'; readonly message: Message }
  /**
   * Progress of messages. A status never goes back in the order of `messageStatuses`, and `Failed` replaces only `Queued`. `Sent` of an API
   * message makes its `messages` event. Other statuses make a `messages_update`. In groups, each confirmation of a member makes a `messages_update`.
   */
  | {
      readonly kind: 'status';
      readonly messageIds: readonly string[];
      readonly chatId: string;
      readonly status: MessageStatus;
      readonly error?: string;
      /** The contact or group member that confirmed; '' for the platform itself. */
      readonly sender: string;
      readonly senderPn: string;
      readonly senderLid: string;
      readonly fromMe: boolean;
      readonly at: number;
      /** The change that the message makes to a stored message. The change is applied when the message is sent. */
      readonly revises?: Revision;
      /** The number of a post in its channel. */
      readonly serverId?: number;
    }
  /**
   * A channel post was edited. The stored post gets the new content and makes the same event as a new post. An unknown post is stored with its
   * current content. Nothing happens if the stored content is the same or newer.
   */
  | { readonly kind: 'postEdited'; readonly message: Message; readonly chat: ChatPatch }
  /** Views and reactions of channel posts. Only stored posts are updated. No event. */
  | { readonly kind: 'postCounts'; readonly chatId: string; readonly counts: readonly PostCounts[] }
  /**
   * A message was deleted for everyone. The message loses its content, gets the status `Deleted`, and makes a `messages_update` with that state. Only
   * the author and, in a group, its admins may delete a message. In channels the platform itself deletes posts. `forMe`: the account deleted the
   * message of any author for itself alone.
   */
  | {
      readonly kind: 'deleted';
      readonly messageId: string;
      readonly chatId: string;
      readonly sender: string;
      readonly senderPn?: string;
      readonly senderLid?: string;
      readonly fromMe: boolean;
      /** True if the sender was an admin of the group when the deletion arrived. */
      readonly byAdmin?: boolean;
      readonly forMe?: boolean;
      readonly at: number;
    }
  /** The account starred or unstarred a stored message. Makes a `messages_update` with the state `Starred` or `Unstarred`. */
  | {
      readonly kind: 'starred';
      readonly messageId: string;
      readonly chatId: string;
      readonly starred: boolean;
      /** An address of the account. */
      readonly sender: string;
      readonly senderPn: string;
      readonly senderLid: string;
      readonly at: number;
    }
  /**
   * The account cleared a chat on the phone, or deleted it (`gone`). Messages up to `until` are removed. Messages that wait to be sent stay. With
   * `keepStarred`, starred messages stay too. A cleared chat has no last message and no unread messages, and makes a `chats` event. A deleted chat is removed
   * as by `chatRemoved`. If the chat has a newer message, only messages are removed.
   */
  | {
      readonly kind: 'chatErased';
      readonly chatId: string;
      readonly gone: boolean;
      readonly keepStarred: boolean;
      /** The end of the second that the phone named, because the phone gives whole seconds. In Unix milliseconds. */
      readonly until: number;
      /** Ids of the last messages to remove. Later messages of the same second stay. */
      readonly last: readonly string[];
    }
  /**
   * The account read messages of a chat on another device. Unread messages become read. The unread count of the chat decreases, which
   * causes a `chats` event. One `messages_update` event lists the messages.
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
  /** The file of a message was stored, and the message gets its URL. Makes a `messages_update` with the state `FileDownloaded`. */
  | {
      readonly kind: 'downloaded';
      readonly messageId: string;
      readonly chatId: string;
      readonly fileUrl: string;
      readonly mimetype: string;
      readonly at: number;
    }
  /** The account read a chat, on any device. Makes a `chats` event if the chat had unread messages. */
  | { readonly kind: 'chatRead'; readonly chatId: string }
  /** The account marked a chat as unread. The chat counts at least one unread message. Makes a `chats` event if the count was 0. */
  | { readonly kind: 'chatUnread'; readonly chatId: string }
  /**
   * The platform reported the number and the LID of people. A chat under the LID becomes part of the chat under the number, with its messages,
   * counts, labels and settings. Makes a `chats` event for each such chat. Nothing happens for people without a chat under their LID.
   */
  | { readonly kind: 'samePerson'; readonly people: readonly PersonPair[] }
  /**
   * A chat was removed from storage: by an API call, or because its channel was deleted or is no longer followed. The messages of the chat stay. No
   * event. The next entry about the chat creates it again.
   */
  | { readonly kind: 'chatRemoved'; readonly chatId: string }
  /**
   * New facts of a chat: names, pictures, group facts, archive state. `create` creates an unknown chat. `tell` makes an event of that type if a field
   * changed. Names of the address book make events for people without a chat too.
   */
  | { readonly kind: 'chat'; readonly chat: ChatPatch; readonly create: boolean; readonly tell?: 'chats' | 'contacts' }
  /**
   * The whole list of blocked people. Their chats become blocked, and all other chats unblocked. Makes a `chats` event for each changed chat. A person whose
   * number is not known has the LID as `chatId`.
   */
  | { readonly kind: 'blocklist'; readonly people: readonly PersonPair[] }
  /** A label was put on a chat or removed from it. Makes a `chat_labels` event if the chat's labels changed. */
  | ({ readonly kind: 'chatLabel' } & ChatLabel)
  /** A lead tag was renamed. A chat with the old name gets the new name and makes a `chats` event. */
  | { readonly kind: 'retagged'; readonly chatId: string; readonly from: string; readonly to: string }
  /** One batch of history. The batch is stored and published as one `history` event with its new items. `number` counts from 1 to `total`. */
  | {
      readonly kind: 'history';
      readonly past: Past;
      readonly number: number;
      readonly total: number;
      /** The transfer, in its last batch only. */
      readonly transfer?: HistoryTransfer;
    }
  /** Adds the definition, or replaces the definition with the same id. No event. Labels are recorded by `news` or `history`, which make events. */
  | { readonly kind: 'definition'; readonly definition: Definition }
  /** The definition was deleted. No event. */
  | { readonly kind: 'definitionGone'; readonly definition: Definition }
  /** New facts of a channel. Absent facts keep their stored values. `create` stores an unknown channel. No event. */
  | { readonly kind: 'channel'; readonly channel: ChannelPatch; readonly create: boolean }
  /** A whole group from an answer of the platform. The answer replaces the stored group, except for facts that the answer leaves out. No event. */
  | { readonly kind: 'group'; readonly group: Group }
  /** The account is no longer a member of this group. No event. */
  | { readonly kind: 'groupGone'; readonly groupId: string }
  /**
   * The platform listed all groups of the account, so other stored groups are removed. No event. `at`: Unix milliseconds; 0 marks the stored list as
   * unknown.
   */
  | { readonly kind: 'groupsListed'; readonly groupIds: readonly string[]; readonly at: number }
  /**
   * A fact with an event of its own. `lane`: the chat id by which events are ordered, or ''. A call is also stored as a message, without a `messages`
   * event. A group change is applied to the stored group. A label is stored, and makes an event only if it changed.
   */
  | { readonly kind: 'news'; readonly lane: string; readonly news: News }
  /** An event with a finished payload, which is passed on unchanged. */
  | { readonly kind: 'event'; readonly type: EventType; readonly lane: string; readonly payload: Readonly<Record<string, unknown>> };

/** Builds a status entry for an own message. `at`: Unix milliseconds. */
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
