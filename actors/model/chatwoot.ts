/** Chatwoot: the API inbox in which agents talk with the people of an instance. */

/** The Chatwoot inbox of an instance and its options. Sealed at rest as a whole. */
export interface ChatwootInbox {
  readonly accountId: number;
  readonly inboxId: number;
  /** The access token of an agent or an administrator of the account. */
  readonly accessToken: string;
  readonly ignoreGroups: boolean;
  /** True if messages of agents begin with the agent's name. */
  readonly signMessages: boolean;
  /** True if a resolved conversation stays resolved, and the next message opens a new conversation. */
  readonly newConversations: boolean;
  /** The last path segment of the URL to which Chatwoot posts. The segment is secret, and every caller that knows it may post. */
  readonly hook: string;
  /** Inboxes that the instance used before, the latest first. Messages of agents from these inboxes may still wait. */
  readonly former?: readonly ChatwootTarget[];
}

/** An inbox of an account on a Chatwoot server, and the token to use it. */
export interface ChatwootTarget extends Pick<ChatwootInbox, 'accountId' | 'inboxId' | 'accessToken'> {
  /** Address of the server, without a trailing slash. */
  readonly url: string;
}

/** The mask that is shown in place of an access token. A client that sends the mask back keeps the stored token. */
export const maskedToken = '***';

/** A message for Chatwoot, read from the stored event. Field names as in `Message` and `Chat`. */
export interface ToldMessage {
  readonly messageId: string;
  readonly chatId: string;
  readonly fromMe: boolean;
  readonly isGroup: boolean;
  readonly senderName: string;
  readonly senderPn: string;
  readonly messageType: string;
  readonly type: string;
  readonly mediaType: string;
  readonly text: string;
  readonly quoted: string;
  readonly edited: string;
  readonly reaction: string;
  readonly vote: string;
  readonly convertOptions: string;
  readonly trackSource: string;
  readonly trackId: string;
  /** The location in the message; null for messages without a location. */
  readonly place: { readonly name: string; readonly address: string; readonly latitude: number; readonly longitude: number } | null;
}

/** The other party of a chat. */
export interface ToldChat {
  readonly chatId: string;
  /** '' if the name is unknown. */
  readonly name: string;
  /** URL of a picture; '' for none. */
  readonly image: string;
}

/** The part of a stored event that is shown in Chatwoot. */
export type ToldEvent =
  | { readonly kind: 'message'; readonly message: ToldMessage; readonly chat: ToldChat }
  | {
      readonly kind: 'status';
      readonly chatId: string;
      readonly messageIds: readonly string[];
      /** A status of a message, including `Deleted`. */
      readonly state: string;
      readonly fromMe: boolean;
      readonly error: string;
    };

/** The Chatwoot contact and conversation of a chat. */
export interface ChatwootChat {
  readonly chatId: string;
  readonly contactId: number;
  /** The inbox's id of the contact. */
  readonly sourceId: string;
  /** The id of the conversation; 0 for none. */
  readonly conversationId: number;
  /** The name and the picture that the platform reported last. Before the first report, both have the value `untold`. */
  readonly name: string;
  readonly image: string;
}

/** The link between a message on the platform and its counterpart in Chatwoot. */
export interface ChatwootMessage {
  /** The id of the message on the platform. The key of a note about a message is this id with a suffix. */
  readonly key: string;
  /** The id of the conversation; 0 if an attempt failed before the conversation was known. */
  readonly conversationId: number;
  /** The id of the message in Chatwoot; 0 if it is unknown whether Chatwoot received the post. */
  readonly id: number;
  /** The delivery status that Chatwoot shows: 0 sent, 1 delivered, 2 read, -1 failed, 9 if Chatwoot shows none. */
  readonly progress: number;
}

/** A file that an agent sends. */
export interface ChatwootFile {
  readonly url: string;
  /** The file kind of Chatwoot: `image`, `audio`, `video`, `file`, … */
  readonly kind: string;
}

/** A message or deletion from Chatwoot that the gateway has to apply. Plain data, because the item is stored until it is applied. */
export type ChatwootNews = {
  readonly accountId: number;
  readonly inboxId: number;
  readonly conversationId: number;
  /** The id of the message in Chatwoot. */
  readonly id: number;
  /** The source id with which this gateway posted the message; '' for messages of agents. */
  readonly sourceId: string;
} & (
  | {
      readonly kind: 'message';
      readonly text: string;
      /** The name of the author; '' for messages that Chatwoot sends by itself. */
      readonly agent: string;
      readonly files: readonly ChatwootFile[];
      /** The id of the Chatwoot message that this message answers; 0 for none. */
      readonly replyTo: number;
      readonly contact: ChatwootAddressee;
    }
  | { readonly kind: 'deleted' }
);

/** The contact to whom the messages of a conversation go. */
export interface ChatwootAddressee {
  readonly id: number;
  readonly name: string;
  readonly identifier: string;
  readonly phone: string;
  readonly sourceId: string;
}

/** A part of an agent's message (the text or one file) that will not be sent, and the reason. */
export interface ChatwootRefused {
  /** The index among the parts, from 0. */
  readonly part: number;
  readonly reason: string;
}

/** A stored `ChatwootNews` that waits to be processed. Items of one conversation are processed in order of arrival. */
export interface ChatwootReply {
  /** The sequence number, which grows with every row. */
  readonly seq: number;
  readonly instanceId: string;
  readonly inbox: string;
  readonly news: ChatwootNews;
  /** The time of arrival. In Unix milliseconds. */
  readonly at: number;
  /** The earliest time of the next attempt; 0 for at once. In Unix milliseconds. */
  readonly notBefore: number;
  readonly attempts: number;
  /** The number of consecutive attempts that began and did not end, because the process stopped or the item crashed the process. */
  readonly begun: number;
  /** The permanent error that must still be reported to Chatwoot; '' if the item may still be sent. */
  readonly failure: string;
  /** Parts that were refused permanently, in order. The parts after them are still sent. */
  readonly refused: readonly ChatwootRefused[];
}
