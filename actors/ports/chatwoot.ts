/** Chatwoot servers, one request a method, and what is stored about them. */
import type { ChatwootChat, ChatwootMessage, ChatwootNews, ChatwootPlace, ChatwootReply, Claim, InstanceId, ToldEvent } from '../model.ts';
import type { Attempt } from './delivery.ts';

/** `error` is a sentence without address, token or words of the server. */
export type ChatwootFailure = Attempt & { readonly ok: false };

export type ChatwootAnswer<T> = { readonly ok: true; readonly value: T } | ChatwootFailure;

export interface ChatwootContact {
  readonly id: number;
  readonly name: string;
  readonly identifier: string;
  /** With a plus. */
  readonly phone: string;
  /** Under which the inbox knows it; '' when it does not. */
  readonly sourceId: string;
}

/** What is set of a contact; '' leaves a field out. */
export interface ChatwootContactWish {
  readonly name: string;
  readonly identifier: string;
  readonly phone: string;
  readonly imageUrl: string;
}

export interface ChatwootConversation {
  readonly id: number;
  readonly isResolved: boolean;
}

export interface ChatwootPost {
  readonly text: string;
  /** Written by the contact; else by the account. */
  readonly incoming: boolean;
  /** For agents only. */
  readonly private: boolean;
  /** Comes back with everything that Chatwoot tells of the message. */
  readonly sourceId: string;
  /** Of Chatwoot; 0 for none. */
  readonly replyTo: number;
  readonly file: { readonly path: string; readonly name: string; readonly mimetype: string; readonly size: number } | null;
}

/** A message as the list of a conversation shows it. */
export interface ChatwootListed {
  readonly id: number;
  /** '' for those without. */
  readonly sourceId: string;
  /** By Chatwoot's clock, in Unix milliseconds; null when it is not said. */
  readonly at: number | null;
}

/** How a message fares, in the words of Chatwoot and in their order; `failed` may follow any but `read`. */
export type ChatwootStatus = 'sent' | 'delivered' | 'read' | 'failed';

/** No method rejects. What is named by an id and is gone answers with status 404. */
export interface ChatwootApi {
  /** Why this address is never asked (scheme, form, a forbidden literal); null when nothing speaks against it. Resolves no name. */
  objection(url: string): string | null;
  /** What the body of a post to the inbox's webhook tells; null for what concerns nobody. Pure. */
  read(body: unknown): ChatwootNews | null;
  /** Whether the inbox exists, is of the type API, and the token may use it: the failure says what is wrong. Somebody waits: it ends within 5 s. */
  check(place: ChatwootPlace): Promise<ChatwootAnswer<null>>;
  /** Contacts whose name, number or identifier contains the text; one page. */
  searchContacts(place: ChatwootPlace, text: string): Promise<ChatwootAnswer<readonly ChatwootContact[]>>;
  createContact(place: ChatwootPlace, wish: ChatwootContactWish): Promise<ChatwootAnswer<ChatwootContact>>;
  updateContact(place: ChatwootPlace, contactId: number, wish: ChatwootContactWish): Promise<ChatwootAnswer<null>>;
  /** Makes the contact known to the inbox; answers with the source id. */
  addToInbox(place: ChatwootPlace, contactId: number): Promise<ChatwootAnswer<string>>;
  /** Of the contact in the inbox, the latest first. */
  conversations(place: ChatwootPlace, contactId: number): Promise<ChatwootAnswer<readonly ChatwootConversation[]>>;
  conversation(place: ChatwootPlace, conversationId: number): Promise<ChatwootAnswer<ChatwootConversation>>;
  createConversation(place: ChatwootPlace, of: Pick<ChatwootChat, 'contactId' | 'sourceId'>): Promise<ChatwootAnswer<number>>;
  /** Answers with the id of the message. */
  post(place: ChatwootPlace, conversationId: number, post: ChatwootPost): Promise<ChatwootAnswer<number>>;
  /** The latest messages before the one with this id, one page; 0: the latest of all. */
  listed(place: ChatwootPlace, conversationId: number, before: number): Promise<ChatwootAnswer<readonly ChatwootListed[]>>;
  /** `error` goes with `failed` alone. */
  setStatus(
    place: ChatwootPlace,
    message: Pick<ChatwootMessage, 'conversationId' | 'id'>,
    status: ChatwootStatus,
    error: string,
  ): Promise<ChatwootAnswer<null>>;
}

/** Reads the stored body of an event; null for what Chatwoot has no place for. Pure. */
export type ReadEvent = (type: string, body: string) => ToldEvent | null;

/** What stands on both sides. `inbox` names account and server, so that rows of another one are not taken for its own. Writes reject with `EpochLost`. */
export interface ChatwootStore {
  chat(instance: InstanceId, inbox: string, chatId: string): Promise<ChatwootChat | null>;
  /** The chat of a conversation; null when it is not known. */
  chatOf(instance: InstanceId, inbox: string, conversationId: number): Promise<string | null>;
  saveChat(claim: Claim, inbox: string, chat: ChatwootChat): Promise<void>;
  /** `at`: when it was saved last. */
  messages(instance: InstanceId, inbox: string, keys: readonly string[]): Promise<readonly (ChatwootMessage & { readonly at: number })[]>;
  /** Messages that one of Chatwoot became: a text and its files are several. In the order in which they were made. */
  messagesOf(instance: InstanceId, inbox: string, id: number): Promise<readonly ChatwootMessage[]>;
  saveMessage(claim: Claim, inbox: string, message: ChatwootMessage, at: number): Promise<void>;
  /** Stores news until they are done; false when `most` of the instance wait already. The same news again change nothing. */
  addReply(claim: Claim, inbox: string, news: ChatwootNews, at: number, most: number): Promise<boolean>;
  /** The first news of each conversation of these instances, also those that are not due, at most `limit`. */
  replies(instances: readonly InstanceId[], limit: number): Promise<readonly ChatwootReply[]>;
  /** Instances with news. */
  replying(): Promise<readonly InstanceId[]>;
  /** Notes a try before it begins; `begun` is the number of the try. */
  beginReply(claim: Claim, reply: Pick<ChatwootReply, 'seq' | 'begun'>): Promise<void>;
  /** Sets them back to a later time, and keeps what is known of them. `begun` is 0 afterwards. */
  postponeReply(claim: Claim, reply: Pick<ChatwootReply, 'seq' | 'notBefore' | 'attempts' | 'failure' | 'refused'>): Promise<void>;
  /** Those that wait are not sent any more, for this reason. */
  failReplies(claim: Claim, reason: string): Promise<void>;
  /** They are done. */
  removeReply(claim: Claim, seq: number): Promise<void>;
  /** Removes messages of all instances from before this time (Unix milliseconds), at most `limit`. Answers how many. */
  expire(before: number, limit: number): Promise<number>;
}
