/** The rules of messages: duplicates, the progress of a status, and which stored message a receipt means. */
import { messageStatuses, type Message, type MessageStatus } from '#actors/model.ts';
import { keyText } from '../postgres/texts.ts';
import type { StoredMessage } from './columns.ts';

/** `composed`: the whole content of a stored message changed, not only its state. */
type Mark = 'same' | 'changed' | 'composed' | 'fresh';

export interface KeptMessage {
  value: StoredMessage;
  mark: Mark;
}

export const rank = (status: MessageStatus): number => messageStatuses.indexOf(status);

/** A status never goes back, and only a message that still waits can fail. */
export const isProgress = (from: MessageStatus, to: MessageStatus): boolean =>
  to === 'Failed' ? from === 'Queued' : rank(to) > rank(from);

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

  change(kept: KeptMessage, change: Partial<StoredMessage>): void {
    kept.value = { ...kept.value, ...change };
    if (kept.mark === 'same') kept.mark = 'changed';
  }

  rewrite(kept: KeptMessage, content: Message['content']): void {
    kept.value = { ...kept.value, content };
    if (kept.mark !== 'fresh') kept.mark = 'composed';
  }

  /** Replaces the content of a message that still waits: one that was cancelled meanwhile stays as it is. */
  compose(message: Message): void {
    const kept = this.find(message.messageId, keyText(message.chatId));
    if (kept?.value.status !== 'Queued') return;
    const { messageId, chatId, unread, deletedAt } = kept.value;
    kept.value = { ...message, messageId, chatId, unread, deletedAt, status: 'Queued' };
    if (kept.mark !== 'fresh') kept.mark = 'composed';
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

  #all(): readonly KeptMessage[] {
    return [...this.#messages.values()].flat();
  }

  #keep(value: StoredMessage, mark: Mark): void {
    const same = this.#messages.get(value.messageId);
    if (same) same.push({ value, mark });
    else this.#messages.set(value.messageId, [{ value, mark }]);
  }
}
