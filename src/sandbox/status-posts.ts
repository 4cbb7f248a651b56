/**
 * Status posts: the lists of readers that the platform accepts, the audience of the account's privacy setting, and the lifetime of a post.
 */
import { jidOf, statusJid } from './address.ts';
import { SandboxError } from './interface.ts';
import { child, children, node, unixSeconds, type BinaryNode } from './nodes.ts';
import type { People, Person } from './people.ts';

const lifetimeMs = 86_400_000;

/** Returns true if a status post is at least a day old. Phones hide such posts. */
export const isExpired = (at: number, now: number): boolean => now - at >= lifetimeMs;

/**
 * Returns the code that refuses a status post; undefined if it is accepted. All simulated accounts have a LID. The list of readers must therefore have only
 * LIDs. The group attributes `addressing_mode` and `phash` are refused.
 */
export function statusRefusalOf({ attrs, content }: BinaryNode): string | undefined {
  if (attrs['to'] !== statusJid) return undefined;
  const listed = children(child({ tag: '', attrs: {}, ...(content === undefined ? {} : { content }) }, 'participants'), 'to');
  const isStrange = listed.some(({ attrs: { jid } }) => !jid?.endsWith('@lid'));
  return isStrange || attrs['addressing_mode'] !== undefined || attrs['phash'] !== undefined ? '479' : undefined;
}

/** Returns the three lists of readers of an account. The list in use has the attribute `default`. */
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

/** Makes the receipt of one reader of a status post. The form of the receipt is a list of readers, here with one reader. */
export const readerReceipt = (reader: string, id: string, kind: string, now: number): BinaryNode => {
  const t = unixSeconds(now);
  const type = kind === 'delivered' ? undefined : kind;
  const user = node('user', { jid: reader, t, type });
  return node('receipt', { class: 'status', from: statusJid, id: `${id}.${reader}.${kind}`, t }, [
    node('participants', { message_id: id }, [user]),
  ]);
};

/**
 * Returns the chat that a message key names. `chat` is the chat of the referenced message, and `place` the chat of the new message. Reactions and answers to a
 * status post go to the author of the post, but their keys name the chat of all status posts.
 */
export const chatInKey = (chat: string, place: string): string => (chat === statusJid ? statusJid : place);
