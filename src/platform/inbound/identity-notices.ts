/**
 * Devices of contacts with other keys than before: a new phone, or somebody else with the number. The library keeps the sessions of the contact's other
 * devices, the old states of that of the phone, and counts the devices among those that have the own keys of groups. Here all of this goes first, so that
 * nothing is encrypted for keys that nobody has.
 */
import {
  areJidsSameUser,
  getBinaryNodeChild,
  getBinaryNodeChildren,
  jidDecode,
  jidNormalizedUser,
  S_WHATSAPP_NET,
  type BinaryNode,
  type WASocket,
} from '@whiskeysockets/baileys';
import type { BaileysEvent } from '../events/baileys-event.ts';
import { isLid, lidJid, personJid, userOf } from '../jid.ts';
import type { GroupKeys } from '../keys/group-keys.ts';
import type { Handlers } from './inbound-gate.ts';

type Sock = Pick<WASocket, 'assertSessions' | 'authState' | 'signalRepository'>;
type Keys = Pick<GroupKeys, 'renewDevices'>;

const isOwn = (jid: string, { creds: { me } }: WASocket['authState']): boolean =>
  areJidsSameUser(jid, me?.id) || areJidsSameUser(jid, me?.lid);

/** The contact whose phone has new keys; null for every other notification. Devices of the own account are the library's matter. */
const changedBy = (node: BinaryNode, authState: WASocket['authState']): string | null => {
  const { from = '', type } = node.attrs;
  if (type !== 'encrypt' || from === S_WHATSAPP_NET || getBinaryNodeChild(node, 'identity') === undefined) return null;
  return (jidDecode(from)?.device ?? 0) !== 0 || isOwn(from, authState) ? null : jidNormalizedUser(from);
};

/** A person by number and by LID, as far as both are known. */
const formsOf = async (jid: string, { signalRepository: { lidMapping } }: Sock): Promise<readonly string[]> => {
  const other = await (isLid(jid) ? lidMapping.getPNForLID(jid) : lidMapping.getLIDForPN(jid));
  return [jid, ...(other ? [jidNormalizedUser(other)] : [])];
};

const addressed = (form: string, device: string): string => (device === '0' ? form : form.replace('@', `:${device}@`));

/** Deletes sessions with all devices of a person, and the identity keys; those of `except` stay. */
const forget = async (forms: readonly string[], { authState: { keys }, signalRepository }: Sock, except: string | null): Promise<void> => {
  const lists = await keys.get('device-list', forms.map(userOf));
  const devices = [...new Set(['0', ...Object.values(lists).flat()])].filter((device) => device !== except);
  const gone = forms.flatMap((form) => devices.map((device) => addressed(form, device)));
  await signalRepository.deleteSession(gone);
  const addresses = gone.map((jid) => signalRepository.jidToSignalProtocolAddress(jid));
  await keys.set({ 'identity-key': Object.fromEntries(addresses.map((address) => [address, null])) });
};

/** The devices that a person unlinked, as `user:device`, by number and by LID. */
const removedBy = async (node: BinaryNode, sock: Sock): Promise<readonly string[]> => {
  const removal = node.attrs['type'] === 'devices' ? getBinaryNodeChild(node, 'remove') : undefined;
  const jids = removal === undefined ? [] : getBinaryNodeChildren(removal, 'device').flatMap(({ attrs }) => attrs['jid'] ?? []);
  const named = jids.map(async (jid) => {
    const forms = await formsOf(jidNormalizedUser(jid), sock);
    return forms.map((form) => `${userOf(form)}:${jidDecode(jid)?.device ?? 0}`);
  });
  return (await Promise.all(named)).flat();
};

/** The library acknowledges the notices. It renews the trusted-contact token of a contact that has a session, so that a new one is made before. */
export const withIdentityNotices = (handlers: Handlers, sock: Sock, keys: Keys, tell: (event: BaileysEvent) => void): Handlers => ({
  ...handlers,
  async notification(node) {
    const jid = changedBy(node, sock.authState);
    if (jid !== null) {
      const forms = await formsOf(jid, sock);
      await keys.renewDevices(forms.map(userOf), () => forget(forms, sock, null));
      tell({ name: 'identity.changed', data: { jid, at: Number(node.attrs['t'] ?? 0) * 1_000 } });
      // After an absence there may be many: the next message makes the session.
      if (!node.attrs['offline']) await sock.assertSessions([jid], true).catch(() => undefined);
    }
    const removed = await removedBy(node, sock);
    if (removed.length > 0) await keys.renewDevices(removed, async () => undefined);
    return handlers.notification(node);
  },
});

/** The address of a Signal session, such as `123_1.4` (a LID) or `5511.0`, as a person and a device. 128 stands for numbers that a provider hosts. */
const partsOf = (address: string): { readonly jid: string; readonly device: string } => {
  const [name = '', device = '0'] = address.split('.');
  const [user = '', domain] = name.split('_');
  return { jid: domain === undefined || domain === '128' ? personJid(user) : lidJid(user), device };
};

/**
 * A message began a session with another identity key than was known, so that the notice was missed. Does what the notice would have led to; the session
 * of the message stays. `at` in Unix milliseconds.
 */
export const identityReplaced = async (
  address: string,
  at: number,
  { sock, keys, tell }: { readonly sock: Sock; readonly keys: Keys; readonly tell: (event: BaileysEvent) => void },
): Promise<void> => {
  const { jid, device } = partsOf(address);
  if (isOwn(jid, sock.authState)) return;
  const forms = await formsOf(jid, sock);
  const users = forms.map(userOf);
  if (device !== '0')
    return keys.renewDevices(
      users.map((user) => `${user}:${device}`),
      async () => undefined,
    );
  tell({ name: 'identity.changed', data: { jid, at } });
  await keys.renewDevices(users, () => forget(forms, sock, '0'));
};
