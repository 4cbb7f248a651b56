/**
 * Resends messages that a receiver could not decrypt. The library would resend them without the attributes of the stanza. Phones would then hide them, or
 * show an edit as a new message. If a phone asks, the library would also resend to all receivers. Here the library only prepares the Signal session, within
 * its own limits (five times for each message and receiver). `answer` sends the message to the requesting device, in the form of the first send.
 */
import {
  type BinaryNode,
  encodeSignedDeviceIdentity,
  getBinaryNodeChild,
  proto,
  type WAMessageKey,
  type WASocket,
} from '@whiskeysockets/baileys';
import { includesPerson, type Audience, type Group, type Message } from '#actors/model.ts';
import { LruMap } from '#src/base/lru-map.ts';
import type { Leaving } from './live-connection.ts';
import { chatOf, type Directory, isGroup, isLid, isMe, personOf, statusJid } from '../wire/jid.ts';
import { unmarked, withHeldAck } from '../inbound/held-acks.ts';
import { tokenOf } from '../keys/contact-tokens.ts';
import { contentOf } from './compose.ts';
import { givenForm, stanzaKindOf, stanzaOf } from './stanza.ts';

/** A sent message with its content. */
type Left = Leaving & { readonly content: proto.IMessage; readonly audience: Audience | null };

interface ResendOptions {
  readonly directory: Directory;
  stored(messageId: string): Promise<Message | null>;
  loadMappings(jids: readonly string[]): Promise<void>;
  /** Returns a group, as `GroupCache.get` does. */
  group(jid: string): Promise<Group | null>;
}

/** The map keeps at least this many recently sent messages, and at most twice as many. It is needed, because deletions and similar messages are not stored. */
const remembered = 128;

/** Limits of the maps that `takeOver` replaces: for requests to the phone, and for base keys of sessions. The library's own limits are 512 and 1,024. */
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

/** The number of open requests for one message, and the keys of the messages that the library would resend. */
interface Asked {
  requests: number;
  readonly keys: WAMessageKey[];
}

export class Resends {
  readonly #options: ResendOptions;
  readonly #left = new LruMap<Leaving>(remembered);
  /** Requests by the id of the message. */
  readonly #asked = new Map<string, Asked>();
  /** True while the library handles a request. The library ignores stanzas of the chat of status posts, but must not ignore a request for a post. */
  preparing = false;

  constructor(options: ResendOptions) {
    this.#options = options;
  }

  /** Notes a message before the library gets it. */
  note(left: Leaving): void {
    this.#left.set(left.messageId, left);
  }

  /**
   * Replaces the library's maps of sent messages. The library keeps the last 512 messages of a session, and would resend them. It must keep only its own
   * requests to the phone. Its two larger maps allocate their full size for each connection: 73 KB of an idle session. Maps that grow with their entries
   * replace them.
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

  /** Returns messages to the library for decrypting votes and answers to events. For a resend the library gets no message. */
  readonly getMessage = async (key: WAMessageKey): Promise<proto.IMessage | undefined> => {
    const id = key.id ?? '';
    const asked = this.#asked.get(id);
    asked?.keys.push(key);
    if (asked !== undefined || id === '') return undefined;
    const stored = await this.#options.stored(id);
    return stored?.raw ? proto.Message.decode(stored.raw) : undefined;
  };

  /**
   * Answers a request. `prepare`: the library's handler of receipts. The receipt is acknowledged last, so that after a kill the platform repeats the
   * request. Rejects without an acknowledgement while the storage is unavailable, and if the members of the group are not known.
   */
  async answer(receipt: BinaryNode, sock: WASocket, prepare: (receipt: BinaryNode) => unknown): Promise<void> {
    const id = receipt.attrs['id'] ?? '';
    if (!(await this.#mayAsk(receipt))) return sock.sendMessageAck(receipt);
    const key = await this.#prepared(id, () => prepare(withHeldAck(withoutList(unmarked(receipt)), () => undefined)));
    const left = key === undefined ? null : await this.#find(key, id);
    try {
      if (key !== undefined && left !== null) await this.#send(left, key, receipt, sock);
    } finally {
      await sock.sendMessageAck(receipt);
    }
  }

  /** Returns true if the requester may get the message. In a group only members may, because others would get the text and the sender key of the group. */
  async #mayAsk({ attrs: { from = '', participant = '' } }: BinaryNode): Promise<boolean> {
    if (!isGroup(from)) return true;
    const { directory, loadMappings, group } = this.#options;
    await loadMappings([participant]);
    if (isMe(directory, participant)) return true;
    const known = await group(from);
    return known !== null && includesPerson(known.members, personOf(directory, participant));
  }

  /** Returns the key of the message for which the library has prepared a session. Undefined if the library would not resend, or has reached its limit. */
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

  /** Calls the library's handler. `preparing` is reset at once, because the library decides synchronously if it ignores a request. */
  #given(prepare: () => unknown): unknown {
    this.preparing = true;
    try {
      return prepare();
    } finally {
      this.preparing = false;
    }
  }

  /** Finds the message. Returns null if it does not exist or was deleted, or if the requester does not belong to its chat or its readers. */
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

  /** Returns the node with the privacy token of a contact. Resends without it are refused with 463 (vinikjkkj/zapo 9a5bede). */
  async #tokenFor(jid: string, { authState }: WASocket): Promise<BinaryNode[]> {
    const { lid } = chatOf(this.#options.directory, jid);
    const token = lid === '' ? null : await tokenOf(authState.keys, lid, this.#options.directory.now());
    return token === null ? [] : [{ tag: 'tctoken', attrs: {}, content: token }];
  }
}

/** Removes lists of further messages from a request. The library would resend these messages by itself, to anybody who names them. */
const withoutList = (receipt: BinaryNode): BinaryNode =>
  Array.isArray(receipt.content) ? { ...receipt, content: receipt.content.filter((child) => !getBinaryNodeChild(child, 'item')) } : receipt;

/** Returns the content of a stored message for a resend. Null unless it is an own message that was not deleted. */
const contentToSend = (message: Message): proto.IMessage | null =>
  message.fromMe && message.status !== 'Deleted' ? contentOf(message) : null;

/** Returns all addresses of a chat. */
const namesOf = (directory: Directory, jid: string): readonly string[] => {
  const { id, pn, lid } = chatOf(directory, jid);
  return [id, pn, lid].filter((name) => name !== '');
};

/** Returns how often the device has requested the message. The device counts its requests itself. */
const countOf = ({ content }: BinaryNode): string => {
  const retry = Array.isArray(content) ? content.find(({ tag }) => tag === 'retry') : undefined;
  return String(Number(retry?.attrs['count']) || 1);
};

/** Returns the attributes that address one device. For a device of the account, they also name the chat. */
const addressed = (jid: string, asker: string, own: boolean): Record<string, string> => {
  // The address of the requester already has the form that the group uses (vinikjkkj/zapo `message.ts`, buildGroupRetryMessageNode).
  if (isGroup(jid)) return { to: jid, participant: asker, addressing_mode: isLid(asker) ? 'lid' : 'pn' };
  if (isRoom(jid)) return { to: jid, participant: asker };
  return { to: asker, device_fanout: 'false', ...(own ? { recipient: jid } : {}) };
};

/** Adds the sender key of the group to a message, because the member that could not decrypt may lack this key. */
const withSenderKey = async (sock: WASocket, group: string, content: proto.IMessage): Promise<proto.IMessage> => {
  const { lid, id } = sock.authState.creds.me ?? {};
  for (const meId of [lid, id]) {
    if (!meId || !(await sock.signalRepository.hasSenderKey({ group, meId }))) continue;
    const key = await sock.signalRepository.getSenderKeyDistributionMessage({ group, meId });
    return { ...content, senderKeyDistributionMessage: { groupId: group, axolotlSenderKeyDistributionMessage: key } };
  }
  return content;
};
