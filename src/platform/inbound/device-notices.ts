/**
 * Notices that a contact linked or unlinked a device. The library changes the list of devices that it remembers for the number alone, and this program
 * writes to LIDs. Both lists go here, so that the next message asks for the devices.
 */
import { getAllBinaryNodeChildren, getBinaryNodeChildren, type BinaryNode, type WASocket } from '@whiskeysockets/baileys';
import { bare, isLid, isPerson, userOf } from '../wire/jid.ts';
import type { Handlers } from './inbound-gate.ts';

type Sock = Pick<WASocket, 'signalRepository' | 'userDevicesCache'>;

/** The addresses of removed devices by LID. The library deletes the sessions of the addresses by number. */
const removedLids = (node: BinaryNode): string[] =>
  getAllBinaryNodeChildren(node)
    .filter(({ tag }) => tag === 'remove')
    .flatMap((change) => getBinaryNodeChildren(change, 'device').flatMap(({ attrs: { lid } }) => lid ?? []));

const learn = async (node: BinaryNode, { signalRepository, userDevicesCache }: Sock): Promise<void> => {
  const from = bare(node.attrs['from']);
  const lid = bare(node.attrs['lid']);
  if (isPerson(from) && isLid(lid)) await signalRepository.lidMapping.storeLIDPNMappings([{ lid, pn: from }]);
  for (const jid of [from, lid]) if (jid !== '') await userDevicesCache.del(userOf(jid));
  const removed = removedLids(node);
  if (removed.length > 0) await signalRepository.deleteSession(removed);
};

export const withDeviceNotices = (handlers: Handlers, sock: Sock): Handlers => ({
  ...handlers,
  async notification(node) {
    if (node.attrs['type'] === 'devices') await learn(node, sock);
    return handlers.notification(node);
  },
});
