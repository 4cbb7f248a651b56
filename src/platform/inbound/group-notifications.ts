/** Notifications about groups and requests to list them again, taken from the library: it reads the first change of several only, and loses parts of a list. */
import { getBinaryNodeChild, type BinaryNode, type WASocket } from '@whiskeysockets/baileys';
import type { BaileysEvent } from '../events/baileys-event.ts';
import type { Handlers } from './inbound-gate.ts';

/** Passes every other notification on to the library. */
export const withGroupNotifications = (
  handlers: Handlers,
  sock: Pick<WASocket, 'sendMessageAck'>,
  tell: (event: BaileysEvent) => void,
): Handlers => ({
  ...handlers,
  notification(node) {
    if (node.attrs['type'] !== 'w:gp2') return handlers.notification(node);
    tell({ name: 'group.notification', data: { tag: 'notification', attrs: node.attrs, ...(node.content && { content: node.content }) } });
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
