/** Status posts: which lists of readers the platform takes, who the account's privacy setting names, and for how long phones show a post. */
import { jidOf, statusJid } from './address.ts';
import { SandboxError } from './face.ts';
import { child, children, node, unixSeconds, type BinaryNode } from './nodes.ts';
import type { People, Person } from './people.ts';

const shownMs = 86_400_000;

/** Phones show a post for a day. */
export const isOver = (at: number, now: number): boolean => now - at >= shownMs;

/** Every account here has a LID. The platform takes a list of LIDs only, and none of the attributes that belong to groups. */
export function statusRefusalOf({ attrs, content }: BinaryNode): string | undefined {
  if (attrs['to'] !== statusJid) return undefined;
  const listed = children(child({ tag: '', attrs: {}, ...(content === undefined ? {} : { content }) }, 'participants'), 'to');
  const isStrange = listed.some(({ attrs: { jid } }) => !jid?.endsWith('@lid'));
  return isStrange || attrs['addressing_mode'] !== undefined || attrs['phash'] !== undefined ? '479' : undefined;
}

/** The lists that the platform keeps of an account; the one in use is marked. */
export function statusPrivacy(people: People, person: Person): BinaryNode {
  const privacy = person.statusPrivacy;
  if (privacy === undefined) throw new SandboxError(404, 'item-not-found');
  if (privacy === 'unavailable') throw new SandboxError(503, 'service-unavailable');
  const users = (numbers: readonly string[]) => numbers.map((number) => node('user', { jid: jidOf(people.ensure(number), 'lid') }));
  const lists = (['contacts', 'whitelist', 'blacklist'] as const).map((type) => {
    const isUsed = privacy.type === type;
    return node('list', { type, default: isUsed ? 'true' : undefined }, isUsed && type !== 'contacts' ? users(privacy.numbers) : []);
  });
  return node('privacy', {}, lists);
}

/** Reads the confirmations of a reader, which come as a list of readers by post. */
export const readerReceipt = (reader: string, id: string, kind: string, now: number): BinaryNode => {
  const t = unixSeconds(now);
  const type = kind === 'delivered' ? undefined : kind;
  const user = node('user', { jid: reader, t, type });
  return node('receipt', { class: 'status', from: statusJid, id: `${id}.${reader}.${kind}`, t }, [
    node('participants', { message_id: id }, [user]),
  ]);
};

/** Reactions and answers to a post go to its author, and name the chat of the posts. */
export const chatInKey = (chat: string, place: string): string => (chat === statusJid ? statusJid : place);
