/**
 * Converts chats and their shared state: names, marks, counters, labels, deleted and starred messages, and records for which the library has no
 * event.
 */
import type { BaileysEventMap, Chat, ChatUpdate, Contact, proto } from '@whiskeysockets/baileys';
import { type ChatPatch, type Entry, identityChangedAt, type Label } from '#actors/model.ts';
import { chatOf, type Directory, isGroup, isMe } from '../wire/jid.ts';
import { numberOf, type SharedAction } from './library-values.ts';

// Chats and the people in them: names, marks and counters.

/** Returns the second address of a contact. The address book has the number and the LID, and one of them is the id. */
const otherName = ({ id, lid, phoneNumber }: Partial<Contact>): string | undefined => (lid && lid !== id ? lid : phoneNumber);

/** Returns the names and the LID of a contact as a patch of its chat. `name` is the name in the address book, `notify` the name that the contact chose. */
export const contactPatch = (contact: Partial<Contact>, directory: Directory): ChatPatch | null => {
  const { id, pn, lid } = chatOf(directory, contact.id, otherName(contact));
  if (id === '' || isGroup(id) || isMe(directory, id)) return null;
  const pushName = contact.notify || contact.verifiedName;
  // Each field is set by a statement, which is faster than one literal. This code runs for every message.
  const patch: { -readonly [K in keyof ChatPatch]: ChatPatch[K] } = { chatId: id };
  if (pn !== '' && lid !== '') patch.chatLid = lid;
  if (contact.name) patch.contactName = patch.name = contact.name;
  if (pushName) patch.pushName = pushName;
  return patch.chatLid || patch.name || patch.pushName ? patch : null;
};

const day = 86_400;
/** The disappearing timers that the apps offer, in seconds; 0 means off. Other values are ignored, because either side of a chat can send any number. */
const timers: ReadonlySet<number | null | undefined> = new Set([0, day, 7 * day, 90 * day]);

/** Converts a chat with its counters and marks, from the history or the shared state. Absent fields stay unchanged. */
export const conversationPatch = (chat: Partial<Chat>, directory: Directory): ChatPatch | null => {
  const { id, lid } = chatOf(directory, chat.id, chat.pnJid ?? chat.lidJid);
  if (id === '') return null;
  const muted = chat.muteEndTime === undefined ? undefined : numberOf(chat.muteEndTime);
  const name = chat.displayName || chat.name;
  return {
    chatId: id,
    ...(lid !== '' && lid !== id ? { chatLid: lid } : {}),
    ...(name ? { name, ...(isGroup(id) ? {} : { contactName: name }) } : {}),
    ...(chat.archived === undefined || chat.archived === null ? {} : { archived: chat.archived }),
    ...(chat.pinned === undefined ? {} : { pinned: numberOf(chat.pinned) > 0 }),
    // The history gives the end of muting in seconds, and the shared state in milliseconds.
    ...(muted === undefined ? {} : { muteEndTime: muted > 0 && muted < 1e11 ? muted * 1000 : muted }),
    ...(timers.has(chat.ephemeralExpiration) ? { ephemeralExpiration: Number(chat.ephemeralExpiration) } : {}),
  };
};

/**
 * Corrects the disappearing timer that the library reads from messages. Null means off. Any member of a group can send such a message, so in groups only the
 * platform's notification counts.
 */
const withTimer = (chat: ChatPatch, { ephemeralExpiration: seconds }: ChatUpdate): ChatPatch => {
  const { ephemeralExpiration: _none, ...rest } = chat;
  if (isGroup(chat.chatId)) return rest;
  return seconds === null ? { ...rest, ephemeralExpiration: 0 } : chat;
};

export const fromChatUpdate = (update: ChatUpdate, directory: Directory): Entry[] => {
  // An update with messages is the library's echo of a message. The message is recorded separately. An echo may unarchive its chat.
  const echo = update.messages !== undefined;
  if (echo && typeof update.archived !== 'boolean') return [];
  const chat = conversationPatch(update, directory);
  if (chat === null) return [];
  if (echo) {
    const { chatId, archived } = chat;
    return archived === undefined ? [] : [{ kind: 'chat', chat: { chatId, archived }, create: false, tell: 'chats' }];
  }
  const read: Entry[] = update.unreadCount === 0 || update.unreadCount === null ? [{ kind: 'chatRead', chatId: chat.chatId }] : [];
  const unread: Entry[] = update.unreadCount === -1 ? [{ kind: 'chatUnread', chatId: chat.chatId }] : read;
  const left = update.readOnly === true ? { groupMember: false } : {};
  const patch = { ...withTimer(chat, update), ...left };
  return Object.keys(patch).length > 1 ? [{ kind: 'chat', chat: patch, create: false, tell: 'chats' }, ...unread] : unread;
};

/**
 * Converts the names and the LID of a contact into an entry. Returns an empty list for groups, for the own account, and for contacts with neither a
 * name nor a LID.
 */
export const fromContact = (contact: Partial<Contact>, directory: Directory): Entry[] => {
  const chat = contactPatch(contact, directory);
  return chat === null ? [] : [{ kind: 'chat', chat, create: false, tell: 'contacts' }];
};

/** Converts a contact of the address book. A contact without a name was removed from the address book. */
export const fromAddressBook = (contact: Contact, directory: Directory): Entry[] => {
  if (contact.name) return fromContact(contact, directory);
  const { id } = chatOf(directory, contact.id, otherName(contact));
  return id === '' ? [] : [{ kind: 'chat', chat: { chatId: id, contactName: '', name: '' }, create: false, tell: 'contacts' }];
};

export const fromBlocklist = ({ blocklist, type }: BaileysEventMap['blocklist.update'], directory: Directory): Entry[] =>
  blocklist.map((jid) => ({
    kind: 'chat',
    chat: { chatId: chatOf(directory, jid).id, blocked: type === 'add' },
    create: false,
    tell: 'chats',
  }));

/** Converts the whole list of blocked people. */
export const fromWholeBlocklist = (jids: readonly string[], directory: Directory): Entry => {
  const people = jids.map((jid) => chatOf(directory, jid)).filter(({ id }) => id !== '');
  return { kind: 'blocklist', people: people.map(({ id, lid }) => ({ chatId: id, chatLid: lid })) };
};

/** Converts a change of a person's identity key. The entry applies only if the person has a chat. */
export const fromChangedIdentity = ({ jid, at }: { readonly jid: string; readonly at: number }, directory: Directory): Entry[] => {
  const { id } = chatOf(directory, jid);
  if (id === '' || isMe(directory, id)) return [];
  return [{ kind: 'chat', chat: { chatId: id, extra: { [identityChangedAt]: at || directory.now() } }, create: false, tell: 'chats' }];
};

// Labels with their names, and the chats that have them.

export const labelOf = ({ id, name, color, deleted }: Partial<BaileysEventMap['labels.edit']>): Label => ({
  id: id ?? '',
  name: name ?? '',
  color: color ?? 0,
  deleted: deleted ?? false,
});

export const fromLabelEdit = (edit: BaileysEventMap['labels.edit']): Entry => ({
  kind: 'news',
  lane: 'labels',
  news: { type: 'labels', label: labelOf(edit) },
});

/** Converts a label that a chat gets or loses. Labels of single messages are left out, because the API does not show them. */
export const fromAssociation = ({ association, type }: BaileysEventMap['labels.association'], directory: Directory): Entry[] => {
  if ('messageId' in association) return [];
  const { id: chatId } = chatOf(directory, association.chatId);
  return [{ kind: 'chatLabel', chatId, labelId: association.labelId, labeled: type === 'add' }];
};

// Messages and chats that the owner deleted, cleared or starred on the phone.

/** Names the account itself as the author of a change. */
const byMe = ({ me, now }: Directory) => ({ sender: me.pn, senderPn: me.pn, senderLid: me.lid, at: now() });

/** Converts messages that the owner deleted for the own account only. */
export const fromOwnDeletions = (deletion: BaileysEventMap['messages.delete'], directory: Directory): Entry[] => {
  if (!('keys' in deletion)) return [];
  return deletion.keys.flatMap(({ id, remoteJid }) => {
    const { id: chatId } = chatOf(directory, remoteJid);
    return id && chatId ? [{ kind: 'deleted', messageId: id, chatId, fromMe: true, forMe: true, ...byMe(directory) }] : [];
  });
};

/** Converts those changes of messages that add or remove a star. */
export const fromStars = (updates: BaileysEventMap['messages.update'], directory: Directory): Entry[] =>
  updates.flatMap(({ key: { id, remoteJid }, update: { starred } }) => {
    if (typeof starred !== 'boolean' || !id) return [];
    return [{ kind: 'starred', messageId: id, chatId: chatOf(directory, remoteJid).id, starred, ...byMe(directory) }];
  });

type Range = proto.SyncActionValue.ISyncActionMessageRange | null | undefined;

/** Returns the end of a range in Unix milliseconds, and the ids of its messages. Without a range, the time of the action is the end. */
const endOf = (range: Range, { timestamp }: proto.ISyncActionValue) => {
  const messages = range?.messages ?? [];
  const seconds = Math.max(numberOf(range?.lastMessageTimestamp), ...messages.map((one) => numberOf(one.timestamp)));
  const until = seconds > 0 ? seconds * 1000 + 999 : numberOf(timestamp);
  return { until, last: messages.flatMap(({ key }) => key?.id ?? []) };
};

const erased = (gone: boolean, { index: [, jid, starred], value }: SharedAction, directory: Directory): Entry[] => {
  const { id: chatId } = chatOf(directory, jid);
  const { until, last } = endOf((gone ? value.deleteChatAction : value.clearChatAction)?.messageRange, value);
  if (chatId === '' || until === 0) return [];
  return [{ kind: 'chatErased', chatId, gone, keepStarred: !gone && starred === '0', until, last }];
};

const fromCleared = (action: SharedAction, directory: Directory): Entry[] => erased(false, action, directory);
const fromDeleted = (action: SharedAction, directory: Directory): Entry[] => erased(true, action, directory);

/** Returns true if an entry removes messages that the owner deleted on the phone. */
export const isOwnDeletion = (entry: Entry): boolean => entry.kind === 'chatErased' || (entry.kind === 'deleted' && entry.forMe === true);

// Records of the shared state for which the library has no event, or an incomplete one. Records that are missing in this table are ignored.

type Reader = (action: SharedAction, directory: Directory) => Entry[];

const readers: Readonly<Record<string, Reader>> = {
  // The library has no event for a contact whose value is empty. An empty value means that the contact was removed.
  contact: ({ index: [, id = ''] }, directory) => fromAddressBook({ id }, directory),
  clearChat: fromCleared,
  deleteChat: fromDeleted,
  note_edit: ({ value: { noteEditAction: note } }, directory) => {
    const { id: chatId } = chatOf(directory, note?.chatJid);
    if (chatId === '') return [];
    const notes = note?.deleted ? '' : (note?.unstructuredContent ?? '');
    return [{ kind: 'chat', chat: { chatId, notes }, create: false, tell: 'chats' }];
  },
  quick_reply: ({ index: [, id = ''], value: { quickReplyAction: reply } }) => {
    if (id === '') return [];
    const { shortcut, message, keywords, count, deleted } = reply ?? {};
    const kept = { id, onPhone: true, shortcut: shortcut ?? '', type: 'text', text: message ?? '', file: '', docName: '' } as const;
    const definition = { of: 'quickReply', value: { ...kept, keywords: keywords ?? [], count: count ?? 0 } } as const;
    return [deleted ? { kind: 'definitionGone', definition } : { kind: 'definition', definition }];
  },
};

export const fromSharedAction = (action: SharedAction, directory: Directory): Entry[] => {
  const name = action.index[0] ?? '';
  return Object.hasOwn(readers, name) ? (readers[name]?.(action, directory) ?? []) : [];
};

/** Returns the ids of people in a record. Their other addresses must be loaded before the record is converted. */
export const jidsOfSharedAction = ({ index, value }: SharedAction): readonly string[] => [
  index[1] ?? '',
  value.noteEditAction?.chatJid ?? '',
];
