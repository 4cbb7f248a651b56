/**
 * The rules of chats: the fields that a patch changes, the shown name, and the unread count. Changes are kept apart from the chats, so that a commit
 * writes only the changes.
 */
import type { Chat, ChatLabel, ChatPatch, Entry, PersonPair } from '#actors/model.ts';
import { chatColumns, emptyChat, fullLabelId, leadNotesField, phoneOf, retagged } from '#src/contract/views.ts';
import { keyText } from '../postgres/parameters.ts';
import { isGroupId } from './event-drafts.ts';

// The merge of two chats of one person: the chat under the LID becomes a part of the chat under the number.

/**
 * Fields that are taken from the chat with the newer last message. `archived` and `ephemeralExpiration` are among them, because `merged` would restore a value
 * that the owner has undone since.
 */
const ofNewer = [
  'lastMessageText',
  'lastMessageType',
  'lastMessageSender',
  'lastMessageTimestamp',
  'archived',
  'ephemeralExpiration',
] as const satisfies readonly (keyof Chat)[];

const union = (one: readonly unknown[], other: readonly unknown[]): readonly unknown[] => [...new Set([...one, ...other])].toSorted();

/** Merges the two values of a field. A text of `kept` wins unless it is empty. A flag is true if either is true. The larger number wins. Lists are united. */
const merged = (kept: unknown, twin: unknown): unknown => {
  if (Array.isArray(kept) && Array.isArray(twin)) return union(kept, twin);
  if (typeof kept === 'number' && typeof twin === 'number') return Math.max(kept, twin);
  return kept === undefined || kept === null || kept === '' || kept === false ? twin : kept;
};

const joined = (kept: string, twin: string): string => (kept.includes(twin) ? kept : [kept, twin].filter((text) => text !== '').join('\n'));

const mergedExtra = (kept: Chat['extra'], twin: Chat['extra']): Chat['extra'] =>
  Object.fromEntries(
    Object.entries(twin).map(([name, value]) => {
      const known = kept[name];
      const isNote = name === leadNotesField && typeof value === 'string' && typeof known === 'string';
      return [name, isNote ? joined(known, value) : merged(known, value)];
    }),
  );

/** Returns the patch for the chat under the number. `kept` is null if there is no such chat. The new chat then gets all fields of `twin`. */
const mergedPatch = (kept: Chat | null, twin: Chat, chatId: string): ChatPatch => {
  const { id: _id, chatId: chatLid, name: _name, ...others } = twin;
  const addresses = { chatId, chatLid, phone: phoneOf(chatId) };
  if (kept === null) return { ...others, ...addresses };
  const fields = (Object.keys(chatColumns) as (keyof typeof chatColumns)[]).filter((field) => field in others);
  const newer = twin.lastMessageTimestamp > kept.lastMessageTimestamp ? twin : kept;
  return {
    ...Object.fromEntries(fields.map((field) => [field, merged(kept[field], twin[field])])),
    ...Object.fromEntries(ofNewer.map((field) => [field, newer[field]])),
    unreadCount: kept.unreadCount + twin.unreadCount,
    notes: joined(kept.notes, twin.notes),
    extra: mergedExtra(kept.extra, twin.extra),
    ...addresses,
  };
};

/** Fields with a new value. `extra` has only the changed keys, with null for a removed key. */
type ChatChanges = Partial<Omit<Chat, 'id' | 'chatId'>>;

/** A chat that the commit writes. */
export interface ChatOutcome {
  /** The stored chat before the commit; null for a new chat. */
  readonly before: Chat | null;
  readonly after: Chat;
  readonly changes: ChatChanges;
  /** The number of new unread messages, to be added to the stored count. */
  readonly unreadAdded: number;
}

interface KeptChat {
  readonly before: Chat | null;
  value: Chat;
  changes: ChatChanges;
  unreadAdded: number;
}

const lastMessageFields: ReadonlySet<string> = new Set([
  'lastMessageText',
  'lastMessageType',
  'lastMessageSender',
  'lastMessageTimestamp',
] satisfies (keyof Chat)[]);

const isSame = (a: unknown, b: unknown): boolean =>
  a === b || (typeof a === 'object' && typeof b === 'object' && JSON.stringify(a) === JSON.stringify(b));

const isLidId = (chatId: string): boolean => chatId.endsWith('@lid');

/** Returns the keys of `extra` that a patch changes, with their new values. Returns null if it changes none. */
const changedExtra = (known: Chat['extra'], patch: Chat['extra']): Chat['extra'] | null => {
  const changed = Object.entries(patch).filter(([name, value]) => value !== undefined && !isSame(known[name] ?? null, value));
  return changed.length === 0 ? null : Object.fromEntries(changed);
};

/** Returns the best known name of a chat: the group's subject, the name in the address book, the name that the person chose, or the number. */
const nameOf = (chat: Chat): string => (chat.isGroup ? chat.name : chat.contactName || chat.pushName || chat.name || chat.phone);

/** The fields that determine the shown name. */
const nameFields = ['isGroup', 'name', 'contactName', 'pushName', 'phone'] as const satisfies readonly (keyof Chat)[];

const changedFields = (chat: Chat, patch: ChatPatch): ChatChanges => {
  // A patch changes the last message only if the message of the patch is not older than the known last message.
  const isOlder = (patch.lastMessageTimestamp ?? chat.lastMessageTimestamp) < chat.lastMessageTimestamp;
  const changes: Record<string, unknown> = {};
  for (const field in patch) {
    if (field === 'chatId' || (isOlder && lastMessageFields.has(field))) continue;
    const value = patch[field as keyof ChatPatch];
    if (value === undefined) continue;
    const changed = field === 'extra' ? changedExtra(chat.extra, value as Chat['extra']) : value;
    if (changed !== null && !isSame(chat[field as keyof Chat], changed)) changes[field] = changed;
  }
  return changes;
};

/** Returns the changes of a patch, including the shown name. Returns null if the patch changes nothing. */
const changesOf = (chat: Chat, patch: ChatPatch): ChatChanges | null => {
  let changes = changedFields(chat, patch);
  if (nameFields.some((field) => changes[field] !== undefined)) {
    const { name: _given, ...others } = changes;
    const name = nameOf({ ...chat, ...changes });
    changes = name === chat.name ? others : { ...others, name };
  }
  return Object.keys(changes).length === 0 ? null : changes;
};

const withoutNulls = (extra: Chat['extra']): Chat['extra'] =>
  Object.fromEntries(Object.entries(extra).filter(([, value]) => value !== null && value !== undefined));

const changed = (chat: Chat, changes: ChatChanges): Chat => {
  const next = { ...chat, ...changes };
  return changes.extra === undefined ? next : { ...next, extra: withoutNulls({ ...chat.extra, ...changes.extra }) };
};

export const newChat = (chatId: string, id: string): Chat => {
  const phone = phoneOf(chatId);
  return { ...emptyChat, id, chatId, isGroup: isGroupId(chatId), phone, name: phone };
};

/** Adds the formatted phone number to a patch of a chat whose phone is bare digits, as earlier versions stored it. */
const withPhone = (chat: Chat, patch: ChatPatch): ChatPatch =>
  chat.phone === '' || chat.phone.includes(' ') ? patch : { phone: phoneOf(chat.chatId), ...patch };

const apply = (kept: KeptChat, changes: ChatChanges): void => {
  kept.value = changed(kept.value, changes);
  const extra = changes.extra && { ...kept.changes.extra, ...changes.extra };
  kept.changes = { ...kept.changes, ...changes, ...(extra && { extra }) };
  if (changes.unreadCount !== undefined) kept.unreadAdded = 0;
};

/** The chats that the entries of one commit are about. */
export class ChatLedger {
  readonly #owner: string;
  readonly #newId: () => string;
  readonly #namesOf: (chatId: string) => ChatPatch | null;
  readonly #chats = new Map<string, KeptChat>();
  readonly #removed = new Set<string>();

  /** `namesOf`: returns the names from the address book for a chat with one person. */
  constructor(known: readonly Chat[], owner: string, newId: () => string, namesOf: (chatId: string) => ChatPatch | null) {
    this.#owner = owner;
    this.#namesOf = namesOf;
    this.#newId = newId;
    for (const chat of known) this.#chats.set(chat.chatId, { before: chat, value: chat, changes: {}, unreadAdded: 0 });
  }

  get(chatId: string): Chat | null {
    return this.#chats.get(keyText(chatId))?.value ?? null;
  }

  /** Returns the chat, or an empty chat that is not stored. */
  orEmpty(chatId: string): Chat {
    return this.get(chatId) ?? newChat(keyText(chatId), '');
  }

  /** Returns the chat as it would be with the patch. Stores nothing. */
  preview(patch: ChatPatch): Chat {
    const chat = this.orEmpty(patch.chatId);
    return changed(chat, changesOf(chat, patch) ?? {});
  }

  /** Changes or creates a chat. Returns null if the chat is stored and the patch changes nothing. */
  patch(patch: ChatPatch): Chat | null {
    const chatId = keyText(patch.chatId);
    const known = this.#chats.get(chatId);
    const kept = known ?? { before: null, value: newChat(chatId, this.#newId()), changes: {}, unreadAdded: 0 };
    const { chatLid } = patch;
    const named = known ? patch : { ...this.#namesOf(chatId), ...patch };
    const storable = chatLid === undefined ? named : { ...named, chatLid: keyText(chatLid) };
    const changes = changesOf(kept.value, withPhone(kept.value, storable));
    if (known && changes === null) return null;
    if (changes) apply(kept, changes);
    if (!known) this.#chats.set(chatId, kept);
    return kept.value;
  }

  /**
   * Merges the chat under the LID of a person into the chat under the number. A new chat gets the short id of the chat under the LID. Returns
   * null if there is no chat under the LID.
   */
  merge({ chatId: number, chatLid: lid }: PersonPair): Chat | null {
    const [chatId, chatLid] = [keyText(number), keyText(lid)];
    const twin = this.#chats.get(chatLid)?.value;
    if (twin === undefined) return null;
    const kept = this.#chats.get(chatId) ?? { before: null, value: newChat(chatId, twin.id), changes: {}, unreadAdded: 0 };
    const isNew = !this.#chats.has(chatId);
    this.remove(chatLid);
    apply(kept, changesOf(kept.value, mergedPatch(isNew ? null : kept.value, twin, chatId)) ?? {});
    this.#chats.set(chatId, kept);
    return kept.value;
  }

  /** Clears the last message and the unread count of a chat. Returns null if they were empty. */
  empty(chatId: string): Chat | null {
    return this.patch({ chatId, unreadCount: 0, lastMessageText: '', lastMessageType: '', lastMessageSender: '' });
  }

  /** Removes the chat. A later entry of the same commit may create the chat again. */
  remove(chatId: string): void {
    const kept = this.#chats.get(keyText(chatId));
    if (kept?.before) this.#removed.add(kept.before.chatId);
    this.#chats.delete(keyText(chatId));
  }

  get removed(): readonly string[] {
    return [...this.#removed];
  }

  /** Adds one unread message to a stored or new chat. */
  addUnread(chatId: string): void {
    const kept = this.#chats.get(chatId);
    if (!kept) return;
    kept.value = { ...kept.value, unreadCount: kept.value.unreadCount + 1 };
    kept.unreadAdded += 1;
  }

  /** Adds a label to a chat or removes it. Returns null if nothing changes. */
  label({ chatId, labelId, labeled }: ChatLabel): Chat | null {
    const name = fullLabelId(this.#owner, labelId);
    const others = (this.get(chatId)?.labels ?? []).filter((label) => label !== name);
    return this.patch({ chatId, labels: labeled ? [...others, name].toSorted() : others });
  }

  /** Renames a tag of a chat. Returns null if the chat does not have the old name. */
  retag({ chatId, from, to }: Omit<Extract<Entry, { kind: 'retagged' }>, 'kind'>): Chat | null {
    const extra = retagged(this.get(chatId)?.extra ?? {}, from, to);
    return extra && this.patch({ chatId, extra });
  }

  /** Blocks the chats of these people, and unblocks all other chats. The ledger must know all chats that are blocked now. Returns the changed chats. */
  blockOnly(people: readonly PersonPair[]): readonly Chat[] {
    const listed = new Set(people.flatMap(({ chatId, chatLid }) => [keyText(chatId), keyText(chatLid)]).filter((id) => id !== ''));
    // The chat of a number without a known LID may be the chat of a listed person without a known number. Such a chat stays blocked.
    const isUnsure = people.some(({ chatId, chatLid }) => chatId === chatLid);
    return [...this.#chats.values()].flatMap(({ value: { chatId, chatLid, blocked: before } }) => {
      const blocked = listed.has(chatId) || listed.has(chatLid);
      const mayBeListed = isUnsure && chatLid === '' && !isLidId(chatId);
      return blocked === before || (before && mayBeListed) ? [] : (this.patch({ chatId, blocked }) ?? []);
    });
  }

  /** Removes a deleted label from the chats in memory. The journal removes it from all other chats. */
  unlabel(labelId: string): void {
    const name = fullLabelId(this.#owner, labelId);
    for (const { value } of this.#chats.values())
      if (value.labels.includes(name)) this.patch({ chatId: value.chatId, labels: value.labels.filter((label) => label !== name) });
  }

  outcome(): readonly ChatOutcome[] {
    return [...this.#chats.values()]
      .filter(({ before, value }) => value !== before)
      .map(({ before, value, changes, unreadAdded }) => ({ before, after: value, changes, unreadAdded }));
  }
}
