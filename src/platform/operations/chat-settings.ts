/** The owner's settings of chats and people, which the phone and the other devices share. */
import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren, proto } from '@whiskeysockets/baileys';
import { type Entry, refuse } from '#actors/model.ts';
import type { ChatOperations } from '#actors/ports.ts';
import { indexOfChat } from '../app-state/actions.ts';
import { mutationsOf } from '../app-state/chat-changes.ts';
import type { LiveConnection } from '../outbound/live-connection.ts';
import { chatOf } from '../wire/directory.ts';
import { fromBlocklist } from '../events/from-chats.ts';
import { bare, isGroup, isLid, isPerson, personServer } from '../wire/jid.ts';
import { newMessageId } from '../outbound/compose.ts';
import { relay } from '../outbound/relay.ts';
import { answered } from '../wire/outcomes.ts';
import type { Handlers } from './handlers.ts';
import { lidOf } from './people.ts';
import { confirmRead } from './receipt-key.ts';

type Settings = Pick<ChatOperations, 'chat.change' | 'chat.block' | 'chat.blocked' | 'chat.timer' | 'chat.reloadNotes'>;

const blocklistQuery = (type: 'get' | 'set', content?: BinaryNode[]): BinaryNode => ({
  tag: 'iq',
  attrs: { xmlns: 'blocklist', to: personServer, type },
  ...(content ? { content } : {}),
});

/** The blocked people, by number where it is known, and the entries that mark their chats. */
const blocked = async (connection: LiveConnection): Promise<{ readonly ids: readonly string[]; readonly entries: readonly Entry[] }> => {
  const { sock, directory } = connection;
  const list = getBinaryNodeChild(await sock.query(blocklistQuery('get')), 'list');
  const lids = getBinaryNodeChildren(list, 'item').map(({ attrs }) => bare(attrs['jid']));
  await connection.learn(lids);
  const ids = lids.map((lid) => chatOf(directory, lid).id).filter((id) => id !== '');
  return { ids, entries: fromBlocklist({ blocklist: lids, type: 'add' }, directory) };
};

/** Both addresses of somebody who is to be blocked. */
const addressesOf = async (connection: LiveConnection, chatId: string): Promise<{ readonly pn: string; readonly lid: string }> => {
  if (isLid(chatId)) {
    await connection.learn([chatId]);
    return { pn: connection.directory.pn(chatId), lid: chatId };
  }
  return { pn: chatId, lid: await lidOf(connection, chatId) };
};

export const chatSettingHandlers: Handlers<Settings> = {
  'chat.change': async (connection, { chatId, change, last, unread }) => {
    const { sock, directory, shared } = connection;
    if (isPerson(chatId)) await lidOf(connection, chatId);
    if (unread.length > 0) await confirmRead(sock, chatId, unread);
    return shared.patch(mutationsOf(change, { jid: indexOfChat(directory, chatId), last, now: directory.now() }));
  },

  // The platform names blocked people by their LID, and wants the number of somebody new beside it.
  'chat.block': async (connection, { chatId, block }) => {
    const { sock, directory } = connection;
    const { pn, lid } = await addressesOf(connection, chatId);
    if (pn === directory.me.pn || (lid !== '' && lid === directory.me.lid)) return refuse('invalid', 'an account cannot block itself');
    if (lid === '') return refuse('notFound', 'the platform does not name the person behind this number');
    if (block && pn === '') return refuse('invalid', 'the number of this person is not known: block it by its number');
    const attrs = block ? { action: 'block', jid: lid, pn_jid: pn } : { action: 'unblock', jid: lid };
    await sock.query(blocklistQuery('set', [{ tag: 'item', attrs }]));
    const changed = fromBlocklist({ blocklist: [lid], type: block ? 'add' : 'remove' }, directory);
    const { ids, entries } = await blocked(connection);
    return answered(ids, [...changed, ...entries]);
  },

  'chat.blocked': async (connection) => {
    const { ids, entries } = await blocked(connection);
    return answered(ids, entries);
  },

  'chat.timer': async (connection, { chatId, seconds }) => {
    const { sock, directory } = connection;
    if (!isGroup(chatId) && !isPerson(chatId) && !isLid(chatId)) return refuse('invalid', 'only chats with people and groups have a timer');
    if (isGroup(chatId)) await sock.groupToggleEphemeral(chatId, seconds);
    else {
      await lidOf(connection, chatId);
      const protocolMessage = { type: proto.Message.ProtocolMessage.Type.EPHEMERAL_SETTING, ephemeralExpiration: seconds };
      const sent = await relay(connection, { jid: chatId, messageId: newMessageId(), content: { protocolMessage } });
      if (!sent.ok) return sent;
    }
    const chat = { chatId: chatOf(directory, chatId).id, ephemeralExpiration: seconds };
    return answered(null, [{ kind: 'chat', chat, create: false, tell: 'chats' }]);
  },

  'chat.reloadNotes': async ({ shared }) => {
    await shared.reload(['regular_low']);
    return answered(null);
  },
};
