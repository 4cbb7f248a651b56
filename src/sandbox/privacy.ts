/** The privacy rules between people. */
import { jidOf } from './address.ts';
import { addressBookHas } from './app-state/address-book.ts';
import { SandboxError } from './face.ts';
import { node, unixSeconds } from './nodes.ts';
import type { Parts } from './parts.ts';
import type { Device, Person } from './people.ts';

type Category = 'profile' | 'status' | 'last' | 'online';

/** `profile`: the picture, `status`: the about text, `last`: when somebody was online last, `online`: whether somebody is. */
export function maySee(parts: Pick<Parts, 'appState' | 'people'>, owner: Person, viewer: Person, category: Category): boolean {
  if (owner === viewer) return true;
  if (owner.blocked.includes(viewer.number)) return false;
  const wish = owner.privacy[category] ?? 'all';
  if (wish === 'match_last_seen') return maySee(parts, owner, viewer, 'last');
  return wish === 'all' || (wish !== 'none' && addressBookHas(parts, owner.number, viewer.number));
}

const people = ['all', 'contacts', 'contact_blacklist', 'none'];
const allowed: Readonly<Record<string, readonly string[]>> = {
  last: people,
  profile: people,
  status: people,
  groupadd: people,
  online: ['all', 'match_last_seen'],
  readreceipts: ['all', 'none'],
  calladd: ['all', 'known'],
  messages: ['all', 'contacts'],
};

/** Changes settings of a person, and tells the linked devices, but not the one that did it. Throws when there is no such category or value. */
export function changePrivacy(parts: Parts, person: Person, change: Readonly<Record<string, string>>, by?: Device): void {
  for (const [name, value] of Object.entries(change)) {
    if (!Object.hasOwn(allowed, name)) throw new SandboxError(400, `privacy: there is no category ${name.slice(0, 40)}`);
    if (allowed[name]?.includes(value) !== true) throw new SandboxError(400, `privacy: ${name} is not ${value.slice(0, 40)}`);
  }
  Object.assign(person.privacy, change);
  parts.people.save(person);
  const categories = Object.entries(change).map(([name, value]) => node('category', { name, value }));
  const attrs = { from: jidOf(person, 'pn'), type: 'account_sync', t: unixSeconds(Date.now()) };
  for (const device of parts.people.devices(person.number)) {
    if (device === by || categories.length === 0) continue;
    parts.links.deliver(device, node('notification', { ...attrs, id: parts.random.id() }, [node('privacy', {}, categories)]));
  }
}
