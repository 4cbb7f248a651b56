/**
 * Notices that the phone of a contact has other keys than before: a new phone, or somebody else with the number. The library keeps the sessions of the
 * contact's other devices and the old states of that of the phone. Here all of them go first, so that nothing is encrypted for keys that nobody has.
 */
import {
  areJidsSameUser,
  getBinaryNodeChild,
  jidDecode,
  jidNormalizedUser,
  S_WHATSAPP_NET,
  type BinaryNode,
  type WASocket,
} from '@whiskeysockets/baileys';
import type { BaileysEvent } from '../events/baileys-event.ts';
import { isLid } from '../jid.ts';
import type { Handlers } from './inbound-gate.ts';

type Sock = Pick<WASocket, 'assertSessions' | 'authState' | 'signalRepository'>;

/** The contact whose phone has new keys; null for every other notification. Devices of the own account are the library's matter. */
const changedBy = (node: BinaryNode, { creds: { me } }: WASocket['authState']): string | null => {
  const { from = '', type } = node.attrs;
  if (type !== 'encrypt' || from === S_WHATSAPP_NET || getBinaryNodeChild(node, 'identity') === undefined) return null;
  if ((jidDecode(from)?.device ?? 0) !== 0) return null;
  return areJidsSameUser(from, me?.id) || areJidsSameUser(from, me?.lid) ? null : jidNormalizedUser(from);
};

/** The addresses of all devices of a contact, by its number and by its LID. */
const devicesOf = async (jid: string, { authState: { keys }, signalRepository: { lidMapping } }: Sock): Promise<readonly string[]> => {
  const other = await (isLid(jid) ? lidMapping.getPNForLID(jid) : lidMapping.getLIDForPN(jid));
  const forms = [jid, ...(other ? [jidNormalizedUser(other)] : [])];
  const users = forms.map((form) => jidDecode(form)?.user ?? '');
  const lists = await keys.get('device-list', users);
  const devices = new Set(['0', ...Object.values(lists).flat()]);
  return forms.flatMap((form) => [...devices].map((device) => (device === '0' ? form : form.replace('@', `:${device}@`))));
};

const forget = async (jid: string, sock: Sock): Promise<void> => {
  const { authState, signalRepository } = sock;
  const devices = await devicesOf(jid, sock);
  await signalRepository.deleteSession([...devices]);
  const addresses = devices.map((device) => signalRepository.jidToSignalProtocolAddress(device));
  await authState.keys.set({ 'identity-key': Object.fromEntries(addresses.map((address) => [address, null])) });
};

/** The library acknowledges the notice. It renews the trusted-contact token of a contact that has a session, so that a new one is made before. */
export const withIdentityNotices = (handlers: Handlers, sock: Sock, tell: (event: BaileysEvent) => void): Handlers => ({
  ...handlers,
  async notification(node) {
    const jid = changedBy(node, sock.authState);
    if (jid !== null) {
      await forget(jid, sock);
      tell({ name: 'identity.changed', data: { jid, at: Number(node.attrs['t'] ?? 0) * 1_000 } });
      // After an absence there may be many: the next message makes the session.
      if (!node.attrs['offline']) await sock.assertSessions([jid], true).catch(() => undefined);
    }
    return handlers.notification(node);
  },
});
