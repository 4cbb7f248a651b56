/** Presence and typing, which are not stored. */
import { isGroupJid, jidOf } from './address.ts';
import type { Groups } from './groups.ts';
import type { Connections } from './connections.ts';
import { firstChild, node, unixSeconds, type BinaryNode } from './nodes.ts';
import type { Device, People, Person } from './people.ts';
import type { Connection } from './wire/connection.ts';

/** Returns true if the viewer may see this category of the owner's presence. */
type MaySee = (owner: Person, viewer: Person, category: 'last' | 'online') => boolean;

type ChatState = 'composing' | 'recording' | 'paused';

const maxSubscriptions = 5000;

export class Presence {
  readonly #people: People;
  readonly #connections: Connections;
  readonly #groups: Groups;
  /** The times at which people went offline, in Unix milliseconds. A person who is online has no entry. */
  readonly #seen = new Map<string, number>();
  /** The available devices of each person who is online. Device 0 is the phone. */
  readonly #online = new Map<string, Set<number>>();

  readonly #maySee: MaySee;

  constructor(people: People, connections: Connections, groups: Groups, maySee: MaySee) {
    this.#maySee = maySee;
    this.#people = people;
    this.#connections = connections;
    this.#groups = groups;
  }

  /** Handles `<presence>` of a client: the state of its device, or a subscription to the state of another person. */
  fromClient(connection: Connection, device: Device, stanza: BinaryNode): void {
    const { type, name, to } = stanza.attrs;
    const person = this.#people.ensure(device.number);
    if (type === 'subscribe') {
      const other = this.#people.resolve(to)?.person;
      if (!other || connection.subscriptions.size >= maxSubscriptions) return;
      connection.subscriptions.add(other.number);
      if (!this.#maySee(other, person, 'online') || !this.#isAvailable(device)) return;
      if (this.#online.has(other.number) || this.#seen.has(other.number))
        connection.send(this.#presenceNode(other, person, to?.endsWith('@lid') === true));
      return;
    }
    if (name && name !== '~' && name !== device.pushName) {
      device.pushName = name.slice(0, 100);
      this.#people.saveDevice(device);
    }
    if (type === 'available' || type === 'unavailable') this.setOnline(person, device.device, type === 'available');
  }

  isOnline(number: string): boolean {
    return this.#online.has(number);
  }

  chatstateFromClient(device: Device, stanza: BinaryNode): void {
    const state = firstChild(stanza);
    const to = stanza.attrs['to'];
    if (!state || !to || (state.tag !== 'composing' && state.tag !== 'paused')) return;
    const recording = state.tag === 'composing' && state.attrs['media'] === 'audio';
    this.chatstate(this.#people.ensure(device.number), to, recording ? 'recording' : state.tag);
  }

  /** Sends a typing state. `to` is a user's or a group's jid. */
  chatstate(person: Person, to: string, state: ChatState): void {
    const content = [state === 'recording' ? node('composing', { media: 'audio' }) : node(state)];
    const group = isGroupJid(to) ? this.#groups.find(to) : undefined;
    const other = this.#people.resolve(to)?.person;
    for (const { number } of group?.members ?? (other ? [other] : [])) {
      if (number === person.number) continue;
      const jid = jidOf(person, group?.addressing ?? (to.endsWith('@lid') ? 'lid' : 'pn'));
      const stanza = node('chatstate', group ? { from: group.jid, participant: jid } : { from: jid }, content);
      for (const device of this.#people.devices(number)) if (this.#isAvailable(device)) this.#connections.sendIfOnline(device, stanza);
    }
    this.#people.emit({ type: 'presence', of: person.number, chat: group?.jid ?? (other ? jidOf(other, 'pn') : to), state });
  }

  /**
   * Sets the state of one of the person's devices. The person is available while at least one device is available. Sends the person's state to subscribers and
   * to `also`, if these people may see the state.
   */
  setOnline(person: Person, device: number, online: boolean, also?: Person): void {
    const devices = this.#online.get(person.number) ?? new Set();
    if (online) {
      this.#online.set(person.number, devices.add(device));
      this.#seen.delete(person.number);
    } else {
      devices.delete(device);
      if (devices.size > 0) return;
      this.#online.delete(person.number);
      this.#seen.set(person.number, Date.now());
    }
    for (const connection of this.#connections.all()) {
      const reader = this.#people.deviceByKey(connection.deviceKey);
      const told = connection.subscriptions.has(person.number) || (also !== undefined && reader?.number === also.number);
      const viewer = reader && this.#people.ensure(reader.number);
      if (!told || !viewer || !connection.active || !this.#isAvailable(reader) || !this.#maySee(person, viewer, 'online')) continue;
      connection.send(this.#presenceNode(person, viewer, false));
    }
    this.#people.emit({ type: 'presence', of: person.number, chat: '', state: online ? 'available' : 'unavailable' });
  }

  /** Returns true if the platform sends typing and the presence of other people to the device (tulir/whatsmeow `types/events/events.go`, `ChatPresence`). */
  #isAvailable({ number, device }: Device): boolean {
    return this.#online.get(number)?.has(device) === true;
  }

  #presenceNode(person: Person, viewer: Person, lid: boolean): BinaryNode {
    const seen = this.#maySee(person, viewer, 'last') ? this.#seen.get(person.number) : undefined;
    const offline = this.#online.has(person.number) ? {} : { type: 'unavailable', last: seen === undefined ? 'deny' : unixSeconds(seen) };
    return node('presence', { from: jidOf(person, lid ? 'lid' : 'pn'), ...offline });
  }
}
