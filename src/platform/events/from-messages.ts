/** Converts messages of the platform into the gateway's form, and arriving edits, deletions and pins into changes. */
import { getDevice, proto, type WAMessage } from '@whiskeysockets/baileys';
import {
  type ChatPatch,
  emptyMessage,
  type Entry,
  type Message,
  type MessageStatus,
  parentCommunity,
  type Revision,
} from '#actors/model.ts';
import { addressesOf, bare, chatOf, type Directory, isGroup, isMe } from '../wire/jid.ts';
import { contentJson, numberOf } from './library-values.ts';
import { contextOf, type Kind, kindOf, unwrapped } from './message-kinds.ts';

// The conversion of one message. Arriving messages, the history and sent messages use the same conversion.

/** Statuses, indexed by the number of `WebMessageInfo.Status`. */
const statuses: readonly MessageStatus[] = ['Failed', 'Queued', 'Sent', 'Delivered', 'Read', 'Played'];
export const statusOf = (status: number | null | undefined): MessageStatus => statuses[status ?? -1] ?? '';

const sources = new Set(['android', 'ios', 'web', 'desktop']);
const sourceOf = (messageId: string): string => {
  const device = getDevice(messageId);
  return sources.has(device) ? device : '';
};

/** Facts about a message that are not in its content. */
interface Marks {
  readonly wasSentByApi?: boolean;
  readonly status?: MessageStatus;
  /** The id of the message that this message edits. */
  readonly edited?: string;
  /** The content of a vote or an answer, if it could be decrypted. */
  readonly vote?: string;
  /** Replaces the content of the message. */
  readonly content?: unknown;
}

export interface Converted {
  readonly message: Message;
  /** The patch of its chat. */
  readonly chat: ChatPatch;
  /** The patch of its chat if this message is the newest of the chat. */
  readonly chatAsLast: ChatPatch;
  /** False for a message that belongs to another message, such as a reaction, a vote or an edit. */
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
  // In the account's own messages, the second address may be that of the account instead of the chat.
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
  // Each field is set by a statement, because a literal with conditions is several times slower. This code runs for every message.
  const patch: { -readonly [K in keyof ChatPatch]: ChatPatch[K] } = { chatId, isGroup: group };
  if (message.chatLid !== '') patch.chatLid = message.chatLid;
  // Only the name that the contact chose is set. The name from the address book comes with the contacts, and must not be overwritten.
  if (!group && !message.fromMe && source.pushName) patch.pushName = source.pushName;
  if (group) patch.groupMember = true;
  if (group && name !== '') patch.name = name;
  const community = group ? directory.community(chatId) : null;
  if (community) patch.extra = { [parentCommunity]: community };
  return patch;
};

const senderName = (source: WAMessage, directory: Directory): string =>
  source.key.fromMe ? directory.me.name : source.pushName || source.verifiedBizName || '';

/** Converts a message. Returns null if it has no content that a person wrote (keys, protocol messages, placeholders). */
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

// Arriving messages: new contents, and changes and deletions of earlier messages.

const { Type } = proto.Message.ProtocolMessage;

const deletion = (source: WAMessage, messageId: string, directory: Directory, permitted: boolean): Entry => {
  const { key } = source;
  const author = key.fromMe ? directory.me.pn : key.participant || key.remoteJid;
  const { pn, lid } = addressesOf(directory, author, key.participantAlt, key.participant ? null : key.remoteJidAlt);
  const seconds = numberOf(source.messageTimestamp);
  return {
    kind: 'deleted',
    messageId,
    chatId: chatOf(directory, key.remoteJid, key.fromMe ? null : key.remoteJidAlt).id,
    sender: bare(author),
    senderPn: pn,
    senderLid: lid,
    fromMe: key.fromMe === true,
    byAdmin: permitted,
    at: seconds > 0 ? seconds * 1000 : directory.now(),
  };
};

/** Converts an edit or a deletion, which are protocol messages. All other protocol messages are for the devices of an account, and cause no entry. */
const fromProtocolMessage = (
  source: WAMessage,
  protocol: proto.Message.IProtocolMessage,
  { directory, marks, permitted }: { readonly directory: Directory; readonly marks: Marks; readonly permitted: boolean },
): Entry[] => {
  const target = protocol.key?.id ?? '';
  if (target === '') return [];
  if (protocol.type === Type.REVOKE) return [deletion(source, target, directory, permitted)];
  if (protocol.type !== Type.MESSAGE_EDIT || !protocol.editedMessage) return [];
  const converted = convertMessage({ ...source, message: protocol.editedMessage }, directory, { ...marks, edited: target });
  if (converted === null) return [];
  const { chat } = converted;
  // The whole encoded edit is stored, not only its new text, because it may have to be sent again.
  const message = { ...converted.message, raw: proto.Message.encode(source.message ?? {}).finish() };
  return [{ kind: 'message', message, chat, unread: false, revises: { messageId: target, text: message.text } }];
};

const { Type: PinType } = proto.Message.PinInChatMessage;
/** The duration of a pin that states none. In seconds. */
const usualPin = 7 * 86_400;

/** Returns the change of the pinned message; null if this message is no pin. */
const pinOf = ({ pinInChatMessage: pin, messageContextInfo }: proto.IMessage, at: number): Revision | null => {
  if (!pin?.key?.id) return null;
  const seconds = messageContextInfo?.messageAddOnDurationInSecs || usualPin;
  return { messageId: pin.key.id, pinnedUntil: pin.type === PinType.PIN_FOR_ALL ? at + seconds * 1000 : 0 };
};

/**
 * Converts an arrived message. Returns no entries for the placeholder of an undecrypted message, because the message follows under the same id. Messages
 * without content are left out. Notices about groups and calls are left out too, because they have separate events.
 *
 * `vote`: the chosen options of a vote. `marks`: facts about the message that are not in its content. `permitted`: see `Reading`.
 */
export const fromMessage = (source: WAMessage, directory: Directory, vote: string, marks: Marks = {}, permitted = false): Entry[] => {
  const protocol = unwrapped(source.message)?.protocolMessage;
  if (protocol) return fromProtocolMessage(source, protocol, { directory, marks, permitted });
  const converted = convertMessage(source, directory, vote === '' ? marks : { ...marks, vote });
  if (converted === null) return [];
  const { message, chatAsLast, standsAlone } = converted;
  const { edited, text, timestamp, fromMe, isGroup: inGroup } = message;
  const mayPin = fromMe || !inGroup || permitted;
  const revises = edited === '' ? mayPin && pinOf(unwrapped(source.message) ?? {}, timestamp) : { messageId: edited, text };
  return [{ kind: 'message', message, chat: chatAsLast, unread: standsAlone && !fromMe, ...(revises && { revises }) }];
};
