/**
 * Shared parts of operations: the type of a handler, requests about groups, pictures and receipts, and look-ups of addresses.
 */
import { type BinaryNode, generateMessageIDV2, getBinaryNodeChild, proto, type WASocket } from '@whiskeysockets/baileys';
import { type Group, type GroupSettings, includesPerson, type Person, type ReadKey } from '#actors/model.ts';
import type { GroupWish, LookedUp, MembersAction, OperationControl, Outcome } from '#actors/ports.ts';
import type { LiveConnection } from '../outbound/live-connection.ts';
import {
  type Addresses,
  addressesOf,
  bare,
  type Directory,
  formsOf,
  isChannel,
  isGroup,
  isLid,
  isPerson,
  knownForm,
  personJid,
  personServer,
  userOf,
} from '../wire/jid.ts';

// The type of an operation's handler. A handler needs no `catch` for errors of the library, because `performOn` converts them into outcomes.

/** The handlers of one resource, one for each operation. The gateway stores the entries in their outcomes. */
export type Handlers<Resource> = {
  readonly [Name in keyof Resource]: Resource[Name] extends { readonly input: infer Input; readonly answer: infer Answer }
    ? (connection: LiveConnection, input: Input, control: OperationControl) => Promise<Outcome<Answer>>
    : never;
};

// Requests about groups. They do not use the library's methods, which drop the answers.

export const anyGroup = '@g.us';

export const element = (tag: string, attrs: BinaryNode['attrs'] = {}, content?: BinaryNode['content']): BinaryNode => ({
  tag,
  attrs,
  ...(content === undefined ? {} : { content }),
});

/** Sends a query about a group. Rejects with the library's error if the platform refuses. */
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
 * Builds the element of a change. `topicId`: the id of the present description, or ''. The platform refuses the request with 409 if the description has
 * changed. A deletion has an id too (tulir/whatsmeow `group.go`, SetGroupTopic).
 */
export const groupChangeElement = (wish: GroupWish, topicId: string): BinaryNode => {
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

/** Returns the changed settings of a group after the platform has accepted the request. */
export const settingsAfter = (wish: GroupWish, sent: BinaryNode, { me, now }: Directory): GroupSettings => {
  const by = { id: me.pn, pn: me.pn, lid: me.lid };
  switch (wish.of) {
    case 'name':
      return { subject: { text: wish.text, by, at: now() } };
    case 'description': {
      // After a deletion there is no present description, so its id is dropped.
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
 * Builds the element of a new member, by LID with the number if the LID is known (tulir/whatsmeow 39b719ba). The platform refuses the number of an
 * account that is addressed by LID with 400 or 463 (WhiskeySockets/Baileys 2683).
 */
const newcomer = (jid: string, { pn, lid }: Addresses): BinaryNode =>
  lid === '' ? element('participant', { jid }) : element('participant', { jid: lid, ...(pn === '' ? {} : { phone_number: pn }) });

/** Builds the element of a member, with the address that the group uses. */
export const participantOf = (jid: string, action: MembersAction | 'create', group: Group | null, directory: Directory): BinaryNode => {
  const { pn, lid } = addressesOf(directory, jid);
  if (action === 'add' || action === 'create') return newcomer(jid, { pn, lid });
  const member = group?.members.find((one) => includesPerson([one], { id: jid, pn, lid }));
  const asks = action === 'approve' || action === 'reject';
  return element('participant', { jid: member?.id ?? (asks && group?.addressing === 'lid' && lid !== '' ? lid : jid) });
};

/** Returns the element of the answer that lists the people of the request. */
export const membersAnswer = (answer: BinaryNode, action: MembersAction): BinaryNode | undefined => {
  const list = action === 'approve' || action === 'reject' ? getBinaryNodeChild(answer, 'membership_requests_action') : answer;
  return list && getBinaryNodeChild(list, action);
};

export const membersElement = (action: MembersAction, people: BinaryNode[]): BinaryNode =>
  action === 'approve' || action === 'reject'
    ? element('membership_requests_action', {}, [element(action, {}, people)])
    : element(action, {}, people);

// The request that sets a picture.

/** Builds the query. `target`: a group; null for the account itself. `jpeg`: null removes the picture. */
export const pictureQuery = (target: string | null, jpeg: Uint8Array | null): BinaryNode => ({
  tag: 'iq',
  attrs: { to: personServer, ...(target === null ? {} : { target }), xmlns: 'w:profile:picture', type: 'set' },
  ...(jpeg === null ? {} : { content: [{ tag: 'picture', attrs: { type: 'image' }, content: jpeg }] }),
});

// Read receipts.

/** Returns the key for a receipt. The receipt goes to the address from which the message came. In a direct chat this address may be a LID. */
const receiptKey = ({ chatId, messageId, sender }: ReadKey) => {
  const group = isGroup(chatId);
  const direct = isLid(sender) || isPerson(sender) ? sender : chatId;
  return { remoteJid: group ? chatId : direct, id: messageId, fromMe: false, ...(group ? { participant: sender } : {}) };
};

/** Sends read receipts for messages of one chat. For channels, only the account's other devices get them. A separate request counts views of posts. */
export const confirmRead = (
  sock: Pick<WASocket, 'readMessages' | 'sendReceipts'>,
  chatId: string,
  messages: readonly ReadKey[],
): Promise<void> => {
  const keys = messages.map(receiptKey);
  return isChannel(chatId) ? sock.sendReceipts(keys, 'read-self') : sock.readMessages(keys);
};

// Look-ups of numbers and LIDs. One query looks up the accounts of several numbers. The library's own query is not used, because its answer does not
// contain the requested form of a number. The answer also omits numbers without an account, and the names of businesses.

type Sock = Pick<WASocket, 'query' | 'generateMessageTag' | 'signalRepository'>;

/** The platform's answer for one form of a number. `pn`: '' if there is no account. */
interface Answer {
  readonly pn: string;
  readonly lid: string;
  readonly businessName: string;
}

const childOf = (node: BinaryNode | undefined, tag: string): BinaryNode | undefined =>
  Array.isArray(node?.content) ? node.content.find((one) => one.tag === tag) : undefined;

const childrenOf = (node: BinaryNode | undefined): readonly BinaryNode[] => (Array.isArray(node?.content) ? node.content : []);

const plain = (tag: string, content?: BinaryNode['content']): BinaryNode => ({
  tag,
  attrs: {},
  ...(content === undefined ? {} : { content }),
});

const textOf = (node: BinaryNode | undefined): string => {
  const { content } = node ?? {};
  if (typeof content === 'string') return content;
  return content instanceof Uint8Array ? Buffer.from(content).toString() : '';
};

/** Returns the name of a business from its certificate, which the platform has verified. '' if there is none. */
const businessNameOf = (user: BinaryNode): string => {
  const certificate = childOf(childOf(user, 'business'), 'verified_name')?.content;
  if (!(certificate instanceof Uint8Array)) return '';
  try {
    const { details } = proto.VerifiedNameCertificate.decode(certificate);
    return details ? (proto.VerifiedNameCertificate.Details.decode(details).verifiedName ?? '') : '';
  } catch {
    return '';
  }
};

/** Returns the answers. The key is the requested number in digits, which each answer repeats. */
const answersOf = (users: readonly BinaryNode[]): ReadonlyMap<string, Answer> => {
  const answers = new Map<string, Answer>();
  for (const user of users) {
    const contact = childOf(user, 'contact');
    const jid = bare(user.attrs['jid']);
    // Since 2026-07 the platform names accounts by LID and number, and numbers without an account only by the number.
    const named = isPerson(jid) ? jid : bare(user.attrs['pn_jid']);
    const type = contact?.attrs['type'];
    if (type === undefined || childOf(contact, 'error')) continue;
    const asked = textOf(contact).replace(/@.*/, '').replaceAll(/\D/g, '') || userOf(named);
    // The platform hides the number of people with a username (WhiskeySockets/Baileys 2742). The requested number is then used.
    const id = named === '' && isLid(jid) && asked !== '' ? personJid(asked) : named;
    const there = type === 'in' && isPerson(id);
    const lid = isLid(jid) ? jid : bare(childOf(user, 'lid')?.attrs['val']);
    answers.set(asked, there ? { pn: id, lid, businessName: businessNameOf(user) } : { pn: '', lid: '', businessName: '' });
  }
  return answers;
};

/**
 * Returns the account of a number. `forms`: the possible forms of the number. Without an account, returns an empty chat id if the platform answered for
 * all forms, and null otherwise.
 */
const lookedUp = (forms: readonly string[], answers: ReadonlyMap<string, Answer>): LookedUp | null => {
  const found = forms.map((form) => answers.get(userOf(form)));
  const there = found.filter((answer) => answer !== undefined && answer.pn !== '') as Answer[];
  const [first] = there;
  if (first === undefined) return found.includes(undefined) ? null : { chatId: '', businessName: '' };
  const { pn, businessName } = there.find((answer) => forms.includes(answer.pn)) ?? first;
  return { chatId: pn, businessName };
};

/**
 * Looks up the accounts of numbers. Each number is a list of its possible forms. Stores the LIDs in the answers, because migrated accounts receive messages
 * only by LID.
 */
export async function lookUpNumbers(sock: Sock, numbers: readonly (readonly string[])[]): Promise<readonly (LookedUp | null)[]> {
  const users = [...new Set(numbers.flat())].map((form) => plain('user', [plain('contact', Buffer.from(`+${userOf(form)}`))]));
  const contact: BinaryNode = { tag: 'contact', attrs: { addressing_mode: 'lid' } };
  const more = [plain('business', [plain('verified_name')]), plain('disappearing_mode'), plain('username')];
  const query = plain('query', [contact, ...more]);
  const attrs = { context: 'interactive', mode: 'query', sid: sock.generateMessageTag(), last: 'true', index: '0' };
  const result = (await sock.query({
    tag: 'iq',
    attrs: { to: personServer, type: 'get', xmlns: 'usync' },
    content: [{ tag: 'usync', attrs, content: [query, plain('list', users)] }],
  })) as BinaryNode | undefined;
  const answers = answersOf(childrenOf(childOf(childOf(result, 'usync'), 'list')));
  const pairs = [...answers.values()].filter(({ pn, lid }) => pn !== '' && lid !== '').map(({ pn, lid }) => ({ pn, lid }));
  if (pairs.length > 0) await sock.signalRepository.lidMapping.storeLIDPNMappings(pairs);
  return numbers.map((forms) => lookedUp(forms, answers));
}

/** Returns the LID of a number; '' if there is none, or if the JID is not a number. Queries the platform for an unknown LID. */
export const lidOf = async (connection: LiveConnection, pn: string): Promise<string> => {
  const { directory, sock } = connection;
  await connection.loadMappings([pn]);
  if (isPerson(pn) && directory.lid(pn) === '' && pn !== directory.me.pn) await lookUpNumbers(sock, [[pn]]);
  return directory.lid(pn);
};

/**
 * Returns the addresses of these people in the forms under which the platform knows them, without duplicates. Queries unknown Brazilian numbers in both forms,
 * in one request. A number without an account stays as it is. Rejects if the platform refuses. `members`: people whose numbers are known.
 */
export const inKnownForms = async (
  { directory, sock, loadMappings }: LiveConnection,
  jids: readonly string[],
  members: readonly Person[] = [],
): Promise<readonly string[]> => {
  await loadMappings(jids.flatMap(formsOf));
  const isOpen = (jid: string): boolean => isPerson(jid) && formsOf(jid).length > 1 && knownForm(directory, jid, members) === null;
  const unknown = jids.filter(isOpen);
  const found = unknown.length === 0 ? [] : await lookUpNumbers(sock, unknown.map(formsOf));
  const accounts = new Map(unknown.map((jid, place) => [jid, found[place]?.chatId || jid]));
  return [...new Set(jids.map((jid) => accounts.get(jid) ?? knownForm(directory, jid, members) ?? jid))];
};

/** Loads the LIDs of these people into the directory. Queries unknown LIDs from the platform in one request. Rejects if the platform refuses. */
export const requestLids = async (connection: LiveConnection, jids: readonly string[]): Promise<void> => {
  const { directory, sock } = connection;
  await connection.loadMappings(jids);
  const unknown = jids.filter((jid) => isPerson(jid) && jid !== directory.me.pn && directory.lid(jid) === '');
  if (unknown.length > 0)
    await lookUpNumbers(
      sock,
      unknown.map((pn) => [pn]),
    );
};
