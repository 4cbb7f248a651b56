/** Stanzas that nobody honest sends: the gate drops them before the library believes them. */
import { type BinaryNode, jidDecode, normalizeMessageContent, proto } from '@whiskeysockets/baileys';
import { type Directory, isMe } from '../directory.ts';
import { isChannel } from '../jid.ts';

/** Posts of a channel are public, so they are not encrypted. In any other chat an attacker in between has made up a text without encryption. */
export const isUnsealed = ({ attrs, content }: BinaryNode): boolean =>
  Array.isArray(content) && content.some(({ tag }) => tag === 'plaintext') && !isChannel(attrs['from'] ?? '');

const { Type } = proto.Message.ProtocolMessage;
type ProtocolType = proto.Message.ProtocolMessage.Type;

/** Talk between the devices of one account. WhatsApp Web takes these messages from the phone alone, the library from any device of the account. */
const phoneOnly: ReadonlySet<ProtocolType | null | undefined> = new Set([
  Type.HISTORY_SYNC_NOTIFICATION,
  Type.APP_STATE_SYNC_KEY_SHARE,
  Type.LID_MIGRATION_MAPPING_SYNC,
  Type.PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE,
  Type.INITIAL_SECURITY_NOTIFICATION_SETTING_SYNC,
  Type.APP_STATE_FATAL_EXCEPTION_NOTIFICATION,
]);

export const isPhoneOnly = (message: proto.IMessage): boolean => {
  const protocol = normalizeMessageContent(message)?.protocolMessage;
  return protocol !== null && protocol !== undefined && phoneOnly.has(protocol.type);
};

/** True if the phone of the account sent the stanza in its chat with itself. */
export const isFromOwnPhone = (stanza: BinaryNode | undefined, directory: Directory): boolean => {
  const { from, recipient, participant } = stanza?.attrs ?? {};
  const talksToItself = participant === undefined && isMe(directory, from) && (recipient === undefined || isMe(directory, recipient));
  return talksToItself && (jidDecode(from)?.device ?? 0) === 0;
};
