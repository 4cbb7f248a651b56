/** Queries of stored messages, chats, contacts, groups, known numbers, pictures, and definitions such as labels. */
import type {
  Chat,
  ChatStats,
  Claim,
  Contact,
  ContactScope,
  DefinitionKind,
  Group,
  InstanceId,
  Kept,
  KnownContact,
  LookedPicture,
  Message,
  NamedChat,
  ReadKey,
  Receipt,
  ReceiptCounts,
  ReceiptState,
} from '../model.ts';

// Queries of stored messages and chats.

export interface MessageQuery {
  /** A short id or a platform id. Each may have the prefix `<owner>:`. */
  readonly id?: string;
  /** Any form of a chat id that the interface returns: a number, a jid or a LID. The device and the prefix `<owner>:` are optional. */
  readonly chatId?: string;
  readonly trackSource?: string;
  readonly trackId?: string;
  /** The type, such as `ImageMessage` or `call`. */
  readonly messageType?: string;
  readonly fromMe?: boolean;
  readonly limit: number;
  readonly offset: number;
}

/** The key with which a message is marked as read, and the direction of the message. */
export interface NamedMessage extends ReadKey {
  readonly fromMe: boolean;
}

export interface ReceiptQuery {
  /** The platform's id of the message. */
  readonly messageId: string;
  /** Selects members with at least this receipt state; null for all. */
  readonly state: ReceiptState | null;
  readonly limit: number;
  readonly offset: number;
}

export interface MessageStore {
  /** Returns a page of messages, newest first. `more`: other pages follow. */
  find(instance: InstanceId, query: MessageQuery): Promise<{ readonly messages: readonly Message[]; readonly more: boolean }>;
  byId(instance: InstanceId, id: string): Promise<Message | null>;
  /** Returns the messages with these ids, keyed by the given id. Ids may have any form of `MessageQuery.id`. Unknown ids are left out. */
  named(instance: InstanceId, ids: readonly string[]): Promise<ReadonlyMap<string, NamedMessage>>;
  /** Returns the oldest message of a chat; null if there is none. */
  oldest(instance: InstanceId, chatId: string): Promise<Message | null>;
  /**
   * Returns the receipts of group members for an own message, in the order of member ids. `more`: other pages follow. `counts`: the
   * summary of receipts that were replaced by counts after their retention time.
   */
  receipts(
    instance: InstanceId,
    query: ReceiptQuery,
  ): Promise<{ readonly receipts: readonly Receipt[]; readonly more: boolean; readonly counts: ReceiptCounts }>;
  /**
   * Removes at most `limit` messages of a chat up to this time (Unix milliseconds), except messages that wait to be sent. Returns the number of
   * removed messages. Rejects with `EpochLost` for a former owner.
   */
  removeOf(claim: Claim, chatId: string, until: number, limit: number): Promise<number>;
  /** Returns received messages of a chat that this account has not marked as read, newest first, at most `limit`. */
  unread(instance: InstanceId, chatId: string, limit: number): Promise<readonly ReadKey[]>;
  /** Returns messages of the asynchronous queue that are still `Queued`, in the order in which they were accepted, at most `limit`. */
  queued(instance: InstanceId, limit: number): Promise<readonly Message[]>;
  /** Returns messages outside the asynchronous queue that are still `Queued` and were accepted before this time (Unix milliseconds), at most `limit`. */
  interrupted(instance: InstanceId, before: number, limit: number): Promise<readonly Message[]>;
  /** Returns the instances with `Queued` messages. `queued`: the number of their messages in the asynchronous queue. */
  queueing(): Promise<readonly { readonly id: InstanceId; readonly queued: number }[]>;
  /** Returns the time of the newest message of all instances; null if there is no message. In Unix milliseconds. */
  newestAt(): Promise<number | null>;
}

/** The removal of receipts after their retention time. */
export interface ReceiptExpiry {
  /**
   * Replaces receipts of messages from before this time (Unix milliseconds) with counts, in one batch per call. Works through the instances one by
   * one. `removed`: the number of replaced receipts. `more`: true if the next call may find more.
   */
  expire(before: number): Promise<{ readonly removed: number; readonly more: boolean }>;
}

/** The removal of messages after their retention time. */
export interface MessageExpiry {
  /**
   * Removes at most `limit` messages of any instance from before this time (Unix milliseconds), except messages that wait to be sent. Returns the
   * number of removed messages.
   */
  expire(before: number, limit: number): Promise<number>;
}

/** Returns the text that replaces `{{name}}`; null if the interface has no such placeholder. `chat` is null for an unknown chat. Pure. */
export type Placeholder = (name: string, chat: NamedChat | null) => string | null;

/** One comparison. `field` is the API name of a chat field. The caller checks the name against the contract's table. */
export interface ChatFilter {
  readonly field: string;
  readonly operator: '~' | '!~' | '=' | '!=' | '>=' | '>' | '<=' | '<';
  readonly value: string | number | boolean;
}

export interface ChatQuery {
  readonly filters: readonly ChatFilter[];
  readonly any: boolean;
  /** The API name of a chat field. */
  readonly sort: { readonly field: string; readonly descending: boolean } | null;
  readonly limit: number;
  readonly offset: number;
}

/** The timer of disappearing messages in a chat. */
export interface ChatTimer {
  readonly chatId: string;
  readonly seconds: number;
}

export interface ChatStore {
  find(instance: InstanceId, query: ChatQuery): Promise<{ readonly chats: readonly Chat[]; readonly total: number }>;
  /** Returns the chat; null if there is none. `chatId` may have any form of `MessageQuery.chatId`. */
  get(instance: InstanceId, chatId: string): Promise<Chat | null>;
  /**
   * Returns the people with whom the account has a chat, the most recent chat first. The people of the address book without a chat follow. At most 20,000
   * people of each kind.
   */
  contacts(instance: InstanceId): Promise<readonly KnownContact[]>;
  /** Returns one-to-one chats with disappearing messages, in the order of their ids, at most 20,000. */
  timers(instance: InstanceId): Promise<readonly ChatTimer[]>;
  /** Returns ids of chats whose lead has the tag, in order, starting after `after`. */
  tagged(instance: InstanceId, tag: string, after: string, limit: number): Promise<readonly string[]>;
  /** Returns counts over all chats of the instance. */
  stats(instance: InstanceId): Promise<ChatStats>;
}

// Queries of stored contacts. The journal writes contacts.

export interface ContactQuery {
  readonly scope: ContactScope;
  readonly limit: number;
  readonly offset: number;
}

export interface ContactPage {
  readonly contacts: readonly Contact[];
  /** The number of all contacts of the scope. */
  readonly total: number;
  /** The number of all contacts in the address book. */
  readonly saved: number;
}

export interface ContactStore {
  /** Returns a page of contacts. Contacts in the address book are sorted by name, all other contacts by id. */
  list(instance: InstanceId, query: ContactQuery): Promise<ContactPage>;
  /** Returns the contact in the address book under one of these ids, numbers or LIDs; null if there is none. */
  saved(instance: InstanceId, ids: readonly string[]): Promise<Contact | null>;
}

// Queries of stored groups. The journal writes groups.

export interface GroupQuery {
  /** A part of the name, case-insensitive, or the id; '' for all. */
  readonly search: string;
  /** True to include the members of each group. */
  readonly members: boolean;
  readonly limit: number;
  readonly offset: number;
}

export interface NamedGroup {
  readonly id: string;
  readonly name: string;
}

export interface KnownGroups {
  /** Names of all groups by id. */
  readonly names: ReadonlyMap<string, string>;
  /** Groups that belong to a community. `isDefault` marks the announcement group. */
  readonly memberships: readonly { readonly id: string; readonly parent: string; readonly isDefault: boolean }[];
  /** URLs of the pictures of these communities; '' if unknown. */
  readonly pictures: readonly { readonly id: string; readonly image: string; readonly preview: string }[];
  /** The last time at which the platform listed all groups; null for never. In Unix milliseconds. */
  readonly listedAt: number | null;
}

export interface GroupStore {
  /** Returns a page of groups in the order of their ids. `total` counts all matches. */
  find(instance: InstanceId, query: GroupQuery): Promise<{ readonly groups: readonly Group[]; readonly total: number }>;
  get(instance: InstanceId, groupId: string): Promise<Group | null>;
  /**
   * Returns groups with a member under one of these addresses (phone jid, LID), in the order of their ids. An index keeps the cost independent of the
   * number of groups.
   */
  common(instance: InstanceId, addresses: readonly string[]): Promise<readonly NamedGroup[]>;
  /** Returns the last time at which the platform listed all groups; null for never. In Unix milliseconds. */
  listedAt(instance: InstanceId): Promise<number | null>;
  /** Returns the names of all groups, and the time of the last listing. */
  known(instance: InstanceId): Promise<KnownGroups>;
}

// Storage of known numbers: look-up results, and evidence from exchanged messages.

export interface StoredRecipient {
  /** The chat id of the account; '' if the number has no account. */
  readonly chatId: string;
  /** The name as a verified business at the last look-up; '' for none, null without a look-up. */
  readonly businessName: string | null;
  /** The time of the look-up; null if exchanged messages prove that the account exists. In Unix milliseconds. */
  readonly at: number | null;
}

export interface RecipientStore {
  /**
   * Returns the stored facts of each number; null for a number without facts. Each number is given as its possible chat ids, the most likely first. A
   * chat with a received or delivered message takes precedence over a look-up. Look-ups from before `knownSince`, or before `absentSince` if they found no
   * account, are ignored.
   */
  find(
    instance: InstanceId,
    numbers: readonly (readonly string[])[],
    limits: { readonly knownSince: number; readonly absentSince: number },
  ): Promise<readonly (StoredRecipient | null)[]>;
  /** Stores the result of a look-up for each possible chat id (`form`). Rejects with `EpochLost` if the claim is void. */
  save(claim: Claim, forms: readonly (Omit<StoredRecipient, 'at'> & { readonly form: string })[], at: number): Promise<void>;
  /** Removes look-ups of all instances from before this time (Unix milliseconds), at most `limit`. Returns the number of removed look-ups. */
  expire(before: number, limit: number): Promise<number>;
}

/** Storage of the platform's answers about pictures. */
export interface PictureStore {
  /** Returns all stored answers for these people and groups, of any age. */
  find(instance: InstanceId, ids: readonly string[]): Promise<readonly LookedPicture[]>;
  /** Replaces the stored answer. Rejects with `EpochLost` if the claim is void. */
  save(claim: Claim, picture: LookedPicture): Promise<void>;
  /** Removes answers of all instances from before this time (Unix milliseconds), at most `limit`. Returns the number of removed answers. */
  expire(before: number, limit: number): Promise<number>;
}

/** Queries of stored definitions. The journal writes definitions. */
export interface DefinitionStore {
  /** Returns all definitions of one kind, in the order of their creation. */
  all<K extends DefinitionKind>(instance: InstanceId, of: K): Promise<readonly Kept<K>[]>;
}
