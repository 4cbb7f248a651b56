/** Confirms a repeated message to the platform as the library does after reading one, without giving it to the library again. */
import { type BinaryNode, type Contact, decodeMessageNode, isJidNewsletter, isLidUser, type WASocket } from '@whiskeysockets/baileys';

/** Sends the receipt after which the platform forgets the message. Rejects when the connection has ended; then it is repeated once more. */
export const confirmReceived = async (sock: WASocket, me: Contact | undefined, node: BinaryNode): Promise<void> => {
  const { fullMessage, author } = decodeMessageNode(node, me?.id ?? '', me?.lid ?? '');
  const { remoteJid, remoteJidAlt, participant, fromMe, id } = fullMessage.key;
  if (!remoteJid || !id) return;
  if (isJidNewsletter(remoteJid)) return sock.sendMessageAck(node);
  // For an own message in a chat known by LID, the receipt goes to the device that wrote it.
  const to = fromMe && (isLidUser(remoteJid) || isLidUser(remoteJidAlt ?? undefined)) ? author : (participant ?? undefined);
  const type = node.attrs['category'] === 'peer' ? 'peer_msg' : fromMe ? 'sender' : 'inactive';
  await sock.sendReceipt(remoteJid, to, [id], type);
};
