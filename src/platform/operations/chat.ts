/** Operations on chats. */
import type { ReadKey } from '#actors/model.ts';
import type { ChatOperations } from '#actors/ports.ts';
import { USyncQuery, USyncUser } from '@whiskeysockets/baileys';
import { refuse } from '#actors/model.ts';
import { chatOf } from '../directory.ts';
import { bare, isGroup, isLid, isPerson, resolveTarget, userOf } from '../jid.ts';
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

  'chat.markMessagesRead': async ({ sock, directory }, { chatId, messages }) => {
    await sock.readMessages(messages.map(receiptKey));
    const { pn, lid } = directory.me;
    const reader = { sender: pn, senderPn: pn, senderLid: lid, at: directory.now() };
    return answered(null, [{ kind: 'messagesRead', chatId, messageIds: messages.map(({ messageId }) => messageId), ...reader }]);
  },

  'chat.resolve': async ({ directory, learn }, { number }) => {
    const target = resolveTarget(number);
    if (!target.ok) return refuse('invalid', target.message);
    await learn([target.jid]);
    return answered(chatOf(directory, target.jid).id);
  },

  // The LID comes with the answer: accounts that have migrated take messages only there.
  'chat.lookUp': async ({ sock }, { forms }) => {
    const query = new USyncQuery().withContactProtocol().withLIDProtocol();
    for (const form of forms) query.withUser(new USyncUser().withPhone(`+${userOf(form)}`));
    const found = ((await sock.executeUSyncQuery(query))?.list ?? []).flatMap(({ id, contact, lid }) =>
      contact === true && isPerson(bare(id)) ? [{ pn: bare(id), lid: typeof lid === 'string' ? bare(lid) : '' }] : [],
    );
    const pairs = found.filter(({ lid }) => lid !== '');
    if (pairs.length > 0) await sock.signalRepository.lidMapping.storeLIDPNMappings(pairs);
    const ids = found.map(({ pn }) => pn);
    return answered(forms.find((form) => ids.includes(form)) ?? ids[0] ?? null);
  },
};
