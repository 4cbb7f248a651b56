/** Recognises messages that an earlier commit of the same entries has stored. Entries are committed again if the answer to their commit was lost. */
import type { Entry } from '#actors/model.ts';
import { keyText } from '../postgres/parameters.ts';
import { newChat } from './chat-ledger.ts';
import type { StoredMessage } from './columns.ts';
import { type EventDraft, messageDraft } from './event-drafts.ts';
import type { Known } from './outcome.ts';

const byIdOf = (messages: Known['messages']) => new Map(messages.map((message) => [message.id, message]));

/** Returns the message that this entry stored; null if it stored none. A later report of the same message has another short id. */
const storedBy = (entry: Entry, messages: ReadonlyMap<string, StoredMessage>): StoredMessage | null => {
  if (entry.kind !== 'message' && entry.kind !== 'queued') return null;
  const stored = messages.get(entry.message.id);
  const isSame = stored?.messageId === keyText(entry.message.messageId) && stored.chatId === keyText(entry.message.chatId);
  return isSame ? stored : null;
};

/** Returns the events of the messages that an earlier commit of these entries stored. An event that cannot be built is left out. */
export const repeatsOf = ({ messages, chats }: Known, owner: string, entries: readonly Entry[]): readonly EventDraft[] => {
  const byId = byIdOf(messages);
  return entries.flatMap((entry) => {
    const stored = entry.kind === 'message' ? storedBy(entry, byId) : null;
    if (stored === null) return [];
    const chat = chats.find(({ chatId }) => chatId === stored.chatId) ?? newChat(stored.chatId, '');
    try {
      return [messageDraft(stored, chat, owner)];
    } catch {
      return [];
    }
  });
};

/**
 * Returns the entries that may be applied again. A chat that was marked as read or removed stays as it is if a later entry stored a message in this chat.
 * Otherwise that message would become read, or its chat would be missing.
 */
export const unrepeated = ({ messages }: Known, entries: readonly Entry[]): readonly Entry[] => {
  const byId = byIdOf(messages);
  const last = new Map<string, number>();
  for (const [at, entry] of entries.entries()) {
    const stored = storedBy(entry, byId);
    if (stored !== null) last.set(stored.chatId, at);
  }
  return entries.filter((entry, at) => {
    if (entry.kind !== 'chatRead' && entry.kind !== 'chatRemoved') return true;
    return at > (last.get(keyText(entry.chatId)) ?? -1);
  });
};
