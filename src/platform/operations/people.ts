/** Looks up addresses of people that a request needs and that are not known yet. */
import { type BinaryNode, proto, type WASocket } from '@whiskeysockets/baileys';
import type { LookedUp } from '#actors/ports.ts';
import type { LiveConnection } from '../outbound/live-connection.ts';
import { bare, isLid, isPerson, personJid, personServer, userOf } from '../wire/jid.ts';

// Looks up accounts of numbers, in one request for all of them. The library's own query does not return the requested form if the account
// is known in another form. It omits numbers without an account, and the names of businesses.

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

/** The name stands in a certificate, which the platform has checked. */
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

/** Answers by the requested digits, which the platform repeats. */
const answersOf = (users: readonly BinaryNode[]): ReadonlyMap<string, Answer> => {
  const answers = new Map<string, Answer>();
  for (const user of users) {
    const contact = childOf(user, 'contact');
    const jid = bare(user.attrs['jid']);
    // Since 2026-07 accounts are named by their LID, with the number beside it; numbers without an account by the number alone.
    const named = isPerson(jid) ? jid : bare(user.attrs['pn_jid']);
    const type = contact?.attrs['type'];
    if (type === undefined || childOf(contact, 'error')) continue;
    const asked = textOf(contact).replace(/@.*/, '').replaceAll(/\D/g, '') || userOf(named);
    // The platform tells no number of people with a username (WhiskeySockets/Baileys 2742). The number that was asked for is theirs.
    const id = named === '' && isLid(jid) && asked !== '' ? personJid(asked) : named;
    const there = type === 'in' && isPerson(id);
    const lid = isLid(jid) ? jid : bare(childOf(user, 'lid')?.attrs['val']);
    answers.set(asked, there ? { pn: id, lid, businessName: businessNameOf(user) } : { pn: '', lid: '', businessName: '' });
  }
  return answers;
};

/** Null when the platform did not answer for every form, and found nobody under the others. */
const lookedUp = (forms: readonly string[], answers: ReadonlyMap<string, Answer>): LookedUp | null => {
  const found = forms.map((form) => answers.get(userOf(form)));
  const there = found.filter((answer) => answer !== undefined && answer.pn !== '') as Answer[];
  const [first] = there;
  if (first === undefined) return found.includes(undefined) ? null : { chatId: '', businessName: '' };
  const { pn, businessName } = there.find((answer) => forms.includes(answer.pn)) ?? first;
  return { chatId: pn, businessName };
};

/** Stores the LIDs that come with the answers: accounts that have migrated take messages only there. */
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

/** Returns the LID of a number, or '' when there is none. Asks the platform when it is not known. '' for every other jid. */
export const lidOf = async (connection: LiveConnection, pn: string): Promise<string> => {
  const { directory, sock } = connection;
  await connection.loadMappings([pn]);
  if (isPerson(pn) && directory.lid(pn) === '' && pn !== directory.me.pn) await lookUpNumbers(sock, [[pn]]);
  return directory.lid(pn);
};

/** Reads the LIDs of these people into the directory. Asks the platform once for all whose LID is not known. Rejects when the platform refuses. */
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
