/** The gateway's own readers of arriving stanzas, in front of the library. */
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

// Stanzas of channels, taken from the library: it does not read the number of a post, and not whether the post is new, changed or deleted. It knows
// forms of notifications that the platform does not send.

interface Readers {
  readonly tell: (event: BaileysEvent) => void;
  /** Takes the id of a message that the library does not get, when its content is known. */
  readonly read: (messageId: string) => void;
}

const isOfChannel = ({ attrs }: BinaryNode): boolean => isChannel(attrs['from'] ?? '');

/** Handles the stanzas of channels, and passes all others on. */
const withChannelPosts = (handlers: Handlers, sock: Pick<WASocket, 'sendMessageAck'>, { tell, read }: Readers): Handlers => {
  // The tag of a notification is read once, to make its acknowledgement.
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

// Status posts, which come as `<status>` nodes and not encrypted: from channels since 2026-07-20 (tulir/whatsmeow a2381054). The library
// does not know the node. It is acknowledged, so that the platform does not repeat it at each login, and dropped: no call of the interface
// shows it.

/** A failed acknowledgement needs no retry. The connection has ended, and the platform repeats the node. */
const acknowledgeStatuses = ({ ws, sendMessageAck }: Pick<WASocket, 'ws' | 'sendMessageAck'>): void => {
  ws.on('CB:status', (node: BinaryNode) => void sendMessageAck(node).catch(() => undefined));
};

// Notices that a contact linked or unlinked a device. The library changes the list of devices that it remembers for the number alone, and
// this program writes to LIDs. Both lists go here, so that the next message asks for the devices.

type DeviceSock = Pick<WASocket, 'signalRepository' | 'userDevicesCache'>;

/** The addresses of removed devices by LID. The library deletes the sessions of the addresses by number. */
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

// Privacy tokens that arrive with the messages of contacts. The library stores only tokens in notifications (WhiskeySockets/Baileys 2752).

type TokenSock = Pick<WASocket, 'authState' | 'signalRepository'>;

/** The token in a message of a chat with one person; null when there is none. */
const tokenIn = (node: BinaryNode): ContactToken | null => {
  const given = getBinaryNodeChild(node, 'tctoken');
  const { content } = given ?? {};
  if (given === undefined || content === undefined || Array.isArray(content) || content.length === 0) return null;
  return { token: Buffer.from(content as Uint8Array), at: Number(given.attrs['t'] ?? node.attrs['t']) || 0 };
};

/** The LID of the contact that wrote a message; '' for groups, for own messages, and when it is not known. */
const writerOf = async ({ attrs }: BinaryNode, { authState, signalRepository }: TokenSock): Promise<string> => {
  const { me } = authState.creds;
  const from = bare(attrs['from']);
  if (areJidsSameUser(from, me?.id) || areJidsSameUser(from, me?.lid)) return '';
  if (isLid(from)) return from;
  if (!isPerson(from)) return '';
  return bare(attrs['sender_lid'] ?? (await signalRepository.lidMapping.getLIDForPN(from)));
};

/** The token is stored before the message is handed on, so that the first answer has it. A failure to store it holds nothing up. */
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

// Notifications that collections of the shared state changed. The library fetches only the first collection of each, and acknowledges all
// of them.

/** Fetches collections of the shared state. */
type Refresh = (names: readonly WAPatchName[]) => Promise<void>;

/** Refreshes that are asked for while one runs become one more: after an absence the platform sends a notification for each change. */
const gathered = (refresh: Refresh): Refresh => {
  let running: Promise<void> | null = null;
  let next: { readonly names: Set<WAPatchName>; readonly done: Promise<void> } | null = null;
  const begin = (names: readonly WAPatchName[]): Promise<void> =>
    (running = refresh(names).finally(() => {
      running = null;
    }));
  return (names) => {
    if (running === null) return begin(names);
    if (next === null) {
      const all = new Set<WAPatchName>();
      const done = running
        .catch(() => undefined)
        .then(() => {
          next = null;
          return begin([...all]);
        });
      next = { names: all, done };
    }
    for (const name of names) next.names.add(name);
    return next.done;
  };
};

/** Returns handlers that bring every named collection up to date. If that fails, nothing is acknowledged, so that the platform repeats the notification. */
const withSharedNotices = (handlers: Handlers, sock: Pick<WASocket, 'sendMessageAck'>, refresh: Refresh): Handlers => {
  const refreshed = gathered(refresh);
  return {
    ...handlers,
    async notification(node) {
      if (node.attrs['type'] !== 'server_sync') return handlers.notification(node);
      const named = getBinaryNodeChildren(node, 'collection').flatMap(({ attrs }) => attrs['name'] ?? []);
      if (named.length > 0) await refreshed(named as WAPatchName[]);
      return sock.sendMessageAck(node);
    },
  };
};

// Receipts for the account's own status posts. The library is configured to ignore stories, and then also ignores these receipts. They are
// read here, before the library acknowledges them.

type Receipts = Extract<BaileysEvent, { readonly name: 'message-receipt.update' }>;

interface Seen {
  readonly messageId: string | undefined;
  readonly jid: string | undefined;
  readonly type: string | undefined;
  readonly t: string | undefined;
}

/** Confirmations are grouped by post. A single confirmation names its reader. */
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

/** Null if the receipt is not about a post. */
const statusReceipts = (node: BinaryNode): Receipts | null => {
  if (node.attrs['from'] !== statusJid) return null;
  const data = seenIn(node).flatMap(receiptOf);
  return data.length === 0 ? null : { name: 'message-receipt.update', data };
};

/** Reports these receipts before the library handles them. */
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
