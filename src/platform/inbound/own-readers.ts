/** The gateway's own readers of arriving stanzas, in front of the library. */
import type { WASocket } from '@whiskeysockets/baileys';
import { type Readers, withChannelPosts } from './channel-posts.ts';
import { acknowledgeStatuses } from './channel-statuses.ts';
import { withDeviceNotices } from './device-notices.ts';
import { withOwnNotifications } from './group-notifications.ts';
import type { SpentKeys } from '../keys/spent-keys.ts';
import type { Identities } from './identity-notices.ts';
import type { Handlers } from './inbound-gate.ts';
import { withMessageTokens } from './message-tokens.ts';
import { withPreKeyNotices } from './pre-key-notices.ts';
import { withSharedNotices, type Refresh } from './shared-notices.ts';
import { withStatusReceipts } from './status-receipts.ts';

export interface OwnReaders extends Readers {
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
