/** The app-state records that a phone writes when its owner changes a setting. */
import { createHash } from 'node:crypto';
import { proto } from '@whiskeysockets/baileys';
import { isGroupJid, jidOf, lidJid, pnJid } from '../address.ts';
import { SandboxError, type Setting } from '../interface.ts';
import type { Parts } from '../parts.ts';
import type { Person } from '../people.ts';
import type { Stored } from '../store/messages.ts';
import type { Mutation } from './app-state.ts';
import { REMOVE, SET } from './codec.ts';
import { placeOfAction } from './view.ts';

type Kind = Setting['kind'];
type Of<K extends Kind> = Extract<Setting, { readonly kind: K }>;
type Known = Pick<Parts, 'people' | 'messages'>;
type Writer<K extends Kind> = (setting: Of<K>, known: Known, owner: Person) => readonly Mutation[];

/** Makes the mutation that sets the record of an action. `about` is the index without the action's name. */
function set(name: string, about: readonly string[], value: proto.ISyncActionValue): Mutation {
  const { collection, version } = placeOfAction(name);
  return { collection, version, operation: SET, index: [name, ...about], value: { ...value, timestamp: Date.now() } };
}

/** Returns the jid by which phones index a chat: the LID of a person, or the jid of a group. */
const chatJid = ({ people }: Known, chat: string): string => (isGroupJid(chat) ? chat : jidOf(people.ensure(chat), 'lid'));

/** Returns the jid under which the messages of a chat are stored. */
const storedJid = (chat: string): string => (isGroupJid(chat) ? chat : pnJid(chat));

/** Returns the message range for an action about a chat. The range ends with the chat's last message. */
function rangeOf({ messages }: Known, owner: Person, chat: string): { messageRange: proto.SyncActionValue.ISyncActionMessageRange } {
  const last = messages.everything(owner.number, storedJid(chat)).at(-1);
  if (!last) return { messageRange: {} };
  const timestamp = Math.floor(last.at / 1000);
  const key = { remoteJid: storedJid(chat), id: last.id, fromMe: last.author === '' };
  return { messageRange: { lastMessageTimestamp: timestamp, messages: [{ key, timestamp }] } };
}

function messageOf({ messages }: Known, owner: Person, id: string): Stored {
  const found = messages.find(owner.number, id);
  if (!found) throw new SandboxError(404, `the phone has no message ${id.slice(0, 40)}`);
  return found;
}

/**
 * Returns the index of an action about a message: the chat, the message id, `1` for an own message or else `0`, and the author. The author is `0` for own
 * messages and in private chats.
 */
function aboutMessage(known: Known, owner: Person, chat: string, id: string): string[] {
  const { author } = messageOf(known, owner, id);
  const participant = isGroupJid(chat) && author !== '' ? jidOf(known.people.ensure(author), 'pn') : '0';
  return [chatJid(known, chat), id, author === '' ? '1' : '0', participant];
}

const noteId = (jid: string): string => createHash('sha256').update(jid).digest('base64');

const writers: { readonly [K in Kind]: Writer<K> } = {
  label: ({ labelId, name, color, deleted = false }) => [set('label_edit', [labelId], { labelEditAction: { name, color, deleted } })],
  chatLabel: ({ labelId, chat, on }, known) => [
    set('label_jid', [labelId, chatJid(known, chat)], { labelAssociationAction: { labeled: on } }),
  ],
  messageLabel: ({ labelId, chat, messageId, on }, known, owner) => [
    set('label_message', [labelId, chatJid(known, chat), messageOf(known, owner, messageId).id, '0', '0'], {
      labelAssociationAction: { labeled: on },
    }),
  ],
  labelOrder: ({ labelIds }) => [set('label_reordering', [], { labelReorderingAction: { sortedLabelIds: labelIds.map(Number) } })],
  // Archiving a chat removes its pin.
  archive: ({ chat, on }, known, owner) => [
    set('archive', [chatJid(known, chat)], { archiveChatAction: { archived: on, ...rangeOf(known, owner, chat) } }),
    ...(on ? [set('pin_v1', [chatJid(known, chat)], { pinAction: { pinned: false } })] : []),
  ],
  pin: ({ chat, on }, known) => [set('pin_v1', [chatJid(known, chat)], { pinAction: { pinned: on } })],
  read: ({ chat, on }, known, owner) => [
    set('markChatAsRead', [chatJid(known, chat)], { markChatAsReadAction: { read: on, ...rangeOf(known, owner, chat) } }),
  ],
  lock: ({ chat, on }, known) => [set('lock', [chatJid(known, chat)], { lockChatAction: { locked: on } })],
  mute: ({ chat, until }, known) => [set('mute', [chatJid(known, chat)], { muteAction: { muted: until !== 0, muteEndTimestamp: until } })],
  clear: ({ chat, keepStarred = false }, known, owner) => [
    set('clearChat', [chatJid(known, chat), keepStarred ? '0' : '1', '0'], { clearChatAction: rangeOf(known, owner, chat) }),
  ],
  delete: ({ chat }, known, owner) => [set('deleteChat', [chatJid(known, chat), '1'], { deleteChatAction: rangeOf(known, owner, chat) })],
  star: ({ chat, messageId, on }, known, owner) => [
    set('star', aboutMessage(known, owner, chat, messageId), { starAction: { starred: on } }),
  ],
  deleteForMe: ({ chat, messageId }, known, owner) => [
    set('deleteMessageForMe', aboutMessage(known, owner, chat, messageId), { deleteMessageForMeAction: { deleteMedia: true } }),
  ],
  contact: ({ number, name }, { people }) => {
    const { lid } = people.ensure(number);
    if (name === undefined) return [{ ...set('contact', [pnJid(number)], { contactAction: {} }), operation: REMOVE }];
    const firstName = name.split(' ', 1)[0] ?? name;
    const contactAction = { fullName: name, firstName, lidJid: lidJid(lid), saveOnPrimaryAddressbook: true };
    return [set('contact', [pnJid(number)], { contactAction })];
  },
  quickReply: ({ id, shortcut, message, deleted = false }) => [
    set('quick_reply', [id], { quickReplyAction: { shortcut, message, keywords: [], count: 0, deleted } }),
  ],
  note: ({ chat, text }, known) => [
    set('note_edit', [noteId(chatJid(known, chat))], {
      noteEditAction: {
        type: proto.SyncActionValue.NoteEditAction.NoteType.UNSTRUCTURED,
        chatJid: chatJid(known, chat),
        createdAt: Date.now(),
        deleted: text === '',
        unstructuredContent: text,
      },
    }),
  ],
  favorites: ({ chats }, known) => [
    set('favorites', [], { favoritesAction: { favorites: chats.map((chat) => ({ id: chatJid(known, chat) })) } }),
  ],
  statusMute: ({ number, on }, known) => [set('userStatusMute', [chatJid(known, number)], { userStatusMuteAction: { muted: on } })],
  pushName: ({ name }) => [set('setting_pushName', [], { pushNameSetting: { name } })],
  locale: ({ locale }) => [set('setting_locale', [], { localeSetting: { locale } })],
};

export const mutationsOf = (setting: Setting, known: Known, owner: Person): readonly Mutation[] =>
  (writers[setting.kind] as Writer<Kind>)(setting as never, known, owner);
