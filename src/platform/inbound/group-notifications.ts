/**
 * Notifications about groups and channels, and requests to list groups again, taken from the library: it reads only the first of several changes of a
 * group, and loses parts of a list. It reads older forms of notifications of channels.
 */
import { getBinaryNodeChild, type BinaryNode, type WASocket } from '@whiskeysockets/baileys';
import type { BaileysEvent } from '../events/library-values.ts';
import type { Handlers } from './durable-inbox.ts';

const aboutChannels = /^NotificationNewsletter/;

/** The event that a notification becomes; null for what the library reads. */
const eventOf = (node: BinaryNode): 'group.notification' | 'channel.notification' | null => {
  if (node.attrs['type'] === 'w:gp2') return 'group.notification';
  const isChannel = node.attrs['type'] === 'mex' && aboutChannels.test(getBinaryNodeChild(node, 'update')?.attrs['op_name'] ?? '');
  return isChannel ? 'channel.notification' : null;
};

/** Passes every other notification on to the library. */
export const withOwnNotifications = (
  handlers: Handlers,
  sock: Pick<WASocket, 'sendMessageAck'>,
  tell: (event: BaileysEvent) => void,
): Handlers => ({
  ...handlers,
  notification(node) {
    const name = eventOf(node);
    if (name === null) return handlers.notification(node);
    tell({ name, data: { tag: 'notification', attrs: node.attrs, ...(node.content && { content: node.content }) } });
    return sock.sendMessageAck(node);
  },
});

const dirty = 'CB:ib,,dirty';

/** Takes the library's answer to "the groups have changed" off its socket and puts `refresh` in its place. Throws when it is not what it was. */
export const takeOverGroupLists = (
  sock: Pick<WASocket, 'ws' | 'cleanDirtyBits'>,
  refresh: () => Promise<void>,
  failed: (error: unknown) => void,
): void => {
  const own = sock.ws.listeners(dirty).filter((listener) => String(listener).includes('groupFetchAllParticipating'));
  if (own.length !== 1) throw new Error(`the library has ${own.length} listeners that list groups`);
  sock.ws.off(dirty, own[0] as () => void);
  sock.ws.on(dirty, (node: BinaryNode) => {
    if (getBinaryNodeChild(node, 'dirty')?.attrs['type'] !== 'groups') return;
    refresh()
      .then(() => sock.cleanDirtyBits('groups'))
      .catch(failed);
  });
};
