/** What the gateway reads of arriving stanzas by itself, in front of the library. */
import type { WASocket } from '@whiskeysockets/baileys';
import { type Readers, withChannelPosts } from './channel-posts.ts';
import { withOwnNotifications } from './group-notifications.ts';
import type { Handlers } from './inbound-gate.ts';
import { withStatusReceipts } from './status-receipts.ts';

export const withOwnReaders = (handlers: Handlers, sock: Pick<WASocket, 'sendMessageAck'>, readers: Readers): Handlers => {
  const withGroups = withOwnNotifications(withStatusReceipts(handlers, readers.tell), sock, readers.tell);
  return withChannelPosts(withGroups, sock, readers);
};
