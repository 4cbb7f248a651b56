/** The rules of messages: duplicates, the progress of a status, and the stored message to which a receipt belongs. */
import { isDeepStrictEqual } from 'node:util';
import {
  type Call,
  type Chat,
  type ChatPatch,
  emptyMessage,
  type Entry,
  type Message,
  type MessageStatus,
  messageStatuses,
  newPost,
  type PersonPair,
  type PostCounts,
  type Receipt,
  receiptStates,
  type Revision,
} from '#actors/model.ts';
import { callView } from '#src/contract/views.ts';
import { keyText } from '../postgres/parameters.ts';
import type { ChatLedger } from './chat-ledger.ts';
import type { revisedColumns, StoredMessage } from './columns.ts';

/** The part of a message that a commit writes: nothing, its status, its visible fields, the fields of its composition, or the whole row. */
const marks = ['same', 'changed', 'revised', 'composed', 'fresh'] as const;
type Mark = (typeof marks)[number];

export interface KeptMessage {
  value: StoredMessage;
  mark: Mark;
}

export const rank = (status: MessageStatus): number => messageStatuses.indexOf(status);

/** Returns true if a status may follow another. A status never goes back, and only a queued message can fail. */
export const isProgress = (from: MessageStatus, to: MessageStatus): boolean =>
  to === 'Failed' ? from === 'Queued' : rank(to) > rank(from);

type Sender = Partial<Pick<Message, 'sender' | 'senderPn' | 'senderLid'>> & Pick<Message, 'fromMe'>;

const share = (ours: readonly (string | undefined)[], theirs: readonly (string | undefined)[]): boolean =>
  ours.some((id) => id !== undefined && id !== '' && theirs.includes(id));

/** Returns true if `message` and `by` have the same sender. Each may name the sender by phone number, by LID, or by both. */
export const isAuthor = (message: Message, by: Sender): boolean => {
  if (message.fromMe || by.fromMe) return message.fromMe && by.fromMe;
  return share([message.sender, message.senderPn, message.senderLid], [by.sender, by.senderPn, by.senderLid]);
};

/** Returns true if both messages are in the same chat. Each may name the chat by phone number, by LID, or by both. */
export const isInSameChat = (one: Message, other: Message): boolean =>
  one.chatId === other.chatId || (!one.isGroup && !other.isGroup && share([one.chatId, one.chatLid], [other.chatId, other.chatLid]));

/** Returns the content after an edit. The new text replaces the text or the caption. A calendar event is replaced as a whole. */
export const editedContent = ({ content, messageType }: Message, edit: Message): Message['content'] => {
  const { text } = edit;
  if (edit.type === 'event' && edit.messageType === messageType) return edit.content;
  if (typeof content !== 'object' || content === null) return text;
  return 'text' in content ? { ...content, text } : { ...content, caption: text };
};

/** Returns the message with its indexed texts truncated to the limit of an index. */
export const withShortKeys = (given: Message): Message => ({
  ...given,
  messageId: keyText(given.messageId),
  chatId: keyText(given.chatId),
  messageType: keyText(given.messageType),
});

/** The messages of a chat that a commit deletes. The chat is named by one of its addresses. */
export type Erasure = Pick<Extract<Entry, { kind: 'chatErased' }>, 'chatId' | 'keepStarred' | 'until' | 'last'>;

/** The messages that the entries of one commit change. */
export class MessageLedger {
  /** Messages by platform id. Different chats may use the same id. */
  readonly #messages = new Map<string, KeptMessage[]>();
  readonly #lidOf: (chatId: string) => string | undefined;

  /** `lidOf`: returns the LID of a chat, if it is known. */
  constructor(known: readonly StoredMessage[], lidOf: (chatId: string) => string | undefined) {
    this.#lidOf = lidOf;
    for (const value of known) this.#keep(value, 'same');
  }

  has({ messageId, chatId }: Message): boolean {
    return this.#messages.get(messageId)?.some(({ value }) => value.chatId === chatId) ?? false;
  }

  add(message: Message, unread: boolean): void {
    this.#keep({ ...message, unread, deletedAt: 0 }, 'fresh');
  }

  /**
   * Finds the message that an entry names. An entry may name a chat with one person by another address than the stored one. Attackers may know message ids, so
   * messages of other chats never match. `sender`: the addresses of the entry's sender. If `chatId` is one of these addresses, a chat with any of them matches.
   */
  find(messageId: string, chatId: string, sender: readonly (string | undefined)[] = []): KeptMessage | null {
    const same = this.#messages.get(keyText(messageId)) ?? [];
    const named = [chatId, ...(sender.includes(chatId) ? sender : [])];
    const isOther = ({ value }: KeptMessage): boolean =>
      !value.isGroup && share([value.chatId, value.chatLid, this.#lidOf(value.chatId)], named);
    return same.find(({ value }) => value.chatId === chatId) ?? same.find(isOther) ?? null;
  }

  /**
   * Returns an edit without `edited` if its author may not edit the named message. The edit then counts as a new message. If the named message is not
   * stored in this chat, its author is unknown, and only edits by the account's own devices are trusted.
   */
  honest(message: Message, revises?: Revision): Message {
    if (revises?.text === undefined) return message;
    const target = this.find(revises.messageId, keyText(message.chatId), [message.chatId, message.chatLid]);
    const mayEdit = target === null ? message.fromMe : isAuthor(target.value, message);
    return mayEdit ? message : { ...message, edited: '' };
  }

  change(kept: KeptMessage, change: Partial<Pick<StoredMessage, 'status' | 'error' | 'queuedSend'>>): void {
    this.#apply(kept, change, 'changed');
  }

  revise(kept: KeptMessage, change: Partial<Pick<StoredMessage, keyof typeof revisedColumns | 'raw'>>): void {
    this.#apply(kept, change, 'revised');
  }

  /** Sets the number of a post in its channel. */
  number(kept: KeptMessage, serverId: number): void {
    this.revise(kept, { post: { ...newPost, ...kept.value.post, serverId } });
  }

  /** Sets views and reactions of stored posts. Other posts are skipped. */
  count(channel: string, counts: readonly PostCounts[]): void {
    const posts = new Map(this.#all().flatMap((kept) => (kept.value.chatId === channel ? [[kept.value.post?.serverId, kept]] : [])));
    for (const { serverId, views, reactions } of counts) {
      const kept = posts.get(serverId);
      const post = kept?.value.post;
      if (!kept || !post) continue;
      const counted = { ...post, views: views ?? post.views, reactions: reactions ?? post.reactions };
      if (!isDeepStrictEqual(counted, post)) this.revise(kept, { post: counted });
    }
  }

  /** Replaces the content of a waiting message. A message that was cancelled meanwhile stays unchanged. */
  compose(message: Message): void {
    const kept = this.find(message.messageId, keyText(message.chatId));
    if (kept?.value.status !== 'Queued') return;
    const { messageId, chatId, unread, deletedAt } = kept.value;
    this.#apply(kept, { ...message, messageId, chatId, unread, deletedAt, status: 'Queued' }, 'composed');
  }

  /**
   * Moves messages in memory from the LID of a person to the person's number. If both chats have the message, the copy under the LID is dropped. `mergeRows`
   * moves the stored rows.
   */
  merge({ chatId, chatLid }: PersonPair): void {
    for (const [id, same] of this.#messages) {
      const isThere = same.some(({ value }) => value.chatId === chatId);
      const stays = same.filter(({ value }) => !(isThere && value.chatId === chatLid));
      for (const kept of stays) if (kept.value.chatId === chatLid) kept.value = { ...kept.value, chatId, chatLid };
      this.#messages.set(id, stays);
    }
  }

  /** Marks the messages of this commit as read. `changedInPieces` marks stored messages. */
  markRead(chatId: string): void {
    for (const kept of this.#all()) {
      if (kept.value.chatId === chatId && kept.value.unread) kept.value = { ...kept.value, unread: false };
    }
  }

  /** Removes messages of this commit. `changedInPieces` deletes the stored messages. */
  erase({ chatId, keepStarred, until }: Omit<Erasure, 'last'>): void {
    const stays = ({ value }: KeptMessage): boolean =>
      value.chatId !== chatId || value.timestamp > until || value.status === 'Queued' || (keepStarred && value.starred === true);
    for (const [id, same] of this.#messages) this.#messages.set(id, same.filter(stays));
  }

  marked(mark: Mark): readonly StoredMessage[] {
    return this.#all()
      .filter((kept) => kept.mark === mark)
      .map(({ value }) => value);
  }

  #apply(kept: KeptMessage, change: Partial<StoredMessage>, mark: Mark): void {
    kept.value = { ...kept.value, ...change };
    if (marks.indexOf(mark) > marks.indexOf(kept.mark)) kept.mark = mark;
  }

  #all(): readonly KeptMessage[] {
    return [...this.#messages.values()].flat();
  }

  #keep(value: StoredMessage, mark: Mark): void {
    const same = this.#messages.get(value.messageId);
    if (same) same.push({ value, mark });
    else this.#messages.set(value.messageId, [{ value, mark }]);
  }
}

// The rules of receipts. For own messages in groups, the time of each member's first receipt of each state is stored.

type StatusEntry = Extract<Entry, { kind: 'status' }>;

const timeOf = { Delivered: 'deliveredAt', Read: 'readAt', Played: 'playedAt' } as const;

/** The receipts of one commit. */
export class ReceiptLedger {
  readonly #receipts = new Map<string, Receipt>();

  note({ messageId, isGroup, fromMe }: Message, entry: StatusEntry): void {
    const state = receiptStates.find((one) => one === entry.status);
    const member = entry.senderLid || entry.senderPn || entry.sender;
    if (state === undefined || !isGroup || !fromMe || entry.fromMe || member === '') return;
    const key = `${messageId} ${member}`;
    const nothing = { messageId, member, memberPn: entry.senderPn, deliveredAt: 0, readAt: 0, playedAt: 0 };
    const known = this.#receipts.get(key) ?? nothing;
    const time = timeOf[state];
    if (known[time] === 0) this.#receipts.set(key, { ...known, [time]: Math.max(1, entry.at) });
  }

  outcome(): readonly Receipt[] {
    return [...this.#receipts.values()];
  }
}

// Calls as messages of their chat (`messageType: call`). Each call is one message, which keeps the outcome of the call.

/** The weight of each step of a call. A step replaces only steps of less weight. Other statuses come from the phone's log of past calls, and weigh most. */
const weights: Readonly<Record<string, number>> = { offer: 0, terminate: 1, timeout: 2, reject: 2, accept: 2 };
const weightOf = (status: unknown): number => (typeof status === 'string' ? (weights[status] ?? 3) : -1);

/** Returns the patch of the call's chat. The call becomes the last message, without a text. */
const callChat = (call: Call): ChatPatch => ({
  chatId: call.chatId,
  isGroup: call.isGroup,
  lastMessageText: '',
  lastMessageType: 'call',
  lastMessageSender: call.caller.id,
  lastMessageTimestamp: call.at,
});

/** Builds the message of a call. `chat`: the chat of the call with its current values. */
const callMessage = (call: Call, { chatLid, name, pushName, imagePreview }: Chat, id: string): Message => ({
  ...emptyMessage,
  id,
  messageId: call.id,
  chatId: call.chatId,
  chatLid,
  sender: call.caller.id,
  senderPn: call.caller.pn,
  senderLid: call.caller.lid,
  senderName: call.isGroup || call.fromMe === true ? '' : pushName,
  groupName: call.isGroup ? name : '',
  isGroup: call.isGroup,
  fromMe: call.fromMe ?? false,
  messageType: 'call',
  type: 'call',
  timestamp: call.at,
  content: callView(call),
  peer: { chatId: call.chatId, name, image: imagePreview },
});

/** Returns the content after another step of the call; null if the step has no greater weight. The time of the first step stays. */
const callContent = (known: unknown, call: Call): Message['content'] | null => {
  const content = typeof known === 'object' && known !== null ? (known as Readonly<Record<string, unknown>>) : {};
  if (weightOf(call.status) <= weightOf(content['status'])) return null;
  return { ...content, ...callView(call), timestamp: content['timestamp'] ?? call.at };
};

// Steps of a call change the message of the call.

interface CallParts {
  readonly messages: MessageLedger;
  readonly chats: ChatLedger;
  newId(): string;
}

/** Adds the message of a call, or updates the message after a further step. */
export const recordCall = (given: Call, { messages, chats, newId }: CallParts): void => {
  const call: Call = { ...given, id: keyText(given.id), chatId: keyText(given.chatId) };
  if (call.id === '' || call.chatId === '') return;
  const known = messages.find(call.id, call.chatId);
  if (known === null) {
    chats.patch(callChat(call));
    messages.add(callMessage(call, chats.orEmpty(call.chatId), newId().slice(0, 8)), false);
    return;
  }
  const content = callContent(known.value.content, call);
  if (content !== null) messages.revise(known, { content });
};
