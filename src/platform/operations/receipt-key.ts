/** How a read receipt names its message. */
import type { ReadKey } from '#actors/model.ts';
import { isGroup, isLid, isPerson } from '../jid.ts';

/** Receipts go where the message came from, which in a direct chat may be the LID. */
export const receiptKey = ({ chatId, messageId, sender }: ReadKey) => {
  const group = isGroup(chatId);
  const direct = isLid(sender) || isPerson(sender) ? sender : chatId;
  return { remoteJid: group ? chatId : direct, id: messageId, fromMe: false, ...(group ? { participant: sender } : {}) };
};
