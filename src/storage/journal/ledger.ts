/** The journal's rules, without a database: entries are applied to what is known, and what changed is left to be written. */
import { messageStatuses, type Chat, type ChatLabel, type ChatPatch, type Entry, type Message, type MessageStatus } from '#actors/model.ts';
import { fullLabelId } from '#src/contract/views.ts';
import type { StoredMessage } from './columns.ts';
import {
  chatDraft,
  deletedDraft,
  historyDraft,
  isGroupId,
  isMemberReceipt,
  messageDraft,
  passedOn,
  statusDraft,
  type EventDraft,
} from './event-drafts.ts';
import { keyText } from '../postgres/texts.ts';

type Mark = 'same' | 'changed' | 'fresh';

interface Kept<T> {
  value: T;
  mark: Mark;
}

export interface Known {
  readonly messages: readonly StoredMessage[];
  readonly chats: readonly Chat[];
}

export interface Outcome {
  readonly freshMessages: readonly StoredMessage[];
  readonly changedMessages: readonly StoredMessage[];
  readonly chats: readonly Chat[];
  /** Chats whose stored messages are now read by the account. */
  readonly readChats: readonly string[];
  readonly events: readonly EventDraft[];
}

const rank = (status: MessageStatus): number => messageStatuses.indexOf(status);

/** A status never goes back, and only a message that still waits can fail. */
export const isProgress = (from: MessageStatus, to: MessageStatus): boolean =>
  to === 'Failed' ? from === 'Queued' : rank(to) > rank(from);

const lastMessageFields = ['lastMessageText', 'lastMessageType', 'lastMessageSender', 'lastMessageTimestamp'] as const;

/** Only what the patch names; what it tells of the last message only when that is no older than the one known. */
export const patched = (chat: Chat, patch: ChatPatch): Chat => {
  const next: Record<string, unknown> = { ...chat };
  for (const [field, value] of Object.entries(patch)) if (value !== undefined) next[field] = value;
  if ((patch.lastMessageTimestamp ?? chat.lastMessageTimestamp) < chat.lastMessageTimestamp) {
    for (const field of lastMessageFields) next[field] = chat[field];
  }
  return named({ ...(next as unknown as Chat), chatId: chat.chatId });
};

/** The best name there is (specification 2.4, `name`): a group's subject, what the owner saved, what the person chose, the number. */
const named = (chat: Chat): Chat => (chat.isGroup ? chat : { ...chat, name: chat.contactName || chat.pushName || chat.name || chat.phone });

const emptyChat = (chatId: string, id: string): Chat => ({
  id,
  chatId,
  chatLid: '',
  isGroup: isGroupId(chatId),
  phone: chatId.endsWith('@s.whatsapp.net') ? `+${chatId.slice(0, chatId.indexOf('@'))}` : '',
  name: '',
  contactName: '',
  pushName: '',
  image: '',
  imagePreview: '',
  archived: false,
  blocked: false,
  pinned: false,
  groupAdmin: false,
  groupAnnounce: false,
  groupCommunity: false,
  groupMember: false,
  ephemeralExpiration: 0,
  muteEndTime: 0,
  labels: [],
  notes: '',
  unreadCount: 0,
  lastMessageText: '',
  lastMessageType: '',
  lastMessageSender: '',
  lastMessageTimestamp: 0,
  extra: {},
});

/** Patches name few fields, and most of them say what is known. */
const isSame = (a: Chat, b: Chat): boolean =>
  (Object.keys(a) as (keyof Chat)[]).every((field) => a[field] === b[field] || JSON.stringify(a[field]) === JSON.stringify(b[field]));

type ChatEntry = Extract<Entry, { kind: 'chat' }>;
type HistoryEntry = Extract<Entry, { kind: 'history' }>;
type MessageEntry = Extract<Entry, { kind: 'message' | 'queued' }>;
type StatusEntry = Extract<Entry, { kind: 'status' }>;
type DeletedEntry = Extract<Entry, { kind: 'deleted' }>;

class Ledger {
  readonly #owner: string;
  readonly #newId: () => string;
  /** By platform id; nearly always one, but different chats may use the same. */
  readonly #messages = new Map<string, Kept<StoredMessage>[]>();
  readonly #chats = new Map<string, Kept<Chat>>();
  readonly #readChats = new Set<string>();
  readonly #events: EventDraft[] = [];

  constructor(known: Known, owner: string, newId: () => string) {
    this.#owner = owner;
    this.#newId = newId;
    for (const value of known.messages) this.#keep(value, 'same');
    for (const value of known.chats) this.#chats.set(value.chatId, { value, mark: 'same' });
  }

  apply(entry: Entry): void {
    switch (entry.kind) {
      case 'message':
      case 'queued':
        return this.#message(entry);
      case 'status':
        return this.#status(entry);
      case 'deleted':
        return this.#deleted(entry);
      case 'chatRead':
        return this.#chatRead(keyText(entry.chatId));
      case 'chat':
        return this.#chat(entry);
      case 'chatLabel':
        return this.#tell('chat_labels', this.#label(entry));
      case 'history':
        return this.#history(entry);
      case 'event':
        this.#events.push(passedOn(entry));
    }
  }

  outcome(): Outcome {
    const all = [...this.#messages.values()].flat();
    const marked = (mark: Mark): readonly StoredMessage[] => all.filter((kept) => kept.mark === mark).map(({ value }) => value);
    return {
      freshMessages: marked('fresh'),
      changedMessages: marked('changed'),
      chats: [...this.#chats.values()].filter(({ mark }) => mark !== 'same').map(({ value }) => value),
      readChats: [...this.#readChats],
      events: this.#events,
    };
  }

  #keep(value: StoredMessage, mark: Mark): void {
    const same = this.#messages.get(value.messageId);
    if (same) same.push({ value, mark });
    else this.#messages.set(value.messageId, [{ value, mark }]);
  }

  #change(kept: Kept<StoredMessage>, change: Partial<StoredMessage>): void {
    kept.value = { ...kept.value, ...change };
    if (kept.mark === 'same') kept.mark = 'changed';
  }

  #changeChat(patch: ChatPatch): Chat {
    const chatId = keyText(patch.chatId);
    const known = this.#chats.get(chatId);
    const kept = known ?? { value: emptyChat(chatId, this.#newId()), mark: 'fresh' as Mark };
    const next = patched(kept.value, patch);
    // What tells nothing new is not written.
    if (known && isSame(known.value, next)) return known.value;
    kept.value = next;
    if (kept.mark === 'same') kept.mark = 'changed';
    this.#chats.set(chatId, kept);
    return kept.value;
  }

  /** The chat as it is now when `change` made or changed it, else null. */
  #changed(chatId: string, change: () => Chat): Chat | null {
    const before = this.#chats.get(keyText(chatId))?.value;
    const after = change();
    return after === before ? null : after;
  }

  #tell(type: Parameters<typeof chatDraft>[0], chat: Chat | null): void {
    if (chat) this.#events.push(chatDraft(type, chat, this.#owner));
  }

  #chat({ chat: patch, create, tell }: ChatEntry): void {
    const known = this.#chats.has(keyText(patch.chatId));
    const changed = create || known ? this.#changed(patch.chatId, () => this.#changeChat(patch)) : null;
    if (tell === undefined) return;
    const stranger = tell === 'contacts' && !known && !create && Boolean(patch.contactName);
    this.#tell(tell, stranger ? patched(emptyChat(keyText(patch.chatId), ''), patch) : changed);
  }

  /** Null when nothing changed. */
  #label({ chatId, labelId, labeled }: ChatLabel): Chat | null {
    const name = fullLabelId(this.#owner, labelId);
    const others = (this.#chats.get(keyText(chatId))?.value.labels ?? []).filter((label) => label !== name);
    return this.#changed(chatId, () => this.#changeChat({ chatId, labels: labeled ? [...others, name].toSorted() : others }));
  }

  #history(entry: HistoryEntry): void {
    const { past } = entry;
    const chats = new Map<string, Chat>();
    const keep = (chat: Chat | null): void => void (chat && chats.set(chat.chatId, chat));
    if (past.of === 'chats') for (const patch of past.items) keep(this.#changed(patch.chatId, () => this.#changeChat(patch)));
    if (past.of === 'chat_labels') for (const label of past.items) keep(this.#label(label));
    const messages =
      past.of === 'messages' ? past.items.flatMap(({ message, chat }) => this.#store(message, chat, false)?.message ?? []) : [];
    const draft = historyDraft(entry, { messages, chats: [...chats.values()] }, this.#owner);
    if (draft) this.#events.push(draft);
  }

  #message(entry: MessageEntry): void {
    const queued = entry.kind === 'queued';
    const message: Message = queued ? { ...entry.message, status: 'Queued' } : entry.message;
    const stored = this.#store(message, entry.chat, !queued && entry.unread);
    if (stored && !queued) this.#events.push(messageDraft(stored.message, stored.chat, this.#owner));
  }

  /** Null when the message is known. */
  #store(given: Message, patch: ChatPatch, unread: boolean): { readonly message: Message; readonly chat: Chat } | null {
    const message: Message = { ...given, messageId: keyText(given.messageId), chatId: keyText(given.chatId) };
    if (this.#messages.get(message.messageId)?.some(({ value }) => value.chatId === message.chatId)) return null;
    const before = this.#changeChat({ ...patch, chatId: message.chatId });
    const chat = unread ? this.#changeChat({ chatId: message.chatId, unreadCount: before.unreadCount + 1 }) : before;
    this.#keep({ ...message, unread, deletedAt: 0 }, 'fresh');
    return { message, chat };
  }

  /** Receipts may name a chat by another address than the message was stored under. */
  #find(messageId: string, chatId: string): Kept<StoredMessage> | null {
    const same = this.#messages.get(keyText(messageId)) ?? [];
    return same.find(({ value }) => value.chatId === chatId) ?? (same.length === 1 ? same[0]! : null);
  }

  #status(entry: StatusEntry): void {
    const updated: StoredMessage[] = [];
    for (const messageId of entry.messageIds) {
      const kept = this.#find(messageId, keyText(entry.chatId));
      if (!kept) continue;
      if (!isProgress(kept.value.status, entry.status)) {
        if (isMemberReceipt(entry, kept.value.chatId)) updated.push(kept.value);
        continue;
      }
      const leaves = kept.value.wasSentByApi && rank(kept.value.status) < rank('Sent') && rank(entry.status) >= rank('Sent');
      this.#change(kept, { status: entry.status, error: entry.error ?? '' });
      // The messages event comes with the first sign that the message went out, whichever that is: acks get lost.
      if (leaves) {
        const chat = this.#chats.get(kept.value.chatId) ?? { value: emptyChat(kept.value.chatId, '') };
        this.#events.push(messageDraft({ ...kept.value, status: 'Sent' }, chat.value, this.#owner));
      }
      if (!leaves || entry.status !== 'Sent') updated.push(kept.value);
    }
    const first = updated[0];
    if (first)
      this.#events.push(
        statusDraft(
          entry,
          first.chatId,
          updated.map(({ messageId }) => messageId),
        ),
      );
  }

  /** What is unknown has no event: nothing would tell a second report of it from the first. */
  #deleted(entry: DeletedEntry): void {
    const kept = this.#find(entry.messageId, keyText(entry.chatId));
    if (!kept || kept.value.deletedAt !== 0) return;
    this.#change(kept, { deletedAt: Math.max(1, entry.at) });
    this.#events.push(deletedDraft(entry, kept.value.chatId));
  }

  #chatRead(chatId: string): void {
    if (!this.#chats.has(chatId)) return;
    this.#tell(
      'chats',
      this.#changed(chatId, () => this.#changeChat({ chatId, unreadCount: 0 })),
    );
    this.#readChats.add(chatId);
    for (const kept of [...this.#messages.values()].flat()) {
      if (kept.value.chatId === chatId && kept.value.unread) kept.value = { ...kept.value, unread: false };
    }
  }
}

/** Applies the entries in their order. Messages and chats that `known` lacks are taken for new. */
export const reduceEntries = (known: Known, owner: string, entries: readonly Entry[], newId: () => string): Outcome => {
  const ledger = new Ledger(known, owner, newId);
  for (const entry of entries) ledger.apply(entry);
  return ledger.outcome();
};
