/**
 * Resends of messages that a receiver could not decrypt. The library resends them without the attributes beside the encrypted content. Phones then
 * hide them, or show an edit as a new message. It also resends to everybody if a phone asks. So the library only prepares the Signal session, within
 * its own bounds (five times a message and receiver). `answer` writes the message for the device that asked, as it was written first.
 */
import { type BinaryNode, encodeSignedDeviceIdentity, proto, type WAMessageKey, type WASocket } from '@whiskeysockets/baileys';
import { includesPerson, type Audience, type Group, type Message } from '#actors/model.ts';
import { createLruMap } from '#src/base/lru-map.ts';
import type { Leaving } from './live-connection.ts';
import { chatOf, type Directory, isGroup, isLid, isMe, personOf, statusJid } from '../wire/jid.ts';
import { withHeldAck } from '../inbound/held-acks.ts';
import { tokenOf } from '../keys/contact-tokens.ts';
import { contentOf } from './compose.ts';
import { givenForm, stanzaKindOf, stanzaOf } from './stanza.ts';

/** A message as it left. */
type Left = Leaving & { readonly content: proto.IMessage; readonly audience: Audience | null };

interface ResendOptions {
  readonly directory: Directory;
  stored(messageId: string): Promise<Message | null>;
  loadMappings(jids: readonly string[]): Promise<void>;
  /** Null if neither storage nor the platform has the message. Never rejects. */
  group(jid: string): Promise<Group | null>;
}

/** Messages that left last: deletions and the like are stored nowhere. */
const remembered = 128;

/** Requests to the phone, and keys of sessions that a receiver asked to renew, which the library remembers. The library has room for 512 and 1,024. */
const requestsKept = 64;
const baseKeysKept = 256;

/** A map that drops its oldest entry when it is full. */
class RecentMap<V> extends Map<string, V> {
  readonly #limit: number;

  constructor(limit: number) {
    super();
    this.#limit = limit;
  }

  override set(key: string, value: V): this {
    super.set(key, value);
    for (const [oldest] of this) {
      if (this.size <= this.#limit) break;
      this.delete(oldest);
    }
    return this;
  }
}

const isRoom = (jid: string): boolean => isGroup(jid) || jid === statusJid;

/** The messages that the library would resend for the requests about one message. */
interface Asked {
  requests: number;
  readonly keys: WAMessageKey[];
}

export class Resends {
  readonly #options: ResendOptions;
  readonly #left = createLruMap<Leaving>(remembered);
  /** Requests by the id of the message. */
  readonly #asked = new Map<string, Asked>();
  /** True while the library gets a request. It would take a request about a status post for a story, and ignore it. */
  preparing = false;

  constructor(options: ResendOptions) {
    this.#options = options;
  }

  /** Takes every message before the library gets it. */
  note(left: Leaving): void {
    this.#left.set(left.messageId, left);
  }

  /**
   * The library remembers on its own what it sent and received last, 512 messages of a session, and sends that again. It shall remember its own
   * requests to the phone only. Its two larger memories allocate all their room with each connection, which is 73 KB of an idle session. Maps that grow
   * with their entries take their place.
   */
  takeOver({ messageRetryManager }: WASocket): void {
    if (messageRetryManager === null) return;
    Object.assign(messageRetryManager, {
      recentMessagesMap: new RecentMap(requestsKept),
      messageKeyIndex: new RecentMap(requestsKept),
      baseKeys: new RecentMap(baseKeysKept),
    });
    const remember = messageRetryManager.addRecentMessage.bind(messageRetryManager);
    messageRetryManager.addRecentMessage = (to, id, message) => {
      if (message.protocolMessage?.peerDataOperationRequestMessage) remember(to, id, message);
    };
  }

  /** Answers the library with messages whose secret decrypts votes and answers to events. It gets no message to resend. */
  readonly getMessage = async (key: WAMessageKey): Promise<proto.IMessage | undefined> => {
    const id = key.id ?? '';
    const asked = this.#asked.get(id);
    asked?.keys.push(key);
    if (asked !== undefined || id === '') return undefined;
    const stored = await this.#options.stored(id);
    return stored?.raw ? proto.Message.decode(stored.raw) : undefined;
  };

  /**
   * `prepare`: the library's handler of receipts. The receipt is acknowledged at last: a kill before that brings the request again. Rejects without an
   * acknowledgement while the storage is away.
   */
  async answer(receipt: BinaryNode, sock: WASocket, prepare: (receipt: BinaryNode) => unknown): Promise<void> {
    const id = receipt.attrs['id'] ?? '';
    if (!(await this.#mayAsk(receipt))) return sock.sendMessageAck(receipt);
    const key = await this.#prepared(id, () => prepare(withHeldAck(receipt, () => undefined)));
    const left = key === undefined ? null : await this.#find(key, id);
    try {
      if (key !== undefined && left !== null) await this.#send(left, key, receipt, sock);
    } finally {
      await sock.sendMessageAck(receipt);
    }
  }

  /** Members of a group may request its messages. Other people would get the text, and the key of the group with it. */
  async #mayAsk({ attrs: { from = '', participant = '' } }: BinaryNode): Promise<boolean> {
    if (!isGroup(from)) return true;
    const { directory, loadMappings, group } = this.#options;
    await loadMappings([participant]);
    const known = await group(from);
    return isMe(directory, participant) || (known !== null && includesPerson(known.members, personOf(directory, participant)));
  }

  /** Returns the message for which the library has prepared a session. Undefined if the library would not resend it, or reached its limit. */
  async #prepared(id: string, prepare: () => unknown): Promise<WAMessageKey | undefined> {
    const asked = this.#asked.get(id) ?? { requests: 0, keys: [] };
    this.#asked.set(id, asked);
    asked.requests += 1;
    try {
      await this.#given(prepare);
      return asked.keys.shift();
    } finally {
      asked.requests -= 1;
      if (asked.requests === 0) this.#asked.delete(id);
    }
  }

  /** The library decides synchronously which requests it ignores. */
  #given(prepare: () => unknown): unknown {
    this.preparing = true;
    try {
      return prepare();
    } finally {
      this.preparing = false;
    }
  }

  /** Returns null if there is no such message, if it was deleted, or if its chat or readers are not those of the requester. */
  async #find({ remoteJid, fromMe, participant }: WAMessageKey, id: string): Promise<Left | null> {
    const { directory, stored, loadMappings } = this.#options;
    const chat = remoteJid ?? '';
    if (!fromMe) return null;
    const message = await stored(id);
    const left = this.#left.get(id);
    const content = message === null ? left?.content : contentToSend(message);
    if (!content) return null;
    const written = [left?.jid ?? '', message?.chatId ?? '', message?.chatLid ?? ''].filter((jid) => jid !== '');
    await loadMappings([chat, participant ?? '', ...written]);
    const asking = namesOf(directory, chat);
    const same = written.some((jid) => namesOf(directory, jid).some((name) => asking.includes(name)));
    const audience = message?.audience ?? null;
    const readers = audience === null ? null : new Set([...audience.recipients, directory.me.pn, directory.me.lid]);
    const reads = readers === null || namesOf(directory, participant ?? '').some((name) => readers.has(name));
    return same && reads ? { jid: chat, messageId: id, content, audience } : null;
  }

  async #send(
    { jid, messageId, content, audience }: Left,
    { participant }: WAMessageKey,
    receipt: BinaryNode,
    sock: WASocket,
  ): Promise<void> {
    const asker = participant ?? jid;
    const own = isMe(this.#options.directory, asker);
    const count = countOf(receipt);
    const { account, me } = sock.authState.creds;
    if (!me || !account) return;
    await sock.authState.keys.transaction(async () => {
      const given = givenForm(isRoom(jid) ? await withSenderKey(sock, jid, content) : content);
      const { type, enc } = stanzaKindOf(given);
      const copy = own && !isRoom(jid) ? { deviceSentMessage: { destinationJid: jid, message: given } } : given;
      const { nodes } = await sock.createParticipantNodes([asker], copy, { ...enc, count });
      const { attributes, nodes: besides } = stanzaOf(content, audience);
      const token = isRoom(jid) || own ? [] : await this.#tokenFor(jid, sock);
      const envelopes = nodes.flatMap((to) => (Array.isArray(to.content) ? to.content : []));
      const identity = { tag: 'device-identity', attrs: {}, content: encodeSignedDeviceIdentity(account, true) };
      const attrs = { id: messageId, type, ...addressed(jid, asker, own), ...attributes };
      await sock.sendNode({ tag: 'message', attrs, content: [...envelopes, identity, ...token, ...besides] });
    }, me.id);
  }

  /** The privacy token of a contact. Messages that are sent again without it are refused with 463 (vinikjkkj/zapo 9a5bede). */
  async #tokenFor(jid: string, { authState }: WASocket): Promise<BinaryNode[]> {
    const { lid } = chatOf(this.#options.directory, jid);
    const token = lid === '' ? null : await tokenOf(authState.keys, lid, this.#options.directory.now());
    return token === null ? [] : [{ tag: 'tctoken', attrs: {}, content: token }];
  }
}

/** Finds an own message that was not deleted since. */
const contentToSend = (message: Message): proto.IMessage | null =>
  message.fromMe && message.status !== 'Deleted' ? contentOf(message) : null;

/** All addresses of one chat. */
const namesOf = (directory: Directory, jid: string): readonly string[] => {
  const { id, pn, lid } = chatOf(directory, jid);
  return [id, pn, lid].filter((name) => name !== '');
};

/** Returns how often the device has asked, by its own count. */
const countOf = ({ content }: BinaryNode): string => {
  const retry = Array.isArray(content) ? content.find(({ tag }) => tag === 'retry') : undefined;
  return String(Number(retry?.attrs['count']) || 1);
};

/** Addresses one device. For a device of the account, the message also names the chat. */
const addressed = (jid: string, asker: string, own: boolean): Record<string, string> => {
  // The requester is named in the form in which the group names its members (vinikjkkj/zapo `message.ts`, buildGroupRetryMessageNode).
  if (isGroup(jid)) return { to: jid, participant: asker, addressing_mode: isLid(asker) ? 'lid' : 'pn' };
  if (isRoom(jid)) return { to: jid, participant: asker };
  return { to: asker, device_fanout: 'false', ...(own ? { recipient: jid } : {}) };
};

/** A member of a group that could not decrypt may lack the key of the group. */
const withSenderKey = async (sock: WASocket, group: string, content: proto.IMessage): Promise<proto.IMessage> => {
  const { lid, id } = sock.authState.creds.me ?? {};
  for (const meId of [lid, id]) {
    if (!meId || !(await sock.signalRepository.hasSenderKey({ group, meId }))) continue;
    const key = await sock.signalRepository.getSenderKeyDistributionMessage({ group, meId });
    return { ...content, senderKeyDistributionMessage: { groupId: group, axolotlSenderKeyDistributionMessage: key } };
  }
  return content;
};
