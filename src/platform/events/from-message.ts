/** One message of the platform as the gateway keeps it; the same conversion for what arrives, for history and for what the API sends. */
import { getDevice, proto, type WAMessage } from '@whiskeysockets/baileys';
import { type ChatPatch, emptyMessage, type Message, type MessageStatus, parentCommunity } from '#actors/model.ts';
import { contentJson, numberOf } from './library-values.ts';
import { addressesOf, chatOf, type Directory, isMe } from '../wire/directory.ts';
import { bare, isGroup } from '../wire/jid.ts';
import { contextOf, type Kind, kindOf, unwrapped } from './message-kinds.ts';

/** Statuses by the number of `WebMessageInfo.Status`. */
const statuses: readonly MessageStatus[] = ['Failed', 'Queued', 'Sent', 'Delivered', 'Read', 'Played'];
export const statusOf = (status: number | null | undefined): MessageStatus => statuses[status ?? -1] ?? '';

const sources = new Set(['android', 'ios', 'web', 'desktop']);
const sourceOf = (messageId: string): string => {
  const device = getDevice(messageId);
  return sources.has(device) ? device : '';
};

/** The context of a message beside its content. */
export interface Marks {
  readonly wasSentByApi?: boolean;
  readonly status?: MessageStatus;
  /** Id of the message that this one edits. */
  readonly edited?: string;
  /** The content of a vote or an answer, if it could be read. */
  readonly vote?: string;
  /** Instead of the content of the message. */
  readonly content?: unknown;
}

export interface Converted {
  readonly message: Message;
  /** The changes of its chat. */
  readonly chat: ChatPatch;
  /** The same chat when this is its newest message. */
  readonly chatAsLast: ChatPatch;
  /** A message of its own, not a reaction, vote or edit. */
  readonly standsAlone: boolean;
}

interface Parties {
  readonly chat: { readonly id: string; readonly lid: string };
  readonly sender: string;
  readonly pn: string;
  readonly lid: string;
  readonly group: boolean;
}

const partiesOf = (source: WAMessage, directory: Directory): Parties => {
  const { key } = source;
  const group = isGroup(key.remoteJid ?? '');
  // On messages of the account itself the other address may be the account's own.
  const alt = key.fromMe && isMe(directory, key.remoteJidAlt) && !isMe(directory, key.remoteJid) ? null : key.remoteJidAlt;
  const chat = chatOf(directory, key.remoteJid, alt);
  if (key.fromMe) {
    const { pn, lid } = directory.me;
    return { chat, sender: key.addressingMode === 'lid' && lid !== '' ? lid : pn, pn, lid, group };
  }
  const author = group || key.participant ? (key.participant ?? source.participant) : key.remoteJid;
  return { chat, sender: bare(author), ...addressesOf(directory, author, key.participantAlt, group ? null : alt), group };
};

const jsonOf = (kind: Kind): unknown => {
  if (typeof kind.value === 'string') return kind.value;
  const json = contentJson(kind.value);
  return kind.facts.nested ? { [kind.key]: json } : json;
};

const lastMessage = (message: Message): Partial<ChatPatch> => ({
  lastMessageText: message.text || message.vote,
  lastMessageType: message.messageType,
  lastMessageSender: message.sender,
  lastMessageTimestamp: message.timestamp,
});

const chatPatch = (message: Message, source: WAMessage, directory: Directory): ChatPatch => {
  const { chatId, isGroup: group } = message;
  const name = directory.groupName(chatId);
  // Field by field: a literal of conditions is several times as slow, and there is one for every message.
  const patch: { -readonly [K in keyof ChatPatch]: ChatPatch[K] } = { chatId, isGroup: group };
  if (message.chatLid !== '') patch.chatLid = message.chatLid;
  // A contact's own name only: the name in the address book comes with the contacts, and must not be overwritten.
  if (!group && !message.fromMe && source.pushName) patch.pushName = source.pushName;
  if (group) patch.groupMember = true;
  if (group && name !== '') patch.name = name;
  const community = group ? directory.community(chatId) : null;
  if (community) patch.extra = { [parentCommunity]: community };
  return patch;
};

const senderName = (source: WAMessage, directory: Directory): string =>
  source.key.fromMe ? directory.me.name : source.pushName || source.verifiedBizName || '';

/** Null when the message holds nothing that a person sent (keys, protocol, placeholders). */
export const convertMessage = (source: WAMessage, directory: Directory, marks: Marks = {}): Converted | null => {
  const content = unwrapped(source.message);
  const kind = content === undefined ? null : kindOf(content);
  const messageId = source.key.id ?? '';
  if (kind === null || messageId === '' || !source.message) return null;
  const { facts } = kind;
  const { chat, sender, pn, lid, group } = partiesOf(source, directory);
  const fromMe = source.key.fromMe === true;
  const seconds = numberOf(source.messageTimestamp);
  const message: Message = {
    ...emptyMessage,
    id: directory.newId(),
    messageId,
    chatId: chat.id,
    chatLid: chat.lid,
    sender,
    senderPn: pn,
    senderLid: lid,
    senderName: senderName(source, directory),
    groupName: group ? directory.groupName(chat.id) : '',
    isGroup: group,
    fromMe,
    wasSentByApi: marks.wasSentByApi ?? false,
    messageType: kind.messageType,
    type: facts.type,
    mediaType: facts.mediaType,
    source: sourceOf(messageId),
    timestamp: seconds > 0 ? seconds * 1000 : directory.now(),
    status: marks.status ?? (fromMe ? statusOf(source.status) || 'Sent' : ''),
    text: facts.text ?? '',
    quoted: facts.quoted ?? contextOf(kind.value)?.stanzaId ?? '',
    edited: marks.edited ?? '',
    reaction: facts.reaction ?? '',
    vote: marks.vote ?? facts.vote ?? '',
    convertOptions: facts.convertOptions ?? '',
    buttonOrListId: facts.buttonOrListId ?? '',
    content: marks.content ?? jsonOf(kind),
    ...(source.starred ? { starred: true } : {}),
    raw: proto.Message.encode(source.message).finish(),
  };
  const standsAlone = facts.attached !== true && message.edited === '';
  const patch = chatPatch(message, source, directory);
  return { message, chat: patch, chatAsLast: standsAlone ? { ...patch, ...lastMessage(message) } : patch, standsAlone };
};
