/** The client of Chatwoot servers, with one request for each method, and the storage of the connector. */
import type { ChatwootChat, ChatwootMessage, ChatwootNews, ChatwootTarget, ChatwootReply, Claim, InstanceId, ToldEvent } from '../model.ts';
import type { Attempt } from './delivery.ts';

/** A failed request. `error` is a sentence without the address, the token or text from the server. */
export type ChatwootFailure = Attempt & { readonly ok: false };

export type ChatwootAnswer<T> = { readonly ok: true; readonly value: T } | ChatwootFailure;

export interface ChatwootContact {
  readonly id: number;
  readonly name: string;
  readonly identifier: string;
  /** The phone number with a leading plus. */
  readonly phone: string;
  /** The inbox's id of the contact; '' if the inbox does not know the contact. */
  readonly sourceId: string;
}

/** Fields of a contact to set; '' leaves a field unchanged. */
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
  /** True if the contact is the author; false for the account. */
  readonly incoming: boolean;
  /** True if only agents see the message. */
  readonly private: boolean;
  /** An id of the gateway. Chatwoot includes the id in every report about the message. */
  readonly sourceId: string;
  /** The id of the answered message in Chatwoot; 0 for none. */
  readonly replyTo: number;
  readonly file: { readonly path: string; readonly name: string; readonly mimetype: string; readonly size: number } | null;
}

/** A message as the list of a conversation shows it. */
export interface ChatwootListed {
  readonly id: number;
  /** '' if the message has none. */
  readonly sourceId: string;
  /** The time of the message by Chatwoot's clock; null if Chatwoot leaves the time out. In Unix milliseconds. */
  readonly at: number | null;
}

/** The delivery statuses of Chatwoot, in order. `failed` may follow any status except `read`. */
export type ChatwootStatus = 'sent' | 'delivered' | 'read' | 'failed';

/** A client of the Chatwoot API. No method rejects. A request for a deleted object fails with status 404. */
export interface ChatwootApi {
  /** Returns the reason why this address is never requested (scheme, form, a forbidden IP literal), or null. Resolves no host name. */
  objection(url: string): string | null;
  /** Parses the body of a post to the inbox's webhook. Returns null if the body needs no action. Pure. */
  read(body: unknown): ChatwootNews | null;
  /** Checks that the inbox exists, has the type API, and accepts the token. The failure names the problem. Ends within 5 s, because a client waits. */
  check(target: ChatwootTarget): Promise<ChatwootAnswer<null>>;
  /** Returns one page of contacts whose name, number or identifier contains the text. */
  searchContacts(target: ChatwootTarget, text: string): Promise<ChatwootAnswer<readonly ChatwootContact[]>>;
  createContact(target: ChatwootTarget, wish: ChatwootContactWish): Promise<ChatwootAnswer<ChatwootContact>>;
  updateContact(target: ChatwootTarget, contactId: number, wish: ChatwootContactWish): Promise<ChatwootAnswer<null>>;
  /** Adds the contact to the inbox, and returns the inbox's id of the contact (`sourceId`). */
  addToInbox(target: ChatwootTarget, contactId: number): Promise<ChatwootAnswer<string>>;
  /** Returns the conversations of the contact in the inbox, the latest first. */
  conversations(target: ChatwootTarget, contactId: number): Promise<ChatwootAnswer<readonly ChatwootConversation[]>>;
  conversation(target: ChatwootTarget, conversationId: number): Promise<ChatwootAnswer<ChatwootConversation>>;
  createConversation(target: ChatwootTarget, of: Pick<ChatwootChat, 'contactId' | 'sourceId'>): Promise<ChatwootAnswer<number>>;
  /** Posts a message, and returns the id of the message in Chatwoot. */
  post(target: ChatwootTarget, conversationId: number, post: ChatwootPost): Promise<ChatwootAnswer<number>>;
  /** Returns one page of the latest messages before the message with the id `before`; 0 starts at the latest of all. */
  listed(target: ChatwootTarget, conversationId: number, before: number): Promise<ChatwootAnswer<readonly ChatwootListed[]>>;
  /** Sets the delivery status of a message. `error` is used with `failed` alone. */
  setStatus(
    target: ChatwootTarget,
    message: Pick<ChatwootMessage, 'conversationId' | 'id'>,
    status: ChatwootStatus,
    error: string,
  ): Promise<ChatwootAnswer<null>>;
}

/** Parses the stored body of an event. Returns null for events that have no form in Chatwoot. Pure. */
export type ReadEvent = (type: string, body: string) => ToldEvent | null;

/**
 * Storage of the links between Chatwoot and the platform. `inbox` identifies an inbox by server, account and id, so rows of another inbox never match.
 * Writes reject with `EpochLost` if the claim is void.
 */
export interface ChatwootStore {
  chat(instance: InstanceId, inbox: string, chatId: string): Promise<ChatwootChat | null>;
  /** Returns the chat of a conversation; null if the conversation is unknown. */
  chatOf(instance: InstanceId, inbox: string, conversationId: number): Promise<string | null>;
  saveChat(claim: Claim, inbox: string, chat: ChatwootChat): Promise<void>;
  /** Returns stored messages by key. `at`: the time of the last save. */
  messages(instance: InstanceId, inbox: string, keys: readonly string[]): Promise<readonly (ChatwootMessage & { readonly at: number })[]>;
  /** Returns the platform messages of one Chatwoot message, in the order of their creation. A text and its files become several platform messages. */
  messagesOf(instance: InstanceId, inbox: string, id: number): Promise<readonly ChatwootMessage[]>;
  saveMessage(claim: Claim, inbox: string, message: ChatwootMessage, at: number): Promise<void>;
  /**
   * Stores an item of news until it is processed. Returns false if `most` items of the instance wait already. Storing the same item again changes
   * nothing.
   */
  addReply(claim: Claim, inbox: string, news: ChatwootNews, at: number, most: number): Promise<boolean>;
  /**
   * Returns the first item of each conversation of these instances, in the order in which the items are due. Returns at most `limit` items, and at most
   * `ofInstance` items of one instance.
   */
  replies(instances: readonly InstanceId[], limit: number, ofInstance: number): Promise<readonly ChatwootReply[]>;
  /** Returns the instances with stored news. */
  replying(): Promise<readonly InstanceId[]>;
  /**
   * Records an attempt before it begins. `begun` is the number of the attempt. Returns false if the item failed or was removed since the read. The
   * caller must then not send the item.
   */
  beginReply(claim: Claim, reply: Pick<ChatwootReply, 'seq' | 'begun'>): Promise<boolean>;
  /** Postpones an item to a later time and stores its progress. Resets `begun` to 0. Keeps a failure that was stored meanwhile. */
  postponeReply(claim: Claim, reply: Pick<ChatwootReply, 'seq' | 'notBefore' | 'attempts' | 'failure' | 'refused'>): Promise<void>;
  /** Marks all waiting items as failed, with this reason. */
  failReplies(claim: Claim, reason: string): Promise<void>;
  /** Removes a processed item. */
  removeReply(claim: Claim, seq: number): Promise<void>;
  /** Removes messages of all instances from before this time (Unix milliseconds), at most `limit`. Returns the number of removed messages. */
  expire(before: number, limit: number): Promise<number>;
}
