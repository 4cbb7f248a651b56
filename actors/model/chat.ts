/** Chats and labels as they are stored (specification 2.4 and 2.6). */

/** One chat as it is stored (specification 2.4); unique by (instance, chatId). Each field has its line in the table of `src/contract/chat-fields.ts`. */
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

/** In `extra`: when the contact's phone got other keys, in Unix milliseconds. */
export const identityChangedAt = 'identityChangedAt';

/** A partial update: only the fields that it names change. Of `extra` only the named keys change; null takes a key away. */
export type ChatPatch = { readonly chatId: string } & Partial<Omit<Chat, 'id' | 'chatId'>>;

/** How many chats there are of a kind, and how many of them have unread messages. */
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
  /** By the name of the label, as chats have it. */
  readonly labels: ReadonlyMap<string, ChatTally>;
  /** By the attendant to whom leads are assigned. */
  readonly attendants: ReadonlyMap<string, ChatTally>;
}

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

/** The part of a chat that placeholders are filled from. */
export type NamedChat = Pick<Chat, 'name' | 'isGroup' | 'phone' | 'pushName' | 'contactName' | 'extra'>;
