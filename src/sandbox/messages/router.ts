/** Routes the messages of clients: delivers each message to the phones and linked devices of its receivers, then acknowledges it. */
import type { proto } from '@whiskeysockets/baileys';
import { isChannelJid, isGroupJid, isGroupOrStatus, jidOf, parseUser, statusJid, toldPn, type Addressing } from '../address.ts';
import { devicesOf, hashOf, staleHash } from '../device-lists.ts';
import { statusRefusalOf } from '../status-posts.ts';
import { rankOf, type Group } from '../groups.ts';
import { bytes, child, children, node, unixSeconds, type BinaryNode } from '../nodes.ts';
import type { Parts } from '../parts.ts';
import type { Device, Person } from '../people.ts';
import { restrictionCode } from '../restrictions.ts';
import type { Connection } from '../wire/connection.ts';
import type { Arrival, Envelope } from './inbox.ts';
import { chatOf } from './compose.ts';
import { answerPeer } from './peer.ts';
import { besidesOf, interactiveRefusalOf } from './visibility.ts';
import { acceptPost } from './to-channels.ts';

/** One receiving device, with the envelopes that are encrypted for it alone. */
interface Addressed {
  readonly person: Person;
  readonly device: number;
  readonly addressing: Addressing;
  readonly encs: readonly BinaryNode[];
}

/** A client's message, parsed. */
interface Sent {
  readonly stanza: BinaryNode;
  readonly device: Device;
  readonly sender: Person;
  readonly group: Group | undefined;
  /** The jid of the group, or of the status posts. */
  readonly sharedChat: string | undefined;
  /** Envelopes that every member of the group gets. */
  readonly shared: readonly BinaryNode[];
  readonly at: number;
  /** True if a fault damages the message, so that phones cannot decrypt it. */
  readonly broken: boolean;
}

/** Attributes of a client's stanza that are copied into the receivers' stanza. */
const passedOn = ['id', 'type', 'edit', 'category', 'addressing_mode'] as const;

export async function routeMessage(parts: Parts, connection: Connection, device: Device, stanza: BinaryNode): Promise<void> {
  const { faults, counters } = parts;
  counters.messages.fromClients += 1;
  connection.held = [];
  try {
    const refused = faults.take('ackError', device.number);
    const verdict = refused ? { error: String(refused.code ?? 479) } : await accept(parts, device, stanza);
    const acknowledged = 'error' in verdict || !faults.take('noAck', device.number);
    const { id, to, participant } = stanza.attrs;
    if (acknowledged) connection.send(node('ack', { class: 'message', id, from: to, participant, t: unixSeconds(Date.now()), ...verdict }));
  } finally {
    const { held } = connection;
    connection.held = undefined;
    for (const send of held) send();
  }
}

/**
 * Handles a message, and returns the optional fields of its ack. They are the error code of a refusal, the number of a post, `refresh_lid` for a former
 * account, or the current hash if the client's list of devices is outdated.
 */
async function accept(parts: Parts, device: Device, stanza: BinaryNode): Promise<Readonly<Record<string, string>>> {
  if (isChannelJid(stanza.attrs['to'] ?? '')) return acceptPost(parts, device, stanza);
  const error = await deliver(parts, device, stanza);
  if (error !== undefined) return { error };
  if (parts.people.isFormer(stanza.attrs['to'] ?? '')) return { refresh_lid: 'true' };
  const phash = staleHashOf(parts, device, stanza);
  return phash === undefined ? {} : { phash };
}

/**
 * Returns the hash of the existing devices if the devices that a client addressed differ from them. For a group, the client sends the hash of the devices. For
 * a person, it lists the devices.
 */
function staleHashOf(parts: Parts, device: Device, stanza: BinaryNode): string | undefined {
  const { to = '', participant, phash } = stanza.attrs;
  const group = isGroupJid(to) ? parts.groups.find(to) : undefined;
  if (group) {
    const members = group.members.flatMap(({ number }) => devicesOf(parts, parts.people.ensure(number)));
    const hash = hashOf(members, group.addressing);
    return phash === undefined || participant || phash === hash ? undefined : hash;
  }
  const listed = children(child(stanza, 'participants'), 'to').flatMap(({ attrs: { jid } }) => parts.people.resolve(jid) ?? []);
  const recipient = isGroupOrStatus(to) ? undefined : parts.people.resolve(to)?.person;
  if (listed.length === 0 || !recipient) return undefined;
  return staleHash(parts, device, listed, [recipient, parts.people.ensure(device.number)], to.endsWith('@lid') ? 'lid' : 'pn');
}

/** Returns the error code if the message is refused, otherwise `undefined`. */
async function deliver(parts: Parts, device: Device, stanza: BinaryNode): Promise<string | undefined> {
  const to = stanza.attrs['to'] ?? '';
  const sender = parts.people.ensure(device.number);
  const group = isGroupJid(to) ? parts.groups.find(to) : undefined;
  if (isGroupJid(to)) {
    const rank = group && rankOf(group, sender.number);
    if (!group || rank === undefined || (group.announce && rank === null)) return group ? '403' : '404';
    // A sender whose metadata of the group is outdated names another addressing than the group has.
    if ((stanza.attrs['addressing_mode'] ?? group.addressing) !== group.addressing) return '421';
  }
  if (!stanza.attrs['id'] || stanza.attrs['id'].length > 200) return '400';
  if (!identityShown(parts, device, stanza)) return '400';
  const sharedChat = isGroupOrStatus(to) ? to : undefined;
  const refusal =
    statusRefusalOf(stanza) ??
    interactiveRefusalOf(stanza, sharedChat !== undefined) ??
    migratedRefusal(parts, stanza) ??
    oldFormRefusal(parts, sender, stanza) ??
    tokenRefusal(parts, sender, stanza) ??
    strangerRefusal(parts, sender, stanza);
  if (refusal !== undefined) return refusal;
  const broken = parts.faults.take('garble', device.number) !== undefined;
  const sent: Sent = {
    broken,
    stanza,
    device,
    sender,
    group,
    sharedChat,
    shared: sharedChat === undefined ? [] : sharedOf(stanza),
    at: Date.now(),
  };
  const addressed = group && !stanza.attrs['participant'] ? groupTargets(parts, sent, group) : directTargets(parts, stanza);
  await Promise.all(addressed.map((one) => deliverTo(parts, sent, one)));
  return undefined;
}

/**
 * Returns the code that refuses an address in the form of older clients; undefined if the address is accepted. Since 2026-06 stanzas of private chats have the
 * LID and in addition the number (WhiskeySockets/Baileys 2683, tulir/whatsmeow 4f8f64e0). Repetitions for one device and messages to the account itself are
 * exempt.
 */
function oldFormRefusal({ versions, people }: Parts, sender: Person, { attrs }: BinaryNode): string | undefined {
  const { to = '', peer_recipient_pn: number, device_fanout: fanout } = attrs;
  const recipient = people.resolve(to)?.person;
  if (!versions.newForms || fanout === 'false' || !recipient || recipient.number === sender.number) return undefined;
  if (!to.endsWith('@lid')) return '463';
  return number === jidOf(recipient, 'pn') || (number === undefined && recipient.withoutNumber) ? undefined : '400';
}

async function deliverTo(parts: Parts, sent: Sent, { person, device, addressing, encs }: Addressed): Promise<void> {
  const all = [...encs, ...sent.shared];
  if (device > 0) {
    const linked = parts.people.device(person.number, device);
    if (linked) parts.connections.deliver(linked, forward(parts, sent, person, addressing, all));
    return;
  }
  if (!parts.decrypt) return;
  const arrival: Arrival = {
    id: sent.stanza.attrs['id'] ?? '',
    device: sent.device,
    envelopes: all.map(toEnvelope).map((envelope) => (sent.broken ? garbled(envelope) : envelope)),
    addressing,
    group: sent.sharedChat,
    besides: besidesOf(sent.stanza),
    destination: sent.stanza.attrs['recipient'] ?? sent.stanza.attrs['to'] ?? '',
    at: sent.at,
    edit: sent.stanza.attrs['edit'],
    peer: sent.stanza.attrs['category'] === 'peer',
  };
  const onPeer = (message: proto.IMessage): void => {
    answerPeer(parts, sent.sender, sent.device, arrival.id, message);
  };
  await parts.inbox.arrive(person, arrival, onPeer);
}

/** Makes the stanza that a receiving linked device gets. */
function forward(parts: Parts, sent: Sent, receiver: Person, addressing: Addressing, encs: readonly BinaryNode[]): BinaryNode {
  const { stanza, device, sender, group, sharedChat } = sent;
  const attrs: Record<string, string | undefined> = { t: unixSeconds(sent.at), notify: parts.people.pushName(sender, device) || undefined };
  for (const name of passedOn) attrs[name] = stanza.attrs[name];
  const mode = group?.addressing ?? addressing;
  const from = jidOf(sender, mode, device.device);
  if (sharedChat !== undefined) Object.assign(attrs, { from: sharedChat, participant: from, addressing_mode: mode });
  else Object.assign(attrs, { from, addressing_mode: mode === 'lid' ? 'lid' : undefined });
  const party = sharedChat === undefined ? 'sender' : 'participant';
  if (receiver !== sender || sharedChat !== undefined)
    attrs[mode === 'lid' ? `${party}_pn` : `${party}_lid`] = mode === 'lid' ? toldPn(sender) : jidOf(sender, 'lid');
  else {
    const destination = stanza.attrs['recipient'] ?? stanza.attrs['to'];
    const recipient = parts.people.resolve(destination)?.person;
    attrs['recipient'] = destination;
    if (recipient)
      attrs[mode === 'lid' ? 'peer_recipient_pn' : 'peer_recipient_lid'] = mode === 'lid' ? toldPn(recipient) : jidOf(recipient, 'lid');
  }
  const identity = encs.some((enc) => enc.attrs['type'] === 'pkmsg') ? children(stanza, 'device-identity') : [];
  return node('message', attrs, [...encs, ...identity, ...children(stanza, 'meta')]);
}

const sharedOf = (stanza: BinaryNode): BinaryNode[] => (stanza.attrs['participant'] ? [] : children(stanza, 'enc'));

/** Returns all devices of all members except the sending device. Devices that lack the sender key get it in `participants`. */
function groupTargets(parts: Parts, { stanza, device }: Sent, group: Group): Addressed[] {
  const own = new Map<string, readonly BinaryNode[]>();
  for (const to of children(child(stanza, 'participants'), 'to')) {
    const found = parts.people.resolve(to.attrs['jid']);
    if (found) own.set(`${found.person.number}:${found.device}`, children(to, 'enc'));
  }
  return group.members.flatMap(({ number }) => {
    const person = parts.people.ensure(number);
    const devices = [0, ...parts.people.devices(number).map((one) => one.device)];
    return devices
      .filter((one) => number !== device.number || one !== device.device)
      .map((one) => ({ person, device: one, addressing: group.addressing, encs: own.get(`${number}:${one}`) ?? [] }));
  });
}

/** Returns the devices that the stanza lists. Without a list, returns the device to which the stanza is addressed, as in a resend. */
function directTargets(parts: Parts, stanza: BinaryNode): Addressed[] {
  const listed = children(child(stanza, 'participants'), 'to').map((to) => [to.attrs['jid'], children(to, 'enc')] as const);
  const jid = stanza.attrs['participant'] ?? stanza.attrs['to'];
  const all = listed.length > 0 ? listed : [[jid, children(stanza, 'enc')] as const];
  return all.flatMap(([to, encs]) => {
    const found = parts.people.resolve(to);
    // A reader of a status post who already has the sender key is listed without an envelope.
    return found && (encs.length > 0 || stanza.attrs['to'] === statusJid)
      ? [{ ...found, addressing: to?.endsWith('@lid') ? ('lid' as const) : ('pn' as const), encs }]
      : [];
  });
}

const toEnvelope = (enc: BinaryNode): Envelope => ({ type: enc.attrs['type'] ?? '', ciphertext: bytes(enc) ?? Buffer.alloc(0) });

/** Returns the envelope with a changed last byte, so that its authentication fails. */
const garbled = ({ type, ciphertext }: Envelope): Envelope => {
  const bytes = Buffer.from(ciphertext);
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 0xff, bytes.length - 1);
  return { type, ciphertext: bytes };
};

/** Returns the code that refuses a message or a repetition without the privacy token that the receiver requires (vinikjkkj/zapo 9a5bede). */
function tokenRefusal({ people, tokens }: Parts, sender: Person, stanza: BinaryNode): string | undefined {
  const { to = '', category } = stanza.attrs;
  const other = isGroupOrStatus(to) || category === 'peer' ? undefined : people.resolve(to)?.person;
  return !other || tokens.isShown(other, sender, stanza, 'tctoken') ? undefined : '463';
}

/** Returns the code that refuses a message to the number of a person who migrated. People who migrated are reached only by LID. */
function migratedRefusal(parts: Parts, { attrs: { to, category, participant } }: BinaryNode): string | undefined {
  const address = category === 'peer' || participant ? undefined : parseUser(to);
  return address?.addressing === 'pn' && parts.people.find(address.user)?.migrated ? '463' : undefined;
}

/**
 * Returns the code that refuses a message to a person who never wrote to the account. Such messages are refused while the fault `refuseStrangers` is
 * armed, or while the account is restricted.
 */
function strangerRefusal(parts: Parts, sender: Person, { attrs }: BinaryNode): string | undefined {
  const { to = '', category, participant } = attrs;
  const other = isGroupOrStatus(to) || category === 'peer' || participant ? undefined : parts.people.resolve(to)?.person;
  if (!other || other === sender || parts.messages.inChat(sender.number, chatOf(other)).length > 0) return undefined;
  const fault = parts.faults.take('refuseStrangers', sender.number);
  return fault ? String(fault.code ?? 463) : restrictionCode(sender);
}

/** Returns false if a first message of a session lacks the identity that phone and device signed at the pairing. */
function identityShown(parts: Parts, device: Device, stanza: BinaryNode): boolean {
  const encs = [...children(stanza, 'enc'), ...children(child(stanza, 'participants'), 'to').flatMap((to) => children(to, 'enc'))];
  const peer = stanza.attrs['category'] === 'peer';
  if (peer || !encs.some((enc) => enc.attrs['type'] === 'pkmsg')) return true;
  const shown = bytes(child(stanza, 'device-identity'));
  return parts.counters.signature(shown !== undefined && parts.pairing.isAccount(device, shown));
}
