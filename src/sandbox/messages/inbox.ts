/** Receives messages for simulated phones: decrypts a message and its file, stores it, and confirms it or asks for it again. */
import { proto, unpadRandomMax16 } from '@whiskeysockets/baileys';
import { deviceKey, jidOf, lidJid, statusJid, type Addressing } from '../address.ts';
import { isExpired } from '../status-posts.ts';
import { interactiveOf } from '../interactive.ts';
import { decryptVote, openChange, type PollContext } from './polls-and-events.ts';
import { expirationOf, headsOf, kindOf, mediaFacts, mediaOf, pollOf, secretOf, textOf, toJson } from '../content.ts';
import type { ReceivedMessage } from '../interface.ts';
import type { Connections } from '../connections.ts';
import type { Media } from '../media.ts';
import { node, uint, unixSeconds, type BinaryNode } from '../nodes.ts';
import type { Device, People, Person } from '../people.ts';
import { bundleNodes } from '../signal/identity.ts';
import type { Phones, SignalAccess } from '../signal/phones.ts';
import type { Counters } from '../stats.ts';
import type { MessageStore, Stored } from '../store/messages.ts';
import { chatOf } from './compose.ts';
import type { Receipts } from './receipts.ts';
import { hiddenBecause, type Besides } from './visibility.ts';

export interface Envelope {
  readonly type: string;
  readonly ciphertext: Uint8Array;
}

/** A message on its way from a linked device to a phone. */
export interface Arrival {
  readonly id: string;
  readonly device: Device;
  readonly envelopes: readonly Envelope[];
  readonly addressing: Addressing;
  /** The jid of the group or of the status posts. Absent in a chat of two people. */
  readonly group?: string | undefined;
  /** The stanza without its envelopes. */
  readonly besides: Besides;
  /** The jid of the chat to which the sender wrote. The sender's own phone stores its copy in this chat. */
  readonly destination: string;
  readonly at: number;
  /** Stanza attribute `edit`. */
  readonly edit?: string | undefined;
  /** True if a device writes to its own phone. Clients wrap such messages like copies of sent messages. */
  readonly peer?: boolean;
}

/** The number of failed decryptions of one message after which a phone gives up, as on real phones. */
const maxAttempts = 5;

export class Inbox {
  readonly #people: People;
  readonly #phones: Phones;
  readonly #messages: MessageStore;
  readonly #media: Media;
  readonly #connections: Connections;
  readonly #receipts: Receipts;
  readonly #counters: Counters;

  constructor(
    people: People,
    phones: Phones,
    messages: MessageStore,
    media: Media,
    connections: Connections,
    receipts: Receipts,
    counters: Counters,
  ) {
    this.#people = people;
    this.#phones = phones;
    this.#messages = messages;
    this.#media = media;
    this.#connections = connections;
    this.#receipts = receipts;
    this.#counters = counters;
  }

  received(person: Person): ReceivedMessage[] {
    const now = Date.now();
    return this.#messages.latest(person.number, 10_000).flatMap(({ view, chat, at }) => {
      if (!view) return [];
      return chat === statusJid && isExpired(at, now) ? [{ ...view, hidden: 'a status post of more than a day ago' }] : [view];
    });
  }

  /** Decrypts and stores a message on the phone of `person`. Calls `onPeer` for a device's request to its own phone. */
  async arrive(person: Person, arrival: Arrival, onPeer: (message: proto.IMessage) => void): Promise<void> {
    const own = person.number === arrival.device.number;
    const known = this.#messages.find(person.number, arrival.id, own ? '' : arrival.device.number);
    if (known?.content) {
      // The phone already has this message. Its receipt may have been lost, so the phone sends it again.
      if (!own && known.confirmed !== 'none') this.#receipts.confirmOne(person, known, 'delivered', true);
      return;
    }
    try {
      await this.#phones.exclusively(person, async (signal) => {
        const { message, envelope } = await this.#decrypt(signal, arrival);
        const content = message.deviceSentMessage?.message ?? message;
        const view = own ? undefined : await this.#view(person, arrival, content, envelope);
        return () => {
          this.#counters.messages.decrypted += 1;
          if (own && (arrival.peer || (!message.deviceSentMessage && arrival.group === undefined))) onPeer(content);
          else this.#keep(person, arrival, content, view);
        };
      });
    } catch (error) {
      this.#fail(person, arrival, known?.attempts ?? 0, error instanceof Error ? error.message : String(error));
    }
  }

  /** Delivers a message from another simulated phone, without encryption. */
  arriveFromPhone(
    person: Person,
    from: Person,
    message: proto.IMessage,
    place: { readonly id: string; readonly group?: string; readonly addressing: Addressing; readonly edit?: string | undefined },
  ): void {
    const { id, group, addressing, edit } = place;
    const at = Date.now();
    const view: ReceivedMessage = {
      id,
      chat: group ?? chatOf(from),
      from: from.number,
      pushName: this.#people.pushName(from),
      at,
      envelope: 'plain',
      kind: kindOf(message),
      text: this.#text(person, from.number, message),
      content: toJson(message),
    };
    this.#store(person, { id, author: from.number, chat: view.chat, at, addressing, edit, content: message, view, attempts: 0 });
  }

  async #decrypt(signal: SignalAccess, arrival: Arrival): Promise<{ message: proto.IMessage; envelope: ReceivedMessage['envelope'] }> {
    const { device } = arrival;
    const sender = this.#people.ensure(device.number);
    const jid = lidJid(sender.lid, device.device);
    let message: proto.IMessage | undefined;
    let used: ReceivedMessage['envelope'] = 'plain';
    for (const { type, ciphertext } of arrival.envelopes) {
      const plain = await this.#openEnvelope(signal, arrival, jid, { type, ciphertext });
      const part = proto.Message.decode(plain);
      const distribution = part.senderKeyDistributionMessage;
      if (distribution?.groupId && distribution.axolotlSenderKeyDistributionMessage) {
        await signal.learnSenderKey(distribution.groupId, jid, distribution.axolotlSenderKeyDistributionMessage);
      }
      message = Object.assign(message ?? {}, proto.Message.toObject(part));
      used = type as ReceivedMessage['envelope'];
    }
    if (!message) throw new Error('nothing to decrypt');
    return { message, envelope: used };
  }

  async #openEnvelope(signal: SignalAccess, arrival: Arrival, jid: string, { type, ciphertext }: Envelope): Promise<Uint8Array> {
    if (type === 'skmsg' && arrival.group !== undefined) return unpadRandomMax16(await signal.decryptGroup(arrival.group, jid, ciphertext));
    if (type !== 'pkmsg' && type !== 'msg') throw new Error(`unknown envelope ${type.slice(0, 20)}`);
    const { plain, identity } = await signal.decrypt(jid, type, ciphertext);
    if (type === 'pkmsg' && (!identity || !Buffer.from(identity).equals(arrival.device.identity))) {
      this.#counters.signature(false);
      throw new Error('the session stands on another identity key than the registered one');
    }
    return unpadRandomMax16(plain);
  }

  /** Verifies the header files of a message and of its cards. Returns their SHA-256 in hex. */
  async #openHeads(content: proto.IMessage): Promise<string[]> {
    const hashes: string[] = [];
    for (const part of headsOf(content)) {
      await this.#media.open(part);
      hashes.push(Buffer.from(part.fileSha256 ?? []).toString('hex'));
    }
    return hashes;
  }

  async #view(person: Person, arrival: Arrival, content: proto.IMessage, envelope: ReceivedMessage['envelope']): Promise<ReceivedMessage> {
    const sender = this.#people.ensure(arrival.device.number);
    const part = mediaOf(content);
    const opened = part && (await this.#media.open(part));
    const heads = await this.#openHeads(content);
    const inside = this.#inside(person, sender, content);
    const hidden = hiddenBecause(content, arrival.besides) ?? (inside === null ? 'a change that cannot be opened' : undefined);
    const expiration = expirationOf(content);
    const interactive = hidden === undefined ? interactiveOf(content) : undefined;
    return {
      ...this.#heading(arrival, sender),
      envelope,
      kind: kindOf(content),
      text: this.#text(person, sender.number, inside ?? content),
      content: toJson(content),
      ...(expiration > 0 ? { expiration } : {}),
      ...(inside ? { opened: toJson(inside) } : {}),
      ...(interactive ? { interactive } : {}),
      ...(heads.length > 0 ? { heads } : {}),
      ...(opened && part?.fileSha256
        ? { media: { bytes: opened.length, sha256: Buffer.from(part.fileSha256).toString('hex'), ...mediaFacts(content) } }
        : {}),
      ...(hidden === undefined ? {} : { hidden }),
    };
  }

  #heading({ id, group, device, at }: Arrival, sender: Person): Pick<ReceivedMessage, 'id' | 'chat' | 'from' | 'pushName' | 'at'> {
    return { id, chat: group ?? chatOf(sender), from: sender.number, pushName: this.#people.pushName(sender, device), at };
  }

  /**
   * Decrypts the changed event or the edit in a message. Returns null if the change cannot be decrypted, and undefined if the message has no second layer of
   * encryption.
   */
  #inside(person: Person, editor: Person, { secretEncryptedMessage: change }: proto.IMessage): proto.IMessage | null | undefined {
    if (!change) return undefined;
    const messageId = change.targetMessageKey?.id ?? '';
    const known = this.#messages.find(person.number, messageId, editor === person ? '' : editor.number);
    const secret = secretOf(known?.content);
    if (!known?.content || !secret) return null;
    const jids = (['pn', 'lid'] as const).map((addressing) => jidOf(editor, addressing));
    const contexts = jids.flatMap((author) => jids.map((other) => ({ messageId, secret, author, editor: other })));
    return openChange(change, known.content, contexts) ?? null;
  }

  /** Returns the text of a message, or the names of the chosen options of a vote. */
  #text(person: Person, voter: string, message: proto.IMessage): string {
    const update = message.pollUpdateMessage;
    const pollId = update?.pollCreationMessageKey?.id;
    if (!update?.vote || !pollId) return textOf(message);
    const poll = this.#messages.find(person.number, pollId);
    const creation = pollOf(poll?.content);
    const secret = secretOf(poll?.content);
    if (!poll || !creation || !secret) return '';
    const creator = poll.author === '' ? person : this.#people.ensure(poll.author);
    const contexts = (['pn', 'lid'] as const).flatMap((one) =>
      (['pn', 'lid'] as const).map((other): PollContext => {
        return { pollId, secret, creator: jidOf(creator, one), voter: jidOf(this.#people.ensure(voter), other) };
      }),
    );
    return decryptVote(update.vote, creation, contexts)?.join(', ') ?? '';
  }

  #keep(person: Person, arrival: Arrival, content: proto.IMessage, view: ReceivedMessage | undefined): void {
    const { id, addressing, at, group, edit } = arrival;
    const author = view ? view.from : '';
    const destination = this.#people.resolve(arrival.destination);
    const chat = group ?? view?.chat ?? (destination ? chatOf(destination.person) : arrival.destination);
    if (kindOf(content) === 'empty') return;
    const stored = this.#store(person, { id, author, chat, at, addressing, edit, content, view, attempts: 0 });
    if (view && person.autoDeliver) this.#receipts.confirmOne(person, stored, 'delivered');
  }

  #store(person: Person, message: Omit<Stored, 'owner' | 'confirmed' | 'extra' | 'view' | 'content'> & StoredParts): Stored {
    const { view, content, addressing, edit, ...rest } = message;
    const stored: Stored = {
      ...rest,
      owner: person.number,
      confirmed: 'none',
      extra: edit === undefined ? { addressing } : { addressing, edit },
      ...(content ? { content } : {}),
      ...(view ? { view } : {}),
    };
    this.#messages.put(stored);
    if (view) this.#people.emit({ type: 'message', to: person.number, message: view });
    return stored;
  }

  #fail(person: Person, arrival: Arrival, attempts: number, error: string): void {
    const { id, device, addressing, at, destination } = arrival;
    const sender = this.#people.ensure(device.number);
    this.#counters.messages.undecryptable += 1;
    if (person !== sender) {
      const heading = this.#heading(arrival, sender);
      const view: ReceivedMessage = { ...heading, envelope: 'plain', kind: 'undecryptable', text: '', content: {}, error };
      this.#store(person, { id, author: sender.number, chat: view.chat, at, addressing, content: undefined, view, attempts: attempts + 1 });
    } else {
      const chat = arrival.group ?? destination;
      this.#store(person, { id, author: '', chat, at, addressing, content: undefined, view: undefined, attempts: attempts + 1 });
    }
    if (attempts + 1 < maxAttempts) this.#askAgain(person, arrival, attempts + 1);
  }

  /** Asks for a message that the phone may never have received, from the address to which the message was sent. */
  demand(
    person: Person,
    { addressing, ...asked }: Omit<Asked, 'destination' | 'addressing'> & { readonly addressing?: Addressing | undefined },
  ): void {
    const known = addressing ?? this.#messages.find(person.number, asked.id, asked.device.number)?.extra.addressing ?? 'pn';
    this.#askAgain(person, { ...asked, addressing: known, destination: '' }, 1);
  }

  /**
   * Sends a retry receipt. From the second receipt on, it carries new keys for a new session. In a group, `from` is the group and `participant` is the person.
   * In a private chat, `from` is the address to which the message was sent. Source: vinikjkkj/zapo (`packages/fake-server/src/protocol/`).
   */
  #askAgain(person: Person, { id, device, addressing, group, destination }: Asked, count: number): void {
    const jid = jidOf(person, addressing);
    const own = person.number === device.number;
    const keys = count > 1 ? [node('keys', {}, bundleNodes(this.#phones.bundle(person)).slice(1))] : [];
    const t = unixSeconds(Date.now());
    const content: BinaryNode[] = [
      node('retry', { count: String(count), id, t, v: '1' }),
      node('registration', {}, uint(this.#phones.keysOf(person).registrationId, 4)),
      ...keys,
    ];
    const attrs = {
      from: group ?? jid,
      participant: group === undefined ? undefined : jid,
      recipient: own && group === undefined ? destination : undefined,
      id,
      type: 'retry',
      t,
    };
    this.#connections.deliver(device, node('receipt', attrs, content));
  }
}

type Asked = Pick<Arrival, 'id' | 'device' | 'addressing' | 'group' | 'destination'>;

interface StoredParts {
  readonly addressing: Addressing;
  readonly edit?: string | undefined;
  readonly view: ReceivedMessage | undefined;
  readonly content: proto.IMessage | undefined;
}

export const keyOfDevice = (device: Device): string => deviceKey(device.number, device.device);
