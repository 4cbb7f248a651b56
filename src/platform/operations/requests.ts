/** Shared parts of operations: the type of a handler, and requests in the platform's own form, for answers that the library drops. */
import { type BinaryNode, generateMessageIDV2, getBinaryNodeChild, type WASocket } from '@whiskeysockets/baileys';
import { type Group, type GroupSettings, includesPerson, type ReadKey } from '#actors/model.ts';
import type { GroupWish, MembersAction, OperationControl, Outcome } from '#actors/ports.ts';
import type { LiveConnection } from '../outbound/live-connection.ts';
import { type Addresses, addressesOf, type Directory } from '../wire/directory.ts';
import { isChannel, isGroup, isLid, isPerson, personServer } from '../wire/jid.ts';

// The type of an operation's handler. A handler needs no `catch` for errors of the library, because `perform` turns them into outcomes.

/** The table of one resource: a handler for each of its operations. Entries in an outcome are stored by the gateway. */
export type Handlers<Resource> = {
  readonly [Name in keyof Resource]: Resource[Name] extends { readonly input: infer Input; readonly answer: infer Answer }
    ? (connection: LiveConnection, input: Input, control: OperationControl) => Promise<Outcome<Answer>>
    : never;
};

// Requests about groups in the platform's own words, where the library drops what it answered.

export const anyGroup = '@g.us';

export const element = (tag: string, attrs: BinaryNode['attrs'] = {}, content?: BinaryNode['content']): BinaryNode => ({
  tag,
  attrs,
  ...(content === undefined ? {} : { content }),
});

/** Rejects with the library's error when the platform refuses. */
export const ask = ({ sock }: LiveConnection, to: string, type: 'get' | 'set', content: BinaryNode): Promise<BinaryNode> =>
  sock.query({ tag: 'iq', attrs: { to, xmlns: 'w:g2', type }, content: [content] });

/** The fields that the request for a new group must have since 2026-08-06 (tulir/whatsmeow 39b719ba, e277b766, 8b4a8ba0). */
export const firstSettings: readonly BinaryNode[] = [
  element('member_add_mode', {}, Buffer.from('all_member_add')),
  element('ephemeral', { expiration: '0' }),
  element('membership_approval_mode', {}, [element('group_join', { state: 'off' })]),
];

const bytes = (text: string): Uint8Array => Buffer.from(text, 'utf8');

/**
 * `topicId` is the id of the present description, or ''. The platform refuses the request with 409 if the description has changed. A deletion has an
 * id too (tulir/whatsmeow `group.go`, SetGroupTopic).
 */
export const wishElement = (wish: GroupWish, topicId: string): BinaryNode => {
  switch (wish.of) {
    case 'name':
      return element('subject', {}, bytes(wish.text));
    case 'description': {
      const ids = { id: generateMessageIDV2(), ...(topicId === '' ? {} : { prev: topicId }) };
      return wish.text === ''
        ? element('description', { ...ids, delete: 'true' })
        : element('description', ids, [element('body', {}, bytes(wish.text))]);
    }
    case 'announce':
      return element(wish.on ? 'announcement' : 'not_announcement');
    case 'locked':
      return element(wish.on ? 'locked' : 'unlocked');
    case 'joinApproval':
      return element('membership_approval_mode', {}, [element('group_join', { state: wish.on ? 'on' : 'off' })]);
    case 'whoAddsMembers':
      return element('member_add_mode', {}, bytes(wish.who === 'all' ? 'all_member_add' : 'admin_add'));
    case 'ephemeral':
      return wish.seconds > 0 ? element('ephemeral', { expiration: String(wish.seconds) }) : element('not_ephemeral');
  }
};

/** Returns the changes of a group after the platform accepted the request. */
export const settingsAfter = (wish: GroupWish, sent: BinaryNode, { me, now }: Directory): GroupSettings => {
  const by = { id: me.pn, pn: me.pn, lid: me.lid };
  switch (wish.of) {
    case 'name':
      return { subject: { text: wish.text, by, at: now() } };
    case 'description': {
      // After a deletion there is no description that the next one replaces.
      const { id, delete: isGone } = sent.attrs;
      return { topic: { text: wish.text, by, at: now(), ...(id === undefined || isGone ? {} : { id }) } };
    }
    case 'whoAddsMembers':
      return { whoAddsMembers: wish.who };
    case 'ephemeral':
      return { ephemeral: wish.seconds };
    default:
      return { [wish.of]: wish.on };
  }
};

/**
 * Names a new member by its LID where that is known, with the number beside it (tulir/whatsmeow 39b719ba). The platform answers 400 or 463 to a number
 * whose account is addressed by LID (WhiskeySockets/Baileys 2683).
 */
const newcomer = (jid: string, { pn, lid }: Addresses): BinaryNode =>
  lid === '' ? element('participant', { jid }) : element('participant', { jid: lid, ...(pn === '' ? {} : { phone_number: pn }) });

/** Names a member as the group names it. */
export const participantOf = (jid: string, action: MembersAction | 'create', group: Group | null, directory: Directory): BinaryNode => {
  const { pn, lid } = addressesOf(directory, jid);
  if (action === 'add' || action === 'create') return newcomer(jid, { pn, lid });
  const member = group?.members.find((one) => includesPerson([one], { id: jid, pn, lid }));
  const asks = action === 'approve' || action === 'reject';
  return element('participant', { jid: member?.id ?? (asks && group?.addressing === 'lid' && lid !== '' ? lid : jid) });
};

/** The element of the answer that lists the people of the request. */
export const membersAnswer = (answer: BinaryNode, action: MembersAction): BinaryNode | undefined => {
  const list = action === 'approve' || action === 'reject' ? getBinaryNodeChild(answer, 'membership_requests_action') : answer;
  return list && getBinaryNodeChild(list, action);
};

export const membersElement = (action: MembersAction, people: BinaryNode[]): BinaryNode =>
  action === 'approve' || action === 'reject'
    ? element('membership_requests_action', {}, [element(action, {}, people)])
    : element(action, {}, people);

// The request that sets a picture.

/** `target`: a group; null for the account itself. `jpeg` null takes the picture away. */
export const pictureQuery = (target: string | null, jpeg: Uint8Array | null): BinaryNode => ({
  tag: 'iq',
  attrs: { to: personServer, ...(target === null ? {} : { target }), xmlns: 'w:profile:picture', type: 'set' },
  ...(jpeg === null ? {} : { content: [{ tag: 'picture', attrs: { type: 'image' }, content: jpeg }] }),
});

// Receipts for what the account read.

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
