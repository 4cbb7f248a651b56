/** The rules of messages: duplicates, the progress of a status, and which stored message a receipt means. */
import { isDeepStrictEqual } from 'node:util';
import { messageStatuses, newPost, type Message, type MessageStatus, type PostCounts } from '#actors/model.ts';
import { keyText } from '../postgres/texts.ts';
import type { revisedColumns, StoredMessage } from './columns.ts';

/** What of a message is written: nothing, its status, what is seen of it, everything that composing decides, the whole row. */
const marks = ['same', 'changed', 'revised', 'composed', 'fresh'] as const;
type Mark = (typeof marks)[number];

export interface KeptMessage {
  value: StoredMessage;
  mark: Mark;
}

export const rank = (status: MessageStatus): number => messageStatuses.indexOf(status);

/** A status never goes back, and only a message that still waits can fail. */
export const isProgress = (from: MessageStatus, to: MessageStatus): boolean =>
  to === 'Failed' ? from === 'Queued' : rank(to) > rank(from);

type Sender = Partial<Pick<Message, 'sender' | 'senderPn' | 'senderLid'>> & Pick<Message, 'fromMe'>;

const share = (ours: readonly (string | undefined)[], theirs: readonly (string | undefined)[]): boolean =>
  ours.some((id) => id !== undefined && id !== '' && theirs.includes(id));

/** Whether both come from the same person, whichever of the person's two addresses each names. */
export const isAuthor = (message: Message, by: Sender): boolean => {
  if (message.fromMe || by.fromMe) return message.fromMe && by.fromMe;
  return share([message.sender, message.senderPn, message.senderLid], [by.sender, by.senderPn, by.senderLid]);
};

/** Whether both stand in the same chat, whichever of its addresses each names. */
export const isInSameChat = (one: Message, other: Message): boolean =>
  one.chatId === other.chatId || (!one.isGroup && !other.isGroup && share([one.chatId, one.chatLid], [other.chatId, other.chatLid]));

/** The content after an edit: another text, in the place where its kind keeps it; an event is edited as a whole. */
export const editedContent = ({ content, messageType }: Message, edit: Message): Message['content'] => {
  const { text } = edit;
  if (edit.type === 'event' && edit.messageType === messageType) return edit.content;
  if (typeof content !== 'object' || content === null) return text;
  return 'text' in content ? { ...content, text } : { ...content, caption: text };
};

/** The messages that the entries of one commit are about. */
export class MessageLedger {
  /** By platform id; nearly always one, but different chats may use the same. */
  readonly #messages = new Map<string, KeptMessage[]>();

  constructor(known: readonly StoredMessage[]) {
    for (const value of known) this.#keep(value, 'same');
  }

  has({ messageId, chatId }: Message): boolean {
    return this.#messages.get(messageId)?.some(({ value }) => value.chatId === chatId) ?? false;
  }

  add(message: Message, unread: boolean): void {
    this.#keep({ ...message, unread, deletedAt: 0 }, 'fresh');
  }

  /** Receipts may name a chat by another address than the message was stored under. */
  find(messageId: string, chatId: string): KeptMessage | null {
    const same = this.#messages.get(keyText(messageId)) ?? [];
    return same.find(({ value }) => value.chatId === chatId) ?? (same.length === 1 ? same[0]! : null);
  }

  change(kept: KeptMessage, change: Partial<Pick<StoredMessage, 'status' | 'error' | 'queuedSend'>>): void {
    this.#apply(kept, change, 'changed');
  }

  revise(kept: KeptMessage, change: Partial<Pick<StoredMessage, keyof typeof revisedColumns | 'raw'>>): void {
    this.#apply(kept, change, 'revised');
  }

  /** A post got its number in its channel. */
  number(kept: KeptMessage, serverId: number): void {
    this.revise(kept, { post: { ...newPost, ...kept.value.post, serverId } });
  }

  /** Views and reactions of posts; those that are not stored are left out. */
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

  /** Replaces the content of a message that still waits: one that was cancelled meanwhile stays as it is. */
  compose(message: Message): void {
    const kept = this.find(message.messageId, keyText(message.chatId));
    if (kept?.value.status !== 'Queued') return;
    const { messageId, chatId, unread, deletedAt } = kept.value;
    this.#apply(kept, { ...message, messageId, chatId, unread, deletedAt, status: 'Queued' }, 'composed');
  }

  /** Of the messages of this commit; a statement of its own marks those that are stored. */
  markRead(chatId: string): void {
    for (const kept of this.#all()) {
      if (kept.value.chatId === chatId && kept.value.unread) kept.value = { ...kept.value, unread: false };
    }
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
