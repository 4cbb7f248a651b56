/** Chatwoot: the inbox of the type API through which agents talk with the people of an instance. */

/** Where the conversations of an instance are kept, and how. Sealed at rest as a whole. */
export interface ChatwootInbox {
  readonly accountId: number;
  readonly inboxId: number;
  /** Of an agent or administrator of the account. */
  readonly accessToken: string;
  readonly ignoreGroups: boolean;
  /** What agents write begins with their name. */
  readonly signMessages: boolean;
  /** A conversation that was resolved stays so, and the next message begins a new one. */
  readonly newConversations: boolean;
  /** The unguessable end of the address to which Chatwoot posts; it is the right to post there. */
  readonly hook: string;
  /** Inboxes from which the instance was moved away, the latest first: messages of agents may wait that came from there. */
  readonly former?: readonly ChatwootPlace[];
}

/** An account of a Chatwoot server, one of its inboxes, and the right to use them. */
export interface ChatwootPlace extends Pick<ChatwootInbox, 'accountId' | 'inboxId' | 'accessToken'> {
  /** Address of the server, without a slash at its end. */
  readonly url: string;
}

/** Shown in place of an access token; sent back it means the one that is stored. */
export const maskedToken = '***';

/** A message as its event tells it: what agents have to see of it. Names as in `Message` and `Chat`. */
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
  /** What a place is called, and where it is; null for what is no place. */
  readonly place: { readonly name: string; readonly address: string; readonly latitude: number; readonly longitude: number } | null;
}

/** Who is at the other end of a chat. */
export interface ToldChat {
  readonly chatId: string;
  /** '' when nobody has said any. */
  readonly name: string;
  /** Address of a picture; '' for none. */
  readonly image: string;
}

/** What the stored body of an event tells, as far as it becomes something in Chatwoot. */
export type ToldEvent =
  | { readonly kind: 'message'; readonly message: ToldMessage; readonly chat: ToldChat }
  | {
      readonly kind: 'status';
      readonly chatId: string;
      readonly messageIds: readonly string[];
      /** A status of a message, `Deleted` among them. */
      readonly state: string;
      readonly fromMe: boolean;
      readonly error: string;
    };

/** The contact and the conversation of a chat. */
export interface ChatwootChat {
  readonly chatId: string;
  readonly contactId: number;
  /** Under which the inbox knows the contact. */
  readonly sourceId: string;
  /** 0: none. */
  readonly conversationId: number;
  /** As the contact has them. */
  readonly name: string;
  readonly image: string;
}

/** A message that stands on both sides. */
export interface ChatwootMessage {
  /** Of the platform; with a suffix for what is said about a message. */
  readonly key: string;
  /** 0: an attempt failed before the conversation was known. */
  readonly conversationId: number;
  /** 0: it was to be posted, and whether that happened is not known. */
  readonly id: number;
  /** How far its delivery is known there: 0 for sent, 1 for delivered, 2 for read, -1 for failed, 9 when nobody shows it. */
  readonly progress: number;
}

/** A file that an agent sends. */
export interface ChatwootFile {
  readonly url: string;
  /** As Chatwoot sorts files: `image`, `audio`, `video`, `file`, … */
  readonly kind: string;
}

/** What Chatwoot tells the gateway, as far as it becomes something on the phone. Plain data: it is stored until it is done. */
export type ChatwootNews = {
  readonly accountId: number;
  readonly inboxId: number;
  readonly conversationId: number;
  /** Of the message. */
  readonly id: number;
  /** What the message was posted with by this gateway; '' for those that agents wrote. */
  readonly sourceId: string;
} & (
  | {
      readonly kind: 'message';
      readonly text: string;
      /** Who wrote it; '' for what Chatwoot sends by itself. */
      readonly agent: string;
      readonly files: readonly ChatwootFile[];
      /** The message in Chatwoot that it answers; 0 for none. */
      readonly replyTo: number;
      readonly contact: ChatwootAddressee;
    }
  | { readonly kind: 'deleted' }
);

/** For whom a conversation is. */
export interface ChatwootAddressee {
  readonly id: number;
  readonly name: string;
  readonly identifier: string;
  readonly phone: string;
  readonly sourceId: string;
}

/** A part of a message of an agent (its text, or one of its files) that will not be sent, and why. */
export interface ChatwootRefused {
  /** Its place among the parts, from 0. */
  readonly part: number;
  readonly reason: string;
}

/** News that wait to be done. Those of one conversation are done in the order in which they came. */
export interface ChatwootReply {
  /** Grows with every row. */
  readonly seq: number;
  readonly instanceId: string;
  readonly inbox: string;
  readonly news: ChatwootNews;
  /** When it came, in Unix milliseconds. */
  readonly at: number;
  /** Not before this time; 0: at once. */
  readonly notBefore: number;
  readonly attempts: number;
  /** Tries in a row that began and did not end: the process was killed, or the news killed it. */
  readonly begun: number;
  /** Why it will never be sent, which Chatwoot still has to be told; '' while it may be sent. */
  readonly failure: string;
  /** Parts that are not tried again, in their order; the parts after them go on. */
  readonly refused: readonly ChatwootRefused[];
}
