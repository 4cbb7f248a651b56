/**
 * Chats and labels as they are stored, and the definitions of an instance: labels, quick replies, lead tags, followed channels, chatbot
 * agents and triggers.
 */
import type { Channel, ChannelListing } from './channel.ts';
import type { ChatbotAgent, ChatbotTrigger } from './chatbot.ts';

// Chats and labels as they are stored.

/** One chat as it is stored; unique by (instance, chatId). Each field has a line in the table of `src/contract/chat-fields.ts`. */
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

/** The key of `extra` under which a chat stores the time at which the contact's phone changed its keys. In Unix milliseconds. */
export const identityChangedAt = 'identityChangedAt';

/** A partial update. Absent fields and absent keys of `extra` keep their values; null removes a key of `extra`. */
export type ChatPatch = { readonly chatId: string } & Partial<Omit<Chat, 'id' | 'chatId'>>;

/** The number of chats of a kind, and the number of these chats that have unread messages. */
export interface ChatTally {
  readonly total: number;
  readonly unread: number;
}

/** The kinds by which chats are counted. `open`: neither archived nor blocked. */
export const chatKinds = ['all', 'open', 'archived', 'groups', 'blocked'] as const;

export type ChatKind = (typeof chatKinds)[number];

/** Counts over all chats of an instance. */
export interface ChatStats {
  readonly kinds: Readonly<Record<ChatKind, ChatTally>>;
  /** Counts by label. The key is the name of the label, as chats store it. */
  readonly labels: ReadonlyMap<string, ChatTally>;
  /** Counts by the attendant to whom the leads are assigned. */
  readonly attendants: ReadonlyMap<string, ChatTally>;
}

/** A label of the account's owner. `color` is an index from 0 to 19. */
export interface Label {
  readonly id: string;
  readonly name: string;
  readonly color: number;
  readonly deleted: boolean;
}

/** A label was put on a chat, or removed from it. */
export interface ChatLabel {
  readonly chatId: string;
  readonly labelId: string;
  readonly labeled: boolean;
}

/** The fields of a chat whose values replace the placeholders in a text. */
export type NamedChat = Pick<Chat, 'name' | 'isGroup' | 'phone' | 'pushName' | 'contactName' | 'extra'>;

// Changes that the owner of an account can make to a chat on a phone. The platform sends each change to the phone and to the linked devices.

export type ChatChange =
  /** Marks the chat as read, or as unread if `on` is false. */
  | { readonly kind: 'read'; readonly on: boolean }
  /** Archives the chat. An archived chat loses its pin. */
  | { readonly kind: 'archive'; readonly on: boolean }
  /** Pins the chat. A pinned chat leaves the archive. */
  | { readonly kind: 'pin'; readonly on: boolean }
  /** Mutes the chat. `until`: Unix milliseconds; 0 ends the muting, −1 mutes without an end. */
  | { readonly kind: 'mute'; readonly until: number }
  /** Removes all messages of the chat on the phone. */
  | { readonly kind: 'clear' }
  /** Deletes the chat with its messages on the phone. */
  | { readonly kind: 'delete' }
  /** Sets the owner's own note about a chat; '' removes the note. Business accounts only. */
  | { readonly kind: 'note'; readonly text: string };

/** The last message that a change of a chat covers. `at`: Unix milliseconds. */
export interface ChatEnd {
  readonly messageId: string;
  readonly fromMe: boolean;
  readonly sender: string;
  readonly at: number;
}

// Definitions of an instance: labels, quick replies, lead tags, followed channels, chatbot agents and triggers. One query reads all
// definitions of a kind.

export const quickReplyTypes = ['text', 'audio', 'myaudio', 'ptt', 'document', 'video', 'image'] as const;

export type QuickReplyType = (typeof quickReplyTypes)[number];

/** A text, or a file with a text, that people insert by a shortcut. */
export interface QuickReply {
  readonly id: string;
  /** True if the phone stores the quick reply. The phone can store only texts. */
  readonly onPhone: boolean;
  readonly shortcut: string;
  readonly type: QuickReplyType;
  readonly text: string;
  /** URL of the file; '' for a text. */
  readonly file: string;
  readonly docName: string;
  /** The phone alone uses `keywords` and `count`. Both are stored, because a change by the API would otherwise remove them from the phone. */
  readonly keywords: readonly string[];
  readonly count: number;
}

/** A tag for leads. With `kanban` the tag is a column of a board. */
export interface LeadTag {
  readonly id: string;
  readonly name: string;
  readonly kanban: boolean;
  readonly kanbanOrder: number;
}

export interface Definitions {
  /** A deleted label stays stored with `deleted: true`, because the phone may name the label again. */
  readonly label: Label;
  readonly quickReply: QuickReply;
  readonly leadTag: LeadTag;
  readonly chatbotAgent: ChatbotAgent;
  readonly chatbotTrigger: ChatbotTrigger;
  readonly channel: Channel;
  readonly channelListing: ChannelListing;
}

export type DefinitionKind = keyof Definitions;

/** One definition. The id is unique among definitions of its kind and instance. */
export type Definition = { [K in DefinitionKind]: { readonly of: K; readonly value: Definitions[K] } }[DefinitionKind];

/** A definition as it is stored. Times in Unix milliseconds. */
export type Kept<K extends DefinitionKind> = Definitions[K] & { readonly created: number; readonly updated: number };

/** Removes the times before a write, because the storage sets them itself. */
export const withoutTimes = <T extends Kept<DefinitionKind>>({
  created: _created,
  updated: _updated,
  ...definition
}: T): Omit<T, 'created' | 'updated'> => definition;
