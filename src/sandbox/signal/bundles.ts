/** Key bundles of phones and linked devices. Each one-time key is given out once. */
import { deviceKey } from '../address.ts';
import type { Faults } from '../faults.ts';
import type { Connections } from '../connections.ts';
import { node, platformJid, unixSeconds } from '../nodes.ts';
import type { Device, People, Person } from '../people.ts';
import type { Random } from '../random.ts';
import type { KeyStore } from '../store/keys.ts';
import type { Bundle } from './identity.ts';
import type { Phones } from './phones.ts';

/** The number of remaining one-time keys at which the platform asks a device for more keys. It asks again when no key remains. */
const lowKeys = 4;

export class Bundles {
  readonly #people: People;
  readonly #phones: Phones;
  readonly #keys: KeyStore;
  readonly #connections: Connections;
  readonly #faults: Faults;
  readonly #random: Random;

  constructor(people: People, phones: Phones, keys: KeyStore, connections: Connections, faults: Faults, random: Random) {
    this.#faults = faults;
    this.#people = people;
    this.#phones = phones;
    this.#keys = keys;
    this.#connections = connections;
    this.#random = random;
  }

  /** Returns the bundle of a device; `undefined` if the device is not linked. */
  of(person: Person, device: number): Bundle | undefined {
    if (device === 0) return this.#phones.bundle(person);
    const linked = this.#people.device(person.number, device);
    return linked && this.ofDevice(linked);
  }

  ofDevice(device: Device): Bundle {
    const owner = deviceKey(device.number, device.device);
    if (this.#faults.take('keysUsedUp', device.number)) while (this.#keys.countPreKeys(owner) > lowKeys + 1) this.#keys.takePreKey(owner);
    const preKey = this.#keys.takePreKey(owner);
    const left = this.#keys.countPreKeys(owner);
    if (preKey && (left === lowKeys || left === 0)) this.#askForKeys(device, left);
    const { registrationId, identity, signedPreKey } = device;
    return { registrationId, identity, signedPreKey, preKey };
  }

  #askForKeys(device: Device, left: number): void {
    // This address of the platform has an empty user before the `@`. In other notifications the address has no `@`. Source: vinikjkkj/zapo
    // (`packages/fake-server/src/protocol/`).
    const attrs = { from: `@${platformJid}`, type: 'encrypt', id: this.#random.id(), t: unixSeconds(Date.now()) };
    this.#connections.deliver(device, node('notification', attrs, [node('count', { value: String(left) })]));
  }
}
