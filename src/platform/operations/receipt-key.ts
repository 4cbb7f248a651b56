/** Receipts for what the account read. */
import type { WASocket } from '@whiskeysockets/baileys';
import type { ReadKey } from '#actors/model.ts';
import { isChannel, isGroup, isLid, isPerson } from '../wire/jid.ts';

/** Receipts go where the message came from, which in a direct chat may be the LID. */
const receiptKey = ({ chatId, messageId, sender }: ReadKey) => {
  const group = isGroup(chatId);
  const direct = isLid(sender) || isPerson(sender) ? sender : chatId;
  return { remoteJid: group ? chatId : direct, id: messageId, fromMe: false, ...(group ? { participant: sender } : {}) };
};

/** Messages of one chat. In channels only the other devices of the account get to know it: that a post was seen is told apart. */
export const confirmRead = (
  sock: Pick<WASocket, 'readMessages' | 'sendReceipts'>,
  chatId: string,
  messages: readonly ReadKey[],
): Promise<void> => {
  const keys = messages.map(receiptKey);
  return isChannel(chatId) ? sock.sendReceipts(keys, 'read-self') : sock.readMessages(keys);
};
