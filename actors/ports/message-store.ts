/** Storage of messages and chats, as questions are asked of them. */
import type {
  Claim,
  Chat,
  ChatStats,
  InstanceId,
  KnownContact,
  Message,
  NamedChat,
  ReadKey,
  Receipt,
  ReceiptCounts,
  ReceiptState,
} from '../model.ts';

export interface MessageQuery {
  /** Short id, platform id, or `<owner>:<either>`. */
  readonly id?: string;
  /** In any form in which the interface gives ids of chats back: number, jid, LID, with a device, behind `<owner>:`. */
  readonly chatId?: string;
  readonly trackSource?: string;
  readonly trackId?: string;
  /** Such as `ImageMessage`, `call`. */
  readonly messageType?: string;
  readonly fromMe?: boolean;
  readonly limit: number;
  readonly offset: number;
}

/** What is needed to mark a message as read. */
export interface NamedMessage extends ReadKey {
  readonly fromMe: boolean;
}

export interface ReceiptQuery {
  /** Platform id. */
  readonly messageId: string;
  /** Only members who came at least this far; null: all. */
  readonly state: ReceiptState | null;
  readonly limit: number;
  readonly offset: number;
}

export interface MessageStore {
  /** Newest first. `more`: whether anything follows after this page. */
  find(instance: InstanceId, query: MessageQuery): Promise<{ readonly messages: readonly Message[]; readonly more: boolean }>;
  byId(instance: InstanceId, id: string): Promise<Message | null>;
  /** The messages that these ids name, in any of the forms of `MessageQuery.id`, by the id that was given. Unknown ids are left out. */
  named(instance: InstanceId, ids: readonly string[]): Promise<ReadonlyMap<string, NamedMessage>>;
  /** The oldest message of a chat; null when there is none. */
  oldest(instance: InstanceId, chatId: string): Promise<Message | null>;
  /**
   * What the members of a group confirmed of an own message, in the order of their ids. `more`: whether anything follows after this page. `counts`: what
   * became of receipts that are older than they are kept.
   */
  receipts(
    instance: InstanceId,
    query: ReceiptQuery,
  ): Promise<{ readonly receipts: readonly Receipt[]; readonly more: boolean; readonly counts: ReceiptCounts }>;
  /**
   * Removes at most `limit` messages of a chat up to this time (Unix milliseconds), but none that waits to be sent; how many went. Rejects with
   * `EpochLost` for a former owner.
   */
  removeOf(claim: Claim, chatId: string, until: number, limit: number): Promise<number>;
  /** Messages received in a chat and not yet marked as read by this account, newest first, at most `limit`. */
  unread(instance: InstanceId, chatId: string, limit: number): Promise<readonly ReadKey[]>;
  /** Messages of the asynchronous queue that are still `Queued`, in the order in which they were accepted, at most `limit`. */
  queued(instance: InstanceId, limit: number): Promise<readonly Message[]>;
  /** Messages outside of the asynchronous queue that were accepted before this time (Unix milliseconds) and are still `Queued`, at most `limit`. */
  interrupted(instance: InstanceId, before: number, limit: number): Promise<readonly Message[]>;
  /** Instances that have messages with status `Queued`, and how many of those are in the asynchronous queue: what a start has to look after. */
  queueing(): Promise<readonly { readonly id: InstanceId; readonly queued: number }[]>;
}

/** What bounds the memory of receipts. */
export interface ReceiptExpiry {
  /** Makes counts of some receipts of messages from before this time (Unix milliseconds), of all instances one after the other. */
  expire(before: number): Promise<{ readonly removed: number; readonly more: boolean }>;
}

/** What bounds the memory of messages. */
export interface MessageExpiry {
  /** Removes at most `limit` messages of any instance from before this time (Unix milliseconds), but none that waits to be sent; how many went. */
  expire(before: number, limit: number): Promise<number>;
}

/** What stands in a text in the place of `{{name}}`; null when the interface has no such placeholder. Pure; a chat that is not known yet is null. */
export type Placeholder = (name: string, chat: NamedChat | null) => string | null;

/** One comparison; `field` is a Chat field by its API name (checked by the caller against the contract's table). */
export interface ChatFilter {
  readonly field: string;
  readonly operator: '~' | '!~' | '=' | '!=' | '>=' | '>' | '<=' | '<';
  readonly value: string | number | boolean;
}

export interface ChatQuery {
  readonly filters: readonly ChatFilter[];
  readonly any: boolean;
  /** API name of a Chat field. */
  readonly sort: { readonly field: string; readonly descending: boolean } | null;
  readonly limit: number;
  readonly offset: number;
}

/** `seconds`: after which the messages of the chat disappear. */
export interface ChatTimer {
  readonly chatId: string;
  readonly seconds: number;
}

export interface ChatStore {
  find(instance: InstanceId, query: ChatQuery): Promise<{ readonly chats: readonly Chat[]; readonly total: number }>;
  /** By any name that `MessageQuery.chatId` may have. */
  get(instance: InstanceId, chatId: string): Promise<Chat | null>;
  /** People with whom the account has a chat, those written with last first, at most 20,000. */
  contacts(instance: InstanceId): Promise<readonly KnownContact[]>;
  /** Chats of two people whose messages disappear, at most 20,000. The largest id comes last. */
  timers(instance: InstanceId): Promise<readonly ChatTimer[]>;
  /** Ids of chats whose lead carries the tag, in their order, those behind `after`. */
  tagged(instance: InstanceId, tag: string, after: string, limit: number): Promise<readonly string[]>;
  /** Counts over all chats of the instance. */
  stats(instance: InstanceId): Promise<ChatStats>;
}
