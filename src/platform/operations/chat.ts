/** Operations on chats. */
import type { ReadKey } from '#actors/model.ts';
import type { ChatOperations } from '#actors/ports.ts';
import { refuse } from '#actors/model.ts';
import { chatOf } from '../directory.ts';
import { isGroup, isLid, isPerson, resolveTarget } from '../jid.ts';
import { answered } from '../outcomes.ts';
import type { Handlers } from './handlers.ts';

/** Receipts go where the message came from, which in a direct chat may be the LID. */
const receiptKey = ({ chatId, messageId, sender }: ReadKey) => {
  const group = isGroup(chatId);
  const direct = isLid(sender) || isPerson(sender) ? sender : chatId;
  return { remoteJid: group ? chatId : direct, id: messageId, fromMe: false, ...(group ? { participant: sender } : {}) };
};

export const chatHandlers: Handlers<ChatOperations> = {
  'chat.typing': async ({ sock }, { chatId, state }) => {
    await sock.sendPresenceUpdate(state, chatId);
    return answered(null);
  },

  'chat.markRead': async ({ sock }, { chatId, messages }) => {
    await sock.readMessages(messages.map(receiptKey));
    return answered(null, [{ kind: 'chatRead', chatId }]);
  },

  'chat.resolve': async ({ directory, learn }, { number }) => {
    const target = resolveTarget(number);
    if (!target.ok) return refuse('invalid', target.message);
    await learn([target.jid]);
    return answered(chatOf(directory, target.jid).id);
  },
};
