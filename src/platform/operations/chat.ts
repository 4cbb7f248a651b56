/** Operations on chats. */
import type { ChatOperations, Identified } from '#actors/ports.ts';
import { refuse } from '#actors/model.ts';
import { chatOf, type Directory } from '../wire/directory.ts';
import { isChannel, isGroup, isLid, isPerson, resolveTarget } from '../wire/jid.ts';
import { lookUpNumbers } from './number-lookup.ts';
import { answered } from '../wire/outcomes.ts';
import { chatSettingHandlers } from './chat-settings.ts';
import type { Handlers } from './handlers.ts';
import { lidOf } from './people.ts';
import { confirmRead } from './receipt-key.ts';

const kindOf = (id: string): Identified['kind'] => {
  if (isGroup(id)) return 'group';
  if (isLid(id)) return 'lid';
  return isPerson(id) ? 'person' : 'other';
};

const identified = (directory: Directory, asked: string): Identified => {
  const { id, lid } = chatOf(directory, asked);
  return { id, kind: kindOf(id), lid, groupName: isGroup(id) ? directory.groupName(id) : '' };
};

export const chatHandlers: Handlers<ChatOperations> = {
  ...chatSettingHandlers,

  'chat.typing': async (connection, { chatId, state }) => {
    if (isChannel(chatId)) return refuse('invalid', 'nobody sees typing in a channel');
    const lid = await lidOf(connection, chatId);
    const content = state === 'recording' ? { tag: 'composing', attrs: { media: 'audio' } } : { tag: state, attrs: {} };
    // The web client names no sender, and people by their LID (tulir/whatsmeow 1494ba73).
    await connection.sock.sendNode({ tag: 'chatstate', attrs: { to: lid || chatId }, content: [content] });
    return answered(null);
  },

  'chat.markRead': async (connection, { chatId, messages }) => {
    await confirmRead(connection.sock, chatId, messages);
    return answered(null, [{ kind: 'chatRead', chatId }]);
  },

  'chat.markMessagesRead': async (connection, { chatId, messages }) => {
    await confirmRead(connection.sock, chatId, messages);
    const { me, now } = connection.directory;
    const reader = { sender: me.pn, senderPn: me.pn, senderLid: me.lid, at: now() };
    return answered(null, [{ kind: 'messagesRead', chatId, messageIds: messages.map(({ messageId }) => messageId), ...reader }]);
  },

  'chat.resolve': async ({ directory, learn }, { number }) => {
    const target = resolveTarget(number);
    if (!target.ok) return refuse('invalid', target.message);
    await learn([target.jid]);
    return answered(chatOf(directory, target.jid).id);
  },

  'chat.lookUp': async ({ sock }, { numbers }) => answered(await lookUpNumbers(sock, numbers)),

  'chat.identify': async ({ directory, learn }, { ids }) => {
    await learn(ids);
    return answered(ids.map((id) => identified(directory, id)));
  },
};
