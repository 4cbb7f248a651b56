/** Forged stanzas, which no correct client sends. The durable inbox drops them before the library trusts them. */
import { type BinaryNode, jidDecode, normalizeMessageContent, proto } from '@whiskeysockets/baileys';
import { type Directory, isChannel, isMe } from '../wire/jid.ts';

/** Posts of a channel are public, so they are not encrypted. In any other chat an attacker in between has made up a text without encryption. */
export const isUnsealed = ({ attrs, content }: BinaryNode): boolean =>
  Array.isArray(content) && content.some(({ tag }) => tag === 'plaintext') && !isChannel(attrs['from'] ?? '');

const { Type } = proto.Message.ProtocolMessage;
type ProtocolType = proto.Message.ProtocolMessage.Type;

/** Messages between the devices of one account. WhatsApp Web accepts them only from the phone, but the library from any device of the account. */
const phoneOnly: ReadonlySet<ProtocolType | null | undefined> = new Set([
  Type.HISTORY_SYNC_NOTIFICATION,
  Type.APP_STATE_SYNC_KEY_SHARE,
  Type.LID_MIGRATION_MAPPING_SYNC,
  Type.PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE,
  Type.INITIAL_SECURITY_NOTIFICATION_SETTING_SYNC,
  Type.APP_STATE_FATAL_EXCEPTION_NOTIFICATION,
]);

/** The contents of these messages. The library reads the first two for every type of message. */
const phoneOnlyContents = [
  'historySyncNotification',
  'appStateSyncKeyShare',
  'peerDataOperationRequestResponseMessage',
  'lidMigrationMappingSyncMessage',
  'initialSecurityNotificationSettingSync',
  'appStateFatalExceptionNotification',
] as const satisfies readonly (keyof proto.Message.IProtocolMessage)[];

const isPhoneOnlyProtocol = (protocol: proto.Message.IProtocolMessage | null | undefined): boolean =>
  protocol !== null &&
  protocol !== undefined &&
  (phoneOnly.has(protocol.type) || phoneOnlyContents.some((content) => (protocol[content] ?? null) !== null));

/** True if the message is one that only the phone sends. The library looks at the message in its wrappers and beside them, and so does this check. */
export const isPhoneOnly = (message: proto.IMessage): boolean =>
  isPhoneOnlyProtocol(message.protocolMessage) || isPhoneOnlyProtocol(normalizeMessageContent(message)?.protocolMessage);

/** True if the phone of the account sent the stanza in its chat with itself. */
export const isFromOwnPhone = (stanza: BinaryNode | undefined, directory: Directory): boolean => {
  const { from, recipient, participant } = stanza?.attrs ?? {};
  const talksToItself = participant === undefined && isMe(directory, from) && (recipient === undefined || isMe(directory, recipient));
  return talksToItself && (jidDecode(from)?.device ?? 0) === 0;
};
