/** Forged stanzas, which no correct client sends. The durable inbox drops them before the library trusts them. */
import { type BinaryNode, jidDecode, normalizeMessageContent, proto } from '@whiskeysockets/baileys';
import { type Directory, isChannel, isMe } from '../wire/jid.ts';

/** Returns true for an unencrypted text outside of a channel, which only an attacker can send. Channel posts are public, and so are not encrypted. */
export const isUnsealed = ({ attrs, content }: BinaryNode): boolean =>
  Array.isArray(content) && content.some(({ tag }) => tag === 'plaintext') && !isChannel(attrs['from'] ?? '');

const { Type } = proto.Message.ProtocolMessage;
type ProtocolType = proto.Message.ProtocolMessage.Type;

/** Messages that only the phone may send to the account's other devices. WhatsApp Web checks the sender, but the library accepts any device. */
const phoneOnly: ReadonlySet<ProtocolType | null | undefined> = new Set([
  Type.HISTORY_SYNC_NOTIFICATION,
  Type.APP_STATE_SYNC_KEY_SHARE,
  Type.LID_MIGRATION_MAPPING_SYNC,
  Type.PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE,
  Type.INITIAL_SECURITY_NOTIFICATION_SETTING_SYNC,
  Type.APP_STATE_FATAL_EXCEPTION_NOTIFICATION,
]);

/** The contents of these messages. The library reads the first two whatever the type of the message is. */
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

/** Returns true for a message that only the phone may send. Like the library, this check looks at the message itself and at the content of its wrappers. */
export const isPhoneOnly = (message: proto.IMessage): boolean =>
  isPhoneOnlyProtocol(message.protocolMessage) || isPhoneOnlyProtocol(normalizeMessageContent(message)?.protocolMessage);

/** Returns true if the account's phone sent the stanza to the account itself. */
export const isFromOwnPhone = (stanza: BinaryNode | undefined, directory: Directory): boolean => {
  const { from, recipient, participant } = stanza?.attrs ?? {};
  const talksToItself = participant === undefined && isMe(directory, from) && (recipient === undefined || isMe(directory, recipient));
  return talksToItself && (jidDecode(from)?.device ?? 0) === 0;
};
