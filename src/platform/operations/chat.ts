/** Operations on chats and their settings, on the address book, and on labels and quick replies. */
import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren, proto } from '@whiskeysockets/baileys';
import { type Entry, refuse } from '#actors/model.ts';
import type { ChatOperations, ContactOperations, DefinitionOperations, Identified } from '#actors/ports.ts';
import { indexOfChat, type Mutation, mutationsOf, removeAction, setAction } from '../app-state/actions.ts';
import { fromBlocklist, fromWholeBlocklist } from '../events/from-chats.ts';
import { newMessageId } from '../outbound/compose.ts';
import type { LiveConnection } from '../outbound/live-connection.ts';
import { relay } from '../outbound/relay.ts';
import { bare, chatOf, type Directory, isChannel, isGroup, isLid, isPerson, personServer, resolveTarget } from '../wire/jid.ts';
import { answered } from '../wire/outcomes.ts';
import { confirmRead, type Handlers, lidOf, lookUpNumbers } from './requests.ts';

// Settings of chats and people, which all devices of the account share.

type Settings = Pick<ChatOperations, 'chat.change' | 'chat.block' | 'chat.blocked' | 'chat.timer' | 'chat.reloadNotes'>;

const blocklistQuery = (type: 'get' | 'set', content?: BinaryNode[]): BinaryNode => ({
  tag: 'iq',
  attrs: { xmlns: 'blocklist', to: personServer, type },
  ...(content ? { content } : {}),
});

/** Reads the blocked people, by number if known. Builds the entry that marks their chats as blocked, and all other chats as not blocked. */
const blocked = async (connection: LiveConnection): Promise<{ readonly ids: readonly string[]; readonly entries: readonly Entry[] }> => {
  const { sock, directory } = connection;
  const list = getBinaryNodeChild(await sock.query(blocklistQuery('get')), 'list');
  const lids = getBinaryNodeChildren(list, 'item').map(({ attrs }) => bare(attrs['jid']));
  await connection.loadMappings(lids);
  const ids = lids.map((lid) => chatOf(directory, lid).id).filter((id) => id !== '');
  return { ids, entries: [fromWholeBlocklist(lids, directory)] };
};

/** Returns both addresses of a person that the client wants to block or unblock. */
const addressesOf = async (connection: LiveConnection, chatId: string): Promise<{ readonly pn: string; readonly lid: string }> => {
  if (isLid(chatId)) {
    await connection.loadMappings([chatId]);
    return { pn: connection.directory.pn(chatId), lid: chatId };
  }
  return { pn: chatId, lid: await lidOf(connection, chatId) };
};

const chatSettingHandlers: Handlers<Settings> = {
  'chat.change': async (connection, { chatId, change, last, unread }) => {
    const { sock, directory, shared } = connection;
    if (isPerson(chatId)) await lidOf(connection, chatId);
    if (unread.length > 0) await confirmRead(sock, chatId, unread);
    return shared.patch(mutationsOf(change, { jid: indexOfChat(directory, chatId), last, now: directory.now() }));
  },

  // The platform lists blocked people by LID. A request to block a person also needs the number.
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
    const { id, lid } = chatOf(directory, chatId);
    const chat = { chatId: id, isGroup: isGroup(id), ephemeralExpiration: seconds, ...(lid !== '' && lid !== id ? { chatLid: lid } : {}) };
    // The chat is created, so that the first message to a new person has the timer. On a phone, the setting creates the chat too.
    return answered(null, [{ kind: 'chat', chat, create: true, tell: 'chats' }]);
  },

  'chat.reloadNotes': async ({ shared }) => {
    await shared.reload(['regular_low']);
    return answered(null);
  },
};

// Operations on chats.

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
    // The stanza has no sender, and names people by their LID, like the stanza of the web client (tulir/whatsmeow 1494ba73).
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

  'chat.resolve': async ({ directory, loadMappings }, { number }) => {
    const target = resolveTarget(number);
    if (!target.ok) return refuse('invalid', target.message);
    await loadMappings([target.jid]);
    return answered(chatOf(directory, target.jid).id);
  },

  'chat.lookUp': async ({ sock }, { numbers }) => answered(await lookUpNumbers(sock, numbers)),

  'chat.identify': async ({ directory, loadMappings }, { ids }) => {
    await loadMappings(ids);
    return answered(ids.map((id) => identified(directory, id)));
  },
};

// Operations on the address book.

const noNumber = refuse('invalid', 'a contact is saved by its number');

export const contactHandlers: Handlers<ContactOperations> = {
  // Contacts are indexed by number. The record also has the LID, so that other devices get the pair of number and LID.
  'contact.save': async (connection, { chatId, name }) => {
    if (!isPerson(chatId)) return noNumber;
    const lidJid = await lidOf(connection, chatId);
    const [firstName = name] = name.split(' ', 1);
    const contactAction = { fullName: name, firstName, saveOnPrimaryAddressbook: true, ...(lidJid === '' ? {} : { lidJid }) };
    return connection.shared.patch([setAction('contact', [chatId], { contactAction })]);
  },

  'contact.remove': async (connection, { chatId }) => {
    if (!isPerson(chatId)) return noNumber;
    await connection.loadMappings([chatId]);
    return connection.shared.patch([removeAction('contact', [chatId], { contactAction: {} })]);
  },
};

// Operations on labels and quick replies, which are records of the shared state.

/** The collection of labels and quick replies. */
const collection = 'regular';

const marks = (ids: readonly string[], jid: string, labeled: boolean): readonly Mutation[] =>
  ids.map((id) => setAction('label_jid', [id, jid], { labelAssociationAction: { labeled } }));

export const definitionHandlers: Handlers<DefinitionOperations> = {
  'label.define': ({ shared }, { label: { id, name, color, deleted } }) =>
    shared.patch([setAction('label_edit', [id], { labelEditAction: { name, color, deleted } })]),

  'label.mark': async (connection, { chatId, add, remove }) => {
    const { shared, directory } = connection;
    if (isPerson(chatId)) await lidOf(connection, chatId);
    const jid = indexOfChat(directory, chatId);
    const [first, ...others] = [...marks(add, jid, true), ...marks(remove, jid, false)];
    return first === undefined ? answered(null) : shared.patch([first, ...others]);
  },

  'label.reload': async ({ shared }, { whole }) => {
    await (whole ? shared.reload([collection]) : shared.refresh([collection]));
    return answered(null);
  },

  'quickReply.define': ({ shared }, { reply: { id, shortcut, text, keywords, count }, deleted }) =>
    shared.patch([
      setAction('quick_reply', [id], { quickReplyAction: { shortcut, message: text, keywords: [...keywords], count, deleted } }),
    ]),
};
