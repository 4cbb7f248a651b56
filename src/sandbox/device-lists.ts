/** The lists of people's devices: their hash, the list of key indexes that the phone signs, and the notices of changes. */
import { createHash } from 'node:crypto';
import { proto, type KeyPair } from '@whiskeysockets/baileys';
import { jidOf, type Addressing } from './address.ts';
import type { Faults } from './faults.ts';
import type { Connections } from './connections.ts';
import { node, unixSeconds, type BinaryNode } from './nodes.ts';
import type { Device, People, Person } from './people.ts';
import type { Random } from './random.ts';
import type { Phones } from './signal/phones.ts';
import { sign } from './signal/identity.ts';

interface ListParts {
  readonly people: People;
  readonly phones: Phones;
  readonly connections: Connections;
  readonly random: Random;
  readonly faults: Faults;
}

/** One device of a person; 0 is the phone. */
interface OneDevice {
  readonly person: Person;
  readonly device: number;
}

/** The prefix of a list of key indexes in the bytes that the phone signs (vinikjkkj/zapo `src/signal/attestation/constants.ts`). */
const listPrefix = Buffer.from([6, 2]);

/** Returns the phone and the linked devices of a person. */
export const devicesOf = ({ people }: Pick<ListParts, 'people'>, person: Person): OneDevice[] =>
  [0, ...people.devices(person.number).map(({ device }) => device)].map((device) => ({ person, device }));

/**
 * Returns the hash of a list of devices: `2:` and the first six bytes of SHA-256 over the sorted addresses, in unpadded base64 (tulir/whatsmeow `send.go:682`).
 * An address has an agent, which is 0 (tulir/whatsmeow `types/jid.go`, `ADString`).
 */
export function hashOf(devices: readonly OneDevice[], addressing: Addressing): string {
  const names = devices.map(({ person, device }) => jidOf(person, addressing).replace('@', `.0:${device}@`)).toSorted();
  return `2:${createHash('sha256').update(names.join('')).digest().subarray(0, 6).toString('base64')}`;
}

/** Returns the id that all device identities of an account share. Without linked devices, returns a new random id, which the first pairing then uses. */
export function rawIdOf({ people, random }: Pick<ListParts, 'people' | 'random'>, { number }: Person): number {
  const known = people.devices(number)[0];
  const rawId = known && proto.ADVDeviceIdentity.decode(known.account.details).rawId;
  return rawId ?? random.bytes(4).readUInt32BE(0);
}

/**
 * The last signed list of each person, with the devices and the identity for which it was made. Without this cache the phone would sign a list for each
 * look-up.
 */
const signedLists = new WeakMap<Person, { readonly devices: readonly Device[]; readonly identity: object; readonly list: BinaryNode }>();

/** Returns the node `<key-index-list>` with the key indexes of the phone and its linked devices. The phone signs the list. */
export function keyIndexList(parts: ListParts, person: Person): BinaryNode {
  const devices = parts.people.devices(person.number);
  const { identity } = parts.phones.keysOf(person);
  const known = signedLists.get(person);
  if (known?.devices === devices && known.identity === identity) return known.list;
  const list = signList(parts, person, identity);
  signedLists.set(person, { devices, identity, list });
  return list;
}

function signList(parts: ListParts, person: Person, identity: KeyPair): BinaryNode {
  const devices = parts.people.devices(person.number);
  // The timestamp of the list is the time at which the newest device was linked.
  const ts = Math.floor(Math.max(0, ...devices.map(({ linkedAt }) => linkedAt)) / 1000);
  const details = proto.ADVKeyIndexList.encode({
    rawId: rawIdOf(parts, person),
    timestamp: ts,
    currentIndex: person.nextDevice - 1,
    validIndexes: [0, ...devices.map(({ keyIndex }) => keyIndex)],
    accountType: 0,
  }).finish();
  const accountSignature = sign(identity.private, Buffer.concat([listPrefix, details]));
  const signed = proto.ADVSignedKeyIndexList.encode({ details, accountSignature, accountSignatureKey: identity.public }).finish();
  return node('key-index-list', { ts: String(ts) }, signed);
}

/**
 * Notifies the clients that have looked up the devices of the person. The notification has the form that tulir/whatsmeow reads (`notification.go:116`): the
 * device with its number jid and its LID jid, and the hash of the new device list for both forms.
 */
export function announceDevice(parts: ListParts, device: Device, change: 'add' | 'remove'): void {
  const { people, connections, random } = parts;
  if (parts.faults.take('silentDevices', device.number)) return;
  const person = people.ensure(device.number);
  const lid = person.withoutLid ? undefined : jidOf(person, 'lid');
  const all = devicesOf(parts, person);
  const hashes = { device_hash: hashOf(all, 'pn'), device_lid_hash: lid && hashOf(all, 'lid') };
  const added = change === 'add';
  const changed = node('device', {
    jid: jidOf(person, 'pn', device.device),
    lid: lid && jidOf(person, 'lid', device.device),
    'key-index': added ? String(device.keyIndex) : undefined,
  });
  const list = added ? keyIndexList(parts, person) : node('key-index-list', { ts: unixSeconds(Date.now()) });
  for (const connection of connections.all()) {
    const reader = people.deviceByKey(connection.deviceKey);
    if (!reader || !connection.knows.has(person.number)) continue;
    const attrs = { from: jidOf(person, 'pn'), lid, type: 'devices', id: random.id(), t: unixSeconds(Date.now()) };
    connections.deliver(reader, node('notification', attrs, [node(change, hashes, [changed, list])]));
  }
}

const keyOf = ({ person, device }: OneDevice): string => `${person.number}:${device}`;

/**
 * Returns the hash of the current devices, for an ack, if the devices that the sender addressed are outdated. Returns `undefined` if they are current
 * (tulir/whatsmeow `send.go:454`). `listed`: the devices that the stanza names. `people`: the recipients and the sender. The sender's own device is in the
 * hash, but in no stanza.
 */
export function staleHash(
  parts: Pick<ListParts, 'people'>,
  sender: Device,
  listed: readonly OneDevice[],
  people: readonly Person[],
  addressing: Addressing,
): string | undefined {
  const all = [...new Set(people)].flatMap((person) => devicesOf(parts, person));
  const named = new Set(listed.map(keyOf)).add(`${sender.number}:${sender.device}`);
  const agrees = named.size === all.length && all.every((one) => named.has(keyOf(one)));
  return agrees ? undefined : hashOf(all, addressing);
}
