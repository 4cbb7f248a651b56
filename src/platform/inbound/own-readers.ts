/** Handlers that read arriving stanzas before the library does, or in place of the library. */
import {
  areJidsSameUser,
  type BinaryNode,
  getAllBinaryNodeChildren,
  getBinaryNodeChild,
  getBinaryNodeChildren,
  type WAPatchName,
  type WASocket,
} from '@whiskeysockets/baileys';
import type { BaileysEvent } from '../events/library-values.ts';
import { type ContactToken, keepToken } from '../keys/contact-tokens.ts';
import type { SpentKeys } from '../keys/spent-keys.ts';
import { bare, isChannel, isLid, isPerson, statusJid, userOf } from '../wire/jid.ts';
import { type Identities, withOwnNotifications, withPreKeyNotices } from './notices.ts';
import type { Handlers } from './durable-inbox.ts';

// Stanzas of channels. The library reads neither the number of a post nor the mark that says if the post is new, changed or deleted. It expects forms of
// notifications that the platform does not send.

interface Readers {
  readonly tell: (event: BaileysEvent) => void;
  /** Gets the id of a message that these handlers read in place of the library. */
  readonly read: (messageId: string) => void;
}

const isOfChannel = ({ attrs }: BinaryNode): boolean => isChannel(attrs['from'] ?? '');

/** Returns handlers that take the stanzas of channels, and pass all others on. */
const withChannelPosts = (handlers: Handlers, sock: Pick<WASocket, 'sendMessageAck'>, { tell, read }: Readers): Handlers => {
  // The tag of a held notification may be read only once, for the acknowledgement. The caller therefore passes the tag.
  const take = (tag: string, node: BinaryNode): Promise<void> => {
    const { attrs, content } = node;
    tell({ name: 'channel.stanza', data: { tag, attrs, ...(content === undefined ? {} : { content }) } });
    return sock.sendMessageAck(node);
  };
  return {
    ...handlers,
    message(node) {
      if (!isOfChannel(node)) return handlers.message(node);
      read(node.attrs['id'] ?? '');
      return take('message', node);
    },
    notification(node) {
      return node.attrs['type'] === 'newsletter' && isOfChannel(node) ? take('notification', node) : handlers.notification(node);
    },
  };
};

// Status posts of channels, which are unencrypted `<status>` nodes since 2026-07-20 (tulir/whatsmeow a2381054). The library does not know
// these nodes. They are acknowledged, so that the platform does not repeat them at each login. They are dropped, because the API does not show
// them.

/** Acknowledges status posts of channels. A failed acknowledgement needs no retry: the connection has ended, and the platform repeats the node. */
const acknowledgeStatuses = ({ ws, sendMessageAck }: Pick<WASocket, 'ws' | 'sendMessageAck'>): void => {
  ws.on('CB:status', (node: BinaryNode) => void sendMessageAck(node).catch(() => undefined));
};

// Notices that a contact linked or unlinked a device. The library changes only its cached list of devices for the number, but the gateway sends to LIDs. Both
// cached lists are therefore deleted, and the next message queries the devices.

type DeviceSock = Pick<WASocket, 'signalRepository' | 'userDevicesCache'>;

/** Returns the LID addresses of removed devices. The library deletes only the sessions under the number. */
const removedLids = (node: BinaryNode): string[] =>
  getAllBinaryNodeChildren(node)
    .filter(({ tag }) => tag === 'remove')
    .flatMap((change) => getBinaryNodeChildren(change, 'device').flatMap(({ attrs: { lid } }) => lid ?? []));

const updateDevices = async (node: BinaryNode, { signalRepository, userDevicesCache }: DeviceSock): Promise<void> => {
  const from = bare(node.attrs['from']);
  const lid = bare(node.attrs['lid']);
  if (isPerson(from) && isLid(lid)) await signalRepository.lidMapping.storeLIDPNMappings([{ lid, pn: from }]);
  for (const jid of [from, lid]) if (jid !== '') await userDevicesCache.del(userOf(jid));
  const removed = removedLids(node);
  if (removed.length > 0) await signalRepository.deleteSession(removed);
};

const withDeviceNotices = (handlers: Handlers, sock: DeviceSock): Handlers => ({
  ...handlers,
  async notification(node) {
    if (node.attrs['type'] === 'devices') await updateDevices(node, sock);
    return handlers.notification(node);
  },
});

// Privacy tokens that arrive with the messages of contacts. The library stores only tokens from notifications and from the history (WhiskeySockets/Baileys
// 2752).

type TokenSock = Pick<WASocket, 'authState' | 'signalRepository'>;

/** Returns the token in a message of a chat with one person; null if there is none. */
const tokenIn = (node: BinaryNode): ContactToken | null => {
  const given = getBinaryNodeChild(node, 'tctoken');
  const { content } = given ?? {};
  if (given === undefined || content === undefined || Array.isArray(content) || content.length === 0) return null;
  return { token: Buffer.from(content as Uint8Array), at: Number(given.attrs['t'] ?? node.attrs['t']) || 0 };
};

/** Returns the LID of the contact that wrote a message. '' for groups, for own messages, and for an unknown LID. */
const writerOf = async ({ attrs }: BinaryNode, { authState, signalRepository }: TokenSock): Promise<string> => {
  const { me } = authState.creds;
  const from = bare(attrs['from']);
  if (areJidsSameUser(from, me?.id) || areJidsSameUser(from, me?.lid)) return '';
  if (isLid(from)) return from;
  if (!isPerson(from)) return '';
  return bare(attrs['sender_lid'] ?? (await signalRepository.lidMapping.getLIDForPN(from)));
};

/** Returns handlers that store a token before the message is passed on, so that the first answer has it. If this fails, the message is still passed on. */
const withMessageTokens = (handlers: Handlers, sock: TokenSock): Handlers => {
  const keep = async (node: BinaryNode, token: ContactToken): Promise<void> => {
    const lid = await writerOf(node, sock);
    if (lid !== '') await keepToken(sock.authState.keys, lid, token);
  };
  return {
    ...handlers,
    message(node) {
      const token = tokenIn(node);
      if (token === null) return handlers.message(node);
      return keep(node, token)
        .catch(() => undefined)
        .then(() => handlers.message(node));
    },
  };
};

// Notifications that collections of the shared state changed. The library fetches only the first collection of a notification, but
// acknowledges the whole notification.

/** Fetches collections of the shared state. */
type Refresh = (names: readonly WAPatchName[]) => Promise<void>;

class GatheredRefresh {
  readonly #refresh: Refresh;
  #running: Promise<void> | null = null;
  #next: { readonly names: Set<WAPatchName>; readonly done: Promise<void> } | null = null;

  constructor(refresh: Refresh) {
    this.#refresh = refresh;
  }

  /**
   * Merges all refreshes that are requested during a running refresh into one later refresh. After an absence, the platform sends a notification for each
   * change.
   */
  async run(names: readonly WAPatchName[]): Promise<void> {
    if (this.#running === null) return this.#begin(names);
    this.#next ??= this.#after(this.#running);
    for (const name of names) this.#next.names.add(name);
    return this.#next.done;
  }

  #begin(names: readonly WAPatchName[]): Promise<void> {
    return (this.#running = this.#refresh(names).finally(() => {
      this.#running = null;
    }));
  }

  #after(running: Promise<void>): { readonly names: Set<WAPatchName>; readonly done: Promise<void> } {
    const names = new Set<WAPatchName>();
    const done = running
      .catch(() => undefined)
      .then(() => {
        this.#next = null;
        return this.#begin([...names]);
      });
    return { names, done };
  }
}

/**
 * Returns handlers that refresh each collection that a notification names. After a failure the notification is not acknowledged, and the platform repeats it.
 */
const withSharedNotices = (handlers: Handlers, sock: Pick<WASocket, 'sendMessageAck'>, refresh: Refresh): Handlers => {
  const gathered = new GatheredRefresh(refresh);
  return {
    ...handlers,
    async notification(node) {
      if (node.attrs['type'] !== 'server_sync') return handlers.notification(node);
      const named = getBinaryNodeChildren(node, 'collection').flatMap(({ attrs }) => attrs['name'] ?? []);
      if (named.length > 0) await gathered.run(named as WAPatchName[]);
      return sock.sendMessageAck(node);
    },
  };
};

// Receipts for the account's own status posts. The library is configured to ignore status posts, and therefore ignores these receipts too. The gateway reads
// them before the library acknowledges them.

type Receipts = Extract<BaileysEvent, { readonly name: 'message-receipt.update' }>;

interface Seen {
  readonly messageId: string | undefined;
  readonly jid: string | undefined;
  readonly type: string | undefined;
  readonly t: string | undefined;
}

/** Reads the confirmations of a receipt. Several confirmations are grouped by post. A receipt with a single confirmation names the reader in its attributes. */
const seenIn = (node: BinaryNode): readonly Seen[] => {
  const { id, participant, type, t } = node.attrs;
  const gathered = getBinaryNodeChildren(node, 'participants').flatMap((list) =>
    getBinaryNodeChildren(list, 'user').map(({ attrs }) => ({
      messageId: list.attrs['message_id'] ?? list.attrs['key'] ?? id,
      jid: attrs['jid'],
      type: attrs['type'] ?? type,
      t: attrs['t'] ?? t,
    })),
  );
  return gathered.length > 0 ? gathered : [{ messageId: id, jid: participant, type, t }];
};

const readTypes = new Set(['read', 'played', 'view']);

const receiptOf = ({ messageId, jid, type, t }: Seen): Receipts['data'] => {
  const isKnown = type === undefined || type === 'delivery' || readTypes.has(type);
  if (!messageId || !jid || !isKnown) return [];
  const at = Number(t ?? 0);
  const time = type !== undefined && readTypes.has(type) ? { readTimestamp: at } : { receiptTimestamp: at };
  return [{ key: { remoteJid: statusJid, id: messageId, fromMe: true }, receipt: { userJid: bare(jid), ...time } }];
};

/** Converts the receipt of a status post. Returns null for another receipt. */
const statusReceipts = (node: BinaryNode): Receipts | null => {
  if (node.attrs['from'] !== statusJid) return null;
  const data = seenIn(node).flatMap(receiptOf);
  return data.length === 0 ? null : { name: 'message-receipt.update', data };
};

/** Returns handlers that report receipts for own status posts before the library handles them. */
const withStatusReceipts = (handlers: Handlers, tell: (event: BaileysEvent) => void): Handlers => ({
  ...handlers,
  receipt(node) {
    const event = statusReceipts(node);
    if (event !== null) tell(event);
    return handlers.receipt(node);
  },
});

interface OwnReaders extends Readers {
  readonly refresh: Refresh;
  readonly identities: Pick<Identities, 'withNotices'>;
  readonly spentKeys: Pick<SpentKeys, 'counted' | 'uploaded'>;
}

export const withOwnReaders = (
  handlers: Handlers,
  sock: Pick<WASocket, 'authState' | 'query' | 'sendMessageAck' | 'signalRepository' | 'uploadPreKeys' | 'userDevicesCache' | 'ws'>,
  readers: OwnReaders,
): Handlers => {
  acknowledgeStatuses(sock);
  const withDevices = withDeviceNotices(withStatusReceipts(handlers, readers.tell), sock);
  const withKeys = withPreKeyNotices(withDevices, sock, readers.spentKeys);
  const withIdentities = readers.identities.withNotices(withKeys);
  const withGroups = withOwnNotifications(withIdentities, sock, readers.tell);
  const withTokens = withMessageTokens(withSharedNotices(withGroups, sock, readers.refresh), sock);
  return withChannelPosts(withTokens, sock, readers);
};
