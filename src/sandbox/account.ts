/** The public side of an account: its picture and about text, and the notifications that tell others of a change. */
import { jidOf, pnJid } from './address.ts';
import { addressBookHas } from './app-state/address-book.ts';
import { type Digits, SandboxError } from './face.ts';
import { node, unixSeconds } from './nodes.ts';
import type { Parts } from './parts.ts';
import type { Device, Person, Picture } from './people.ts';
import { maySee } from './privacy.ts';

const maxPicture = 1024 * 1024;

/** Stores a file as a picture with an id of its own. Without bytes: no picture. */
export function keepPicture({ media, random }: Parts, file: Uint8Array | undefined): Picture | undefined {
  if (!file?.length) return undefined;
  if (file.length > maxPicture) throw new SandboxError(413, 'picture: too large');
  return { id: String(random.bytes(4).readUInt32BE(0)), path: media.keepNow(file) };
}

/** Sets the picture of a person. Notifies the devices of all who know the person and may see it. */
export function setPicture(parts: Parts, person: Person, picture: Picture | undefined): void {
  const { links, people, random } = parts;
  person.picture = picture;
  people.save(person);
  const from = jidOf(person, 'pn');
  const change = picture ? node('set', { jid: from, id: picture.id, author: from }) : node('delete', { jid: from, author: from });
  for (const other of people.all()) {
    const devices = people.devices(other.number);
    if (devices.length === 0 || !knows(parts, other, person) || !maySee(parts, person, other, 'profile')) continue;
    const attrs = { from, type: 'picture', id: random.id(), t: unixSeconds(Date.now()) };
    for (const device of devices) links.deliver(device, node('notification', attrs, [change]));
  }
}

/** Sets whom a person blocks. Notifies the person's devices, except the one that made the change. */
export function setBlocked({ links, people, random }: Parts, person: Person, blocked: readonly Digits[], maker?: Device): void {
  const before = new Set(person.blocked);
  const after = new Set(blocked);
  const item = (action: string) => (number: Digits) => node('item', { action, jid: jidOf(people.ensure(number), 'lid') });
  const items = [...[...after.difference(before)].map(item('block')), ...[...before.difference(after)].map(item('unblock'))];
  person.blocked = [...after];
  people.save(person);
  if (items.length === 0) return;
  const attrs = { from: jidOf(person, 'pn'), type: 'account_sync', id: random.id(), t: unixSeconds(Date.now()) };
  for (const device of people.devices(person.number))
    if (device !== maker) links.deliver(device, node('notification', attrs, [node('blocklist', { dhash: String(after.size) }, items)]));
}

const knows = (parts: Parts, reader: Person, { number }: Person): boolean =>
  reader.number === number ||
  addressBookHas(parts, reader.number, number) ||
  parts.messages.everything(reader.number, pnJid(number)).length > 0;
