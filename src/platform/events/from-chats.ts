/** Chats and the people in them: names, marks and counters, as the phone shares them with its devices. */
import type { BaileysEventMap, Chat, ChatUpdate, Contact } from '@whiskeysockets/baileys';
import { identityChangedAt, type ChatPatch, type Entry } from '#actors/model.ts';
import { numberOf } from './content-json.ts';
import { chatOf, type Directory, isMe } from '../wire/directory.ts';
import { isGroup } from '../wire/jid.ts';

/** The name that the contact's id is not: the address book gives number and LID, of which one is the id. */
const otherName = ({ id, lid, phoneNumber }: Partial<Contact>): string | undefined => (lid && lid !== id ? lid : phoneNumber);

/** `name` is the address book's, `notify` what the contact calls itself. */
export const contactPatch = (contact: Partial<Contact>, directory: Directory): ChatPatch | null => {
  const { id, pn, lid } = chatOf(directory, contact.id, otherName(contact));
  if (id === '' || isGroup(id) || isMe(directory, id)) return null;
  const pushName = contact.notify || contact.verifiedName;
  // Field by field: every message brings one.
  const patch: { -readonly [K in keyof ChatPatch]: ChatPatch[K] } = { chatId: id };
  if (pn !== '' && lid !== '') patch.chatLid = lid;
  if (contact.name) patch.contactName = patch.name = contact.name;
  if (pushName) patch.pushName = pushName;
  return patch.chatLid || patch.name || patch.pushName ? patch : null;
};

/** A chat with its counters and marks, as history and synchronisation tell it; only what is named. */
const day = 86_400;
/** Seconds after which messages may disappear, as the apps offer them; 0: never. Either side of a chat can send any other number. */
const timers: ReadonlySet<number | null | undefined> = new Set([0, day, 7 * day, 90 * day]);

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
    // Seconds in history, milliseconds in synchronisation.
    ...(muted === undefined ? {} : { muteEndTime: muted > 0 && muted < 1e11 ? muted * 1000 : muted }),
    ...(timers.has(chat.ephemeralExpiration) ? { ephemeralExpiration: Number(chat.ephemeralExpiration) } : {}),
  };
};

/** The library reads the timer out of messages, null for none. Any member of a group can send such a message: there the platform's notification counts. */
const withTimer = (chat: ChatPatch, { ephemeralExpiration: seconds }: ChatUpdate): ChatPatch => {
  const { ephemeralExpiration: _none, ...rest } = chat;
  if (isGroup(chat.chatId)) return rest;
  return seconds === null ? { ...rest, ephemeralExpiration: 0 } : chat;
};

export const fromChatUpdate = (update: ChatUpdate, directory: Directory): Entry[] => {
  // With messages it is the library's echo of a message, counters included: the message itself is recorded. It may bring a chat back from the archive.
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

/** Reads the names that contacts give themselves. */
export const fromContact = (contact: Partial<Contact>, directory: Directory): Entry[] => {
  const chat = contactPatch(contact, directory);
  return chat === null ? [] : [{ kind: 'chat', chat, create: false, tell: 'contacts' }];
};

/** Reads the address book. A contact that was removed from it comes without a name. */
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

/** Told for people who have a chat. */
export const fromChangedIdentity = ({ jid, at }: { readonly jid: string; readonly at: number }, directory: Directory): Entry[] => {
  const { id } = chatOf(directory, jid);
  if (id === '' || isMe(directory, id)) return [];
  return [{ kind: 'chat', chat: { chatId: id, extra: { [identityChangedAt]: at || directory.now() } }, create: false, tell: 'chats' }];
};
