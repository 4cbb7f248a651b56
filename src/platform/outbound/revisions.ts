/** The contents of messages that change another one, or the reason why they cannot. */
import { proto } from '@whiskeysockets/baileys';
import { includesPerson } from '#actors/model.ts';
import type { LiveConnection } from './live-connection.ts';
import { unwrapped } from '../events/message-kinds.ts';
import { isChannel } from '../wire/jid.ts';
import type { About, Target } from './about.ts';

const { Type } = proto.Message.ProtocolMessage;
const { Type: PinType } = proto.Message.PinInChatMessage;

/** Milliseconds after which the platform's apps offer no edit any more; recipients drop one that comes much later. */
const editWindow = 15 * 60_000;

export const reaction = ({ key }: Target, text: string, now: number): About => ({
  reactionMessage: { key, text, senderTimestampMs: now },
});

const captioned = ['imageMessage', 'videoMessage', 'documentMessage'] as const satisfies readonly (keyof proto.IMessage)[];

/** The content of a message with another text: an edit repeats everything else. Null for kinds without a text. */
export const withOtherText = (message: proto.IMessage, text: string): proto.IMessage | null => {
  const content = unwrapped(message);
  if (content === undefined) return null;
  if (typeof content.conversation === 'string' || content.extendedTextMessage) {
    const context = content.extendedTextMessage?.contextInfo;
    return { extendedTextMessage: { text, ...(context ? { contextInfo: context } : {}) } };
  }
  const kind = captioned.find((name) => content[name]);
  return kind === undefined ? null : { [kind]: { ...content[kind], caption: text } };
};

export const onlyOwn = 'only own messages can be edited';

export const edit = ({ message, key }: Target, text: string, now: number): About => {
  if (!message.fromMe) return onlyOwn;
  if (now - message.timestamp > editWindow) return 'a message can be edited for 15 minutes after it was sent';
  const editedMessage = message.raw === null ? null : withOtherText(proto.Message.decode(message.raw), text);
  if (editedMessage === null) return 'only texts and captions can be edited';
  return { protocolMessage: { key, type: Type.MESSAGE_EDIT, editedMessage, timestampMs: now } };
};

/** Returns true if the account is known not to be an admin of the group. */
const isPlainMember = async (connection: LiveConnection, group: string): Promise<boolean> => {
  const me = { ...connection.directory.me, id: '' };
  const own = (await connection.group(group))?.members.find((member) => includesPerson([member], me));
  return own !== undefined && !own.isAdmin;
};

export const deletion = async ({ message, key }: Target, connection: LiveConnection): Promise<About> => {
  if (!message.fromMe && !message.isGroup) return 'only own messages can be deleted for everybody';
  if (!message.fromMe && (await isPlainMember(connection, message.chatId))) return 'only admins of the group can delete what others wrote';
  return { protocolMessage: { key, type: Type.REVOKE } };
};

/** `seconds`: 0 takes the pin away. */
export const pin = ({ message, key }: Target, seconds: number, now: number): About => {
  if (isChannel(message.chatId)) return 'message pinning is not supported for newsletters';
  const type = seconds > 0 ? PinType.PIN_FOR_ALL : PinType.UNPIN_FOR_ALL;
  return {
    pinInChatMessage: { key, type, senderTimestampMs: now },
    messageContextInfo: { messageAddOnDurationInSecs: seconds },
  };
};
