/** Messages that arrive: what people write, and what they change or take back. */
import { proto, type WAMessage } from '@whiskeysockets/baileys';
import type { Entry, Revision } from '#actors/model.ts';
import { numberOf } from './library-values.ts';
import { addressesOf, chatOf, type Directory } from '../wire/directory.ts';
import { convertMessage, type Marks } from './from-message.ts';
import { bare } from '../wire/jid.ts';
import { unwrapped } from './message-kinds.ts';

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

/** Edits and deletions travel as protocol messages; the rest of those is talk between devices. */
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
  // The message is kept as it was sent, not only its new text, because it may have to be sent again.
  const message = { ...converted.message, raw: proto.Message.encode(source.message ?? {}).finish() };
  return [{ kind: 'message', message, chat, unread: false, revises: { messageId: target, text: message.text } }];
};

const { Type: PinType } = proto.Message.PinInChatMessage;
/** Seconds; for a pin that does not say for how long. */
const usualPin = 7 * 86_400;

/** Returns the change of the message that a pin names. */
const pinOf = ({ pinInChatMessage: pin, messageContextInfo }: proto.IMessage, at: number): Revision | null => {
  if (!pin?.key?.id) return null;
  const seconds = messageContextInfo?.messageAddOnDurationInSecs || usualPin;
  return { messageId: pin.key.id, pinnedUntil: pin.type === PinType.PIN_FOR_ALL ? at + seconds * 1000 : 0 };
};

/**
 * Converts one arrived message. Returns nothing for a placeholder of a message that could not be decrypted yet, because the message follows under the same
 * id. Also omitted are messages without content, and notices about groups and calls, which have events of their own.
 *
 * `vote`: options that a poll's vote names. `marks`: of own messages. `permitted`: see `Reading`.
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
