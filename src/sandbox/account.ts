/** The picture, the privacy settings and the block list of an account, and the notifications of their changes. */
import { jidOf, pnJid } from './address.ts';
import { type Digits, SandboxError } from './interface.ts';
import { node, unixSeconds } from './nodes.ts';
import type { Parts } from './parts.ts';
import type { Device, Person, Picture } from './people.ts';

/** Returns true if the address book of `owner` has the number `other`. The address book consists of the contacts in the owner's app state. */
export const addressBookHas = ({ appState, people }: Pick<Parts, 'appState' | 'people'>, owner: Digits, other: Digits): boolean =>
  appState.records(owner).some(({ collection, action: { index } }) => {
    const contact = collection === 'critical_unblock_low' && index[0] === 'contact';
    return contact && people.resolve(index[1])?.person.number === other;
  });

// The privacy rules between people.

type Category = 'profile' | 'status' | 'last' | 'online';

/**
 * Returns true if `viewer` may see this category of the owner's profile. `profile`: the picture. `status`: the about text. `last`: the last-seen time.
 * `online`: the online state.
 */
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

/**
 * Changes privacy settings of a person, and notifies the person's linked devices except the one that made the change. Throws if the category or the value does
 * not exist.
 */
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
    parts.connections.deliver(device, node('notification', { ...attrs, id: parts.random.id() }, [node('privacy', {}, categories)]));
  }
}

const maxPicture = 1024 * 1024;

/** Stores a file as a picture with a new id. Returns undefined, which means no picture, if the file is absent or empty. */
export function keepPicture({ media, random }: Parts, file: Uint8Array | undefined): Picture | undefined {
  if (!file?.length) return undefined;
  if (file.length > maxPicture) throw new SandboxError(413, 'picture: too large');
  return { id: String(random.bytes(4).readUInt32BE(0)), path: media.keepNow(file) };
}

/**
 * Sets the picture of a person. Notifies the person's own devices, and the devices of everyone who may see the picture and has the person as a contact or in a
 * chat.
 */
export function setPicture(parts: Parts, person: Person, picture: Picture | undefined): void {
  const { connections, people, random } = parts;
  person.picture = picture;
  people.save(person);
  const from = jidOf(person, 'pn');
  const change = picture ? node('set', { jid: from, id: picture.id, author: from }) : node('delete', { jid: from, author: from });
  for (const other of people.all()) {
    const devices = people.devices(other.number);
    if (devices.length === 0 || !knows(parts, other, person) || !maySee(parts, person, other, 'profile')) continue;
    const attrs = { from, type: 'picture', id: random.id(), t: unixSeconds(Date.now()) };
    for (const device of devices) connections.deliver(device, node('notification', attrs, [change]));
  }
}

/** Replaces the block list of a person. Notifies the person's devices, except the one that made the change. */
export function setBlocked({ connections, people, random }: Parts, person: Person, blocked: readonly Digits[], maker?: Device): void {
  const before = new Set(person.blocked);
  const after = new Set(blocked);
  const item = (action: string) => (number: Digits) => node('item', { action, jid: jidOf(people.ensure(number), 'lid') });
  const items = [...[...after.difference(before)].map(item('block')), ...[...before.difference(after)].map(item('unblock'))];
  person.blocked = [...after];
  people.save(person);
  if (items.length === 0) return;
  const attrs = { from: jidOf(person, 'pn'), type: 'account_sync', id: random.id(), t: unixSeconds(Date.now()) };
  for (const device of people.devices(person.number))
    if (device !== maker)
      connections.deliver(device, node('notification', attrs, [node('blocklist', { dhash: String(after.size) }, items)]));
}

const knows = (parts: Parts, reader: Person, { number }: Person): boolean =>
  reader.number === number ||
  addressBookHas(parts, reader.number, number) ||
  parts.messages.everything(reader.number, pnJid(number)).length > 0;
