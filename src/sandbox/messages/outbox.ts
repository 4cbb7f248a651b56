/** Sends messages of simulated phones: encrypts a message for each linked device of the receivers, stores it, and repeats it on request. */
import { encodeWAMessage, type proto } from '@whiskeysockets/baileys';
import { isGroupJid, jidOf, lidJid, toldPn, type Addressing } from '../address.ts';
import { stanzaKind, type StanzaKind } from '../content.ts';
import { SandboxError } from '../interface.ts';
import { rankOf, type Group, type Groups } from '../groups.ts';
import type { Connections } from '../connections.ts';
import { node, unixSeconds, type BinaryNode } from '../nodes.ts';
import type { Device, People, Person } from '../people.ts';
import type { PrivacyTokens } from '../privacy-tokens.ts';
import type { Bundles } from '../signal/bundles.ts';
import type { Bundle } from '../signal/identity.ts';
import type { Phones, SignalAccess } from '../signal/phones.ts';
import type { MessageStore, Stored } from '../store/messages.ts';
import { chatOf, type Composed } from './compose.ts';
import type { Inbox } from './inbox.ts';

export type Target = { readonly person: Person; readonly addressing: Addressing } | { readonly group: Group };

/** A stanza with its receiving device. */
type Outgoing = readonly [Device, BinaryNode];

export class Outbox {
  readonly #people: People;
  readonly #phones: Phones;
  readonly #bundles: Bundles;
  readonly #connections: Connections;
  readonly #messages: MessageStore;
  readonly #inbox: Inbox;
  readonly #groups: Groups;
  readonly #tokens: PrivacyTokens;

  constructor(
    people: People,
    phones: Phones,
    bundles: Bundles,
    connections: Connections,
    messages: MessageStore,
    inbox: Inbox,
    groups: Groups,
    tokens: PrivacyTokens,
  ) {
    this.#tokens = tokens;
    this.#people = people;
    this.#phones = phones;
    this.#bundles = bundles;
    this.#connections = connections;
    this.#messages = messages;
    this.#inbox = inbox;
    this.#groups = groups;
  }

  async send(from: Person, target: Target, { message, edit }: Composed, id: string): Promise<void> {
    const addressing = 'group' in target ? target.group.addressing : target.addressing;
    if ('group' in target) checkMember(target.group, from);
    await this.#phones.exclusively(from, async (signal) => {
      const outgoing =
        'group' in target
          ? await this.#toGroup(signal, from, target.group, message, id, edit)
          : await this.#toPerson(signal, from, target, message, id, edit);
      return () => {
        const chat = 'group' in target ? target.group.jid : chatOf(target.person);
        const extra = edit === undefined ? { addressing } : { addressing, edit };
        this.#messages.put({
          owner: from.number,
          id,
          chat,
          author: '',
          at: Date.now(),
          attempts: 0,
          confirmed: 'none',
          content: message,
          extra,
        });
        for (const [device, stanza] of outgoing) this.#connections.deliver(device, stanza);
        const group = 'group' in target ? { group: target.group.jid } : {};
        for (const one of this.#phonesOf(from, target)) this.#inbox.arriveFromPhone(one, from, message, { id, addressing, edit, ...group });
      };
    });
  }

  /** Sends a peer message from a phone to its own device: history, keys, answers to requests. */
  async sendPeer(from: Person, device: Device, message: proto.IMessage, id: string): Promise<void> {
    await this.#phones.exclusively(from, async (signal) => {
      const enc = await this.#seal(signal, device, message, {});
      const attrs = { from: jidOf(from, 'pn'), id, t: unixSeconds(Date.now()), type: 'text', category: 'peer' };
      return () => this.#connections.deliver(device, node('message', attrs, [enc]));
    });
  }

  /** Sends the message `id` again to a device that could not decrypt it, in a new session. */
  async sendAgain(from: Person, device: Device, id: string, count: number, keys: Bundle | undefined): Promise<void> {
    const stored = this.#messages.find(from.number, id, '');
    if (!stored?.content) return;
    const group = isGroupJid(stored.chat) ? this.#groups.find(stored.chat) : undefined;
    if (group && rankOf(group, device.number) === undefined) return;
    await this.#phones.exclusively(from, async (signal) => {
      const jid = lidJid(this.#people.ensure(device.number).lid, device.device);
      await signal.startSession(jid, keys ?? this.#bundles.ofDevice(device));
      const message = await this.#again(signal, from, device, stored, group);
      const attrs = { ...stanzaKind(stored.content ?? {}), count: String(count) };
      const enc = await this.#seal(signal, device, message, attrs);
      const heading = this.#headingAgain(from, device, stored, group);
      return () => this.#connections.deliver(device, node('message', heading, [enc]));
    });
  }

  async #again(signal: SignalAccess, from: Person, device: Device, stored: Stored, group: Group | undefined): Promise<proto.IMessage> {
    const content = stored.content ?? {};
    if (group) {
      const { distribution } = await signal.encryptGroup(group.jid, encodeWAMessage({}));
      return { ...content, senderKeyDistributionMessage: { groupId: group.jid, axolotlSenderKeyDistributionMessage: distribution } };
    }
    return device.number === from.number ? sentByPhone(stored.chat, content) : content;
  }

  #headingAgain(from: Person, device: Device, stored: Stored, group: Group | undefined): Record<string, string | undefined> {
    const { id, content = {}, extra } = stored;
    if (group) return this.#groupHeading(from, group, content, id, extra.edit);
    const recipient = this.#people.resolve(stored.chat)?.person ?? from;
    const heading = { addressing: extra.addressing, message: content, id, edit: extra.edit };
    return device.number === from.number ? this.#ownHeading(from, recipient, heading) : this.#heading(from, heading);
  }

  async #toPerson(
    signal: SignalAccess,
    from: Person,
    { person, addressing }: { readonly person: Person; readonly addressing: Addressing },
    message: proto.IMessage,
    id: string,
    edit: string | undefined,
  ): Promise<Outgoing[]> {
    const outgoing: Outgoing[] = [];
    const heading = { addressing, message, id, edit };
    const kind = stanzaKind(message);
    if (person !== from) {
      for (const device of this.#people.devices(person.number)) {
        const token = from.needsTokens ? [this.#tokens.besideMessage(from, person)] : [];
        outgoing.push([device, node('message', this.#heading(from, heading), [await this.#seal(signal, device, message, kind), ...token])]);
      }
    }
    for (const device of this.#people.devices(from.number)) {
      const copy = sentByPhone(jidOf(person, addressing), message);
      const enc = await this.#seal(signal, device, copy, kind);
      outgoing.push([device, node('message', this.#ownHeading(from, person, heading), [enc])]);
    }
    return outgoing;
  }

  async #toGroup(
    signal: SignalAccess,
    from: Person,
    group: Group,
    message: proto.IMessage,
    id: string,
    edit: string | undefined,
  ): Promise<Outgoing[]> {
    const kind = stanzaKind(message);
    const known = await signal.senderKeyMemory(group.jid);
    const { ciphertext, distribution } = await signal.encryptGroup(group.jid, encodeWAMessage(message));
    const heading = this.#groupHeading(from, group, message, id, edit);
    const distributed = { senderKeyDistributionMessage: { groupId: group.jid, axolotlSenderKeyDistributionMessage: distribution } };
    const outgoing: Outgoing[] = [];
    for (const { number } of group.members) {
      const member = this.#people.ensure(number);
      for (const device of this.#people.devices(number)) {
        const jid = lidJid(member.lid, device.device);
        const first = known[jid] ? [] : [await this.#seal(signal, device, distributed, {})];
        known[jid] = true;
        outgoing.push([device, node('message', heading, [...first, encNode('skmsg', ciphertext, kind)])]);
      }
    }
    await signal.rememberSenderKey(group.jid, known);
    return outgoing;
  }

  async #seal(signal: SignalAccess, device: Device, message: proto.IMessage, attrs: EnvelopeAttributes): Promise<BinaryNode> {
    const jid = lidJid(this.#people.ensure(device.number).lid, device.device);
    if (!(await signal.hasSession(jid))) await signal.startSession(jid, this.#bundles.ofDevice(device));
    const { type, ciphertext } = await signal.encrypt(jid, encodeWAMessage(message));
    return encNode(type, ciphertext, attrs);
  }

  #heading(from: Person, { addressing, message, id, edit }: Heading): Record<string, string | undefined> {
    const other = addressing === 'lid' ? { addressing_mode: 'lid', sender_pn: toldPn(from) } : { sender_lid: jidOf(from, 'lid') };
    return { from: jidOf(from, addressing), ...this.#common(from, message, id, edit), ...other };
  }

  #ownHeading(from: Person, to: Person, { addressing, message, id, edit }: Heading): Record<string, string | undefined> {
    const other =
      addressing === 'lid' ? { addressing_mode: 'lid', peer_recipient_pn: toldPn(to) } : { peer_recipient_lid: jidOf(to, 'lid') };
    return { from: jidOf(from, addressing), recipient: jidOf(to, addressing), ...this.#common(from, message, id, edit), ...other };
  }

  #groupHeading(
    from: Person,
    group: Group,
    message: proto.IMessage,
    id: string,
    edit: string | undefined,
  ): Record<string, string | undefined> {
    const { addressing } = group;
    const other = addressing === 'lid' ? { participant_pn: toldPn(from) } : { participant_lid: jidOf(from, 'lid') };
    return {
      from: group.jid,
      participant: jidOf(from, addressing),
      addressing_mode: addressing,
      ...other,
      ...this.#common(from, message, id, edit),
    };
  }

  #common(from: Person, message: proto.IMessage, id: string, edit: string | undefined): Record<string, string | undefined> {
    return { id, t: unixSeconds(Date.now()), type: stanzaKind(message).type, notify: this.#people.pushName(from) || undefined, edit };
  }

  #phonesOf(from: Person, target: Target): Person[] {
    if ('person' in target) return target.person === from ? [] : [target.person];
    return target.group.members.flatMap(({ number }) => (number === from.number ? [] : [this.#people.ensure(number)]));
  }
}

type EnvelopeAttributes = Partial<StanzaKind> & { readonly count?: string };

interface Heading {
  readonly addressing: Addressing;
  readonly message: proto.IMessage;
  readonly id: string;
  readonly edit: string | undefined;
}

/** Makes the node of an envelope. Its `type` is the type of the envelope. The `type` of the content belongs to the stanza. */
const encNode = (type: string, ciphertext: Uint8Array, { type: _type, ...attrs }: EnvelopeAttributes): BinaryNode =>
  node('enc', { v: '2', ...attrs, type }, ciphertext);

/** Wraps a phone's own message for its linked devices. */
const sentByPhone = (destinationJid: string, message: proto.IMessage): proto.IMessage => ({
  deviceSentMessage: { destinationJid, message },
  ...(message.messageContextInfo ? { messageContextInfo: message.messageContextInfo } : {}),
});

function checkMember(group: Group, from: Person): void {
  const rank = rankOf(group, from.number);
  if (rank === undefined) throw new SandboxError(403, `${from.number} is not in this group`);
  if (group.announce && rank === null) throw new SandboxError(403, 'only admins write in this group');
}
