/**
 * Notifications of the platform that the gateway handles before the library, or in its place: changes of groups and channels, changed identity keys, removed
 * devices, and a low number of one-time keys.
 */
import {
  areJidsSameUser,
  type BinaryNode,
  getBinaryNodeChild,
  getBinaryNodeChildren,
  jidDecode,
  jidNormalizedUser,
  S_WHATSAPP_NET,
  type WASocket,
} from '@whiskeysockets/baileys';
import { LruMap } from '#src/base/lru-map.ts';
import type { BaileysEvent } from '../events/library-values.ts';
import type { GroupKeys } from '../keys/group-keys.ts';
import type { SpentKeys } from '../keys/spent-keys.ts';
import { isLid, lidJid, personJid, userOf } from '../wire/jid.ts';
import type { Handlers } from './durable-inbox.ts';

// Notifications of groups and channels, and requests to list the groups again. The library reads only the first of several changes of a group, loses
// parts of a list, and reads only older forms of channel notifications.

const aboutChannels = /^NotificationNewsletter/;

/** Returns the event of a notification; null for a notification that the library reads. */
const eventOf = (node: BinaryNode): 'group.notification' | 'channel.notification' | null => {
  if (node.attrs['type'] === 'w:gp2') return 'group.notification';
  const isChannel = node.attrs['type'] === 'mex' && aboutChannels.test(getBinaryNodeChild(node, 'update')?.attrs['op_name'] ?? '');
  return isChannel ? 'channel.notification' : null;
};

/** Returns handlers that take notifications of groups and channels, and pass all others on to the library. */
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

/** Replaces the library's listener for changed groups on its socket by `refresh`. Throws if the library does not have exactly one such listener. */
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

// Changed identity keys of contacts: a contact has a new phone, or another person has the number now. The library keeps the sessions of the
// contact's other devices and the old states of the phone's session. It also still assumes that the devices have the account's sender keys
// of groups. This part first deletes these sessions and assumptions, so that no message is encrypted for keys that no device has.

type Sock = Pick<WASocket, 'assertSessions' | 'authState' | 'signalRepository'>;

const isOwn = (jid: string, { creds: { me } }: WASocket['authState']): boolean =>
  areJidsSameUser(jid, me?.id) || areJidsSameUser(jid, me?.lid);

/** Returns the contact whose phone has new keys; null for any other notification. The library handles devices of the own account. */
const changedBy = (node: BinaryNode, authState: WASocket['authState']): string | null => {
  const { from = '', type } = node.attrs;
  if (type !== 'encrypt' || from === S_WHATSAPP_NET || getBinaryNodeChild(node, 'identity') === undefined) return null;
  return (jidDecode(from)?.device ?? 0) !== 0 || isOwn(from, authState) ? null : jidNormalizedUser(from);
};

/** Returns the known addresses of a person: the number, the LID, or both. */
const formsOf = async (jid: string, { signalRepository: { lidMapping } }: Sock): Promise<readonly string[]> => {
  const other = await (isLid(jid) ? lidMapping.getPNForLID(jid) : lidMapping.getLIDForPN(jid));
  return [jid, ...(other ? [jidNormalizedUser(other)] : [])];
};

const addressed = (form: string, device: string): string => (device === '0' ? form : form.replace('@', `:${device}@`));

/** Deletes the sessions with all devices of a person, and their identity keys, except for the device `except`. */
const forget = async (forms: readonly string[], { authState: { keys }, signalRepository }: Sock, except: string | null): Promise<void> => {
  const lists = await keys.get('device-list', forms.map(userOf));
  const devices = [...new Set(['0', ...Object.values(lists).flat()])].filter((device) => device !== except);
  const gone = forms.flatMap((form) => devices.map((device) => addressed(form, device)));
  await signalRepository.deleteSession(gone);
  const addresses = gone.map((jid) => signalRepository.jidToSignalProtocolAddress(jid));
  await keys.set({ 'identity-key': Object.fromEntries(addresses.map((address) => [address, null])) });
};

/** Returns the devices that a person unlinked, as `user:device`, by number and by LID. */
const removedBy = async (node: BinaryNode, sock: Sock): Promise<readonly string[]> => {
  const removal = node.attrs['type'] === 'devices' ? getBinaryNodeChild(node, 'remove') : undefined;
  const jids = removal === undefined ? [] : getBinaryNodeChildren(removal, 'device').flatMap(({ attrs }) => attrs['jid'] ?? []);
  const named = jids.map(async (jid) => {
    const forms = await formsOf(jidNormalizedUser(jid), sock);
    return forms.map((form) => `${userOf(form)}:${jidDecode(jid)?.device ?? 0}`);
  });
  return (await Promise.all(named)).flat();
};

/** Splits the address of a Signal session, such as `123_1.4` (a LID) or `5511.0`, into a person and a device. Domain 128 is for hosted numbers. */
const partsOf = (address: string): { readonly jid: string; readonly device: string } => {
  const [name = '', device = '0'] = address.split('.');
  const [user = '', domain] = name.split('_');
  return { jid: domain === undefined || domain === '128' ? personJid(user) : lidJid(user), device };
};

export interface IdentitiesParts {
  sock(): Sock;
  readonly keys: Pick<GroupKeys, 'renewDevices'>;
  tell(event: BaileysEvent): void;
  /** Returns Unix milliseconds. */
  now(): number;
}

/** The cache keeps at least this many people whose identity key a message has replaced. The notice of the change may arrive later. */
const remembered = 500;

/**
 * Handles changed identity keys. A notice often arrives together with the first message of the new phone. Whichever is handled first, the change is
 * reported once, and the new session stays.
 */
export class Identities {
  readonly #parts: IdentitiesParts;
  /** Times at which a message replaced the identity key of a phone, by user. */
  readonly #replaced = new LruMap<number>(remembered);
  /** Users whose notice is being handled. */
  readonly #noticed = new Set<string>();

  constructor(parts: IdentitiesParts) {
    this.#parts = parts;
  }

  /**
   * Returns handlers that handle notices first, and then pass them to the library, which acknowledges them. The library renews the privacy token only of a
   * contact with a session, so the new session is made first.
   */
  withNotices(handlers: Handlers): Handlers {
    return {
      ...handlers,
      notification: async (node) => {
        const sock = this.#parts.sock();
        const jid = changedBy(node, sock.authState);
        if (jid !== null) await this.#notice(jid, node, sock);
        const removed = await removedBy(node, sock);
        if (removed.length > 0) await this.#parts.keys.renewDevices(removed, async () => undefined);
        return handlers.notification(node);
      },
    };
  }

  /**
   * Handles a message that shows a new identity key. The notice of the change was missed, or arrives later. For a phone, does the same as for the notice, but
   * keeps the session of the message. A linked device only gets the own keys of groups again.
   */
  async replaced(address: string): Promise<void> {
    const sock = this.#parts.sock();
    const { jid, device } = partsOf(address);
    if (isOwn(jid, sock.authState)) return;
    const at = this.#parts.now();
    if (device === '0') this.#replaced.set(userOf(jid), at);
    const forms = await formsOf(jid, sock);
    const users = forms.map(userOf);
    const { keys, tell } = this.#parts;
    if (device !== '0')
      return keys.renewDevices(
        users.map((user) => `${user}:${device}`),
        async () => undefined,
      );
    for (const user of users) this.#replaced.set(user, at);
    if (users.some((user) => this.#noticed.has(user))) return;
    tell({ name: 'identity.changed', data: { jid, at } });
    await keys.renewDevices(users, () => forget(forms, sock, '0'));
  }

  async #notice(jid: string, { attrs }: BinaryNode, sock: Sock): Promise<void> {
    const [arrived, at] = [this.#parts.now(), Number(attrs['t'] ?? 0) * 1_000];
    const forms = await formsOf(jid, sock);
    const users = forms.map(userOf);
    const isReplacedSince = (time: number): boolean => users.some((user) => (this.#replaced.get(user) ?? -1) >= time);
    if (isReplacedSince(at)) return;
    for (const user of users) this.#noticed.add(user);
    try {
      await this.#parts.keys.renewDevices(users, () => forget(forms, sock, isReplacedSince(arrived) ? '0' : null));
    } finally {
      for (const user of users) this.#noticed.delete(user);
    }
    this.#parts.tell({ name: 'identity.changed', data: { jid, at } });
    // After an absence there may be many notices, so no sessions are made for them. The next message makes the session.
    if (!attrs['offline'] && !isReplacedSince(arrived)) await sock.assertSessions([jid], true).catch(() => undefined);
  }
}

// The platform's notices that few one-time keys are left. The library uploads only 5 keys if fewer than 5 are left. In a burst of 300 new
// contacts, 165 then got no key (measured). Contacts without a one-time key begin their session with the signed pre-key alone.

/** The number of keys that the platform has after a refill. */
const wanted = 400;
/** The number of keys in one upload. The library makes them on the event loop, in 0.15 ms each. */
const atOnce = 50;

type PreKeySock = Pick<WASocket, 'authState' | 'query' | 'sendMessageAck' | 'uploadPreKeys'>;

const isNotice = (node: BinaryNode): boolean =>
  node.attrs['type'] === 'encrypt' && node.attrs['from'] === S_WHATSAPP_NET && getBinaryNodeChild(node, 'count') !== undefined;

/**
 * Queries the number of remaining keys. The number in a notice may be outdated, because the platform repeats a notice whose acknowledgement was lost,
 * and sends more notices during an upload.
 */
const countOf = async (sock: PreKeySock): Promise<number> => {
  const answer = await sock.query({
    tag: 'iq',
    attrs: { xmlns: 'encrypt', type: 'get', to: S_WHATSAPP_NET },
    content: [{ tag: 'count', attrs: {} }],
  });
  return Number(getBinaryNodeChild(answer, 'count')?.attrs['value']) || 0;
};

class Refills {
  readonly #sock: PreKeySock;
  readonly #spent: Pick<SpentKeys, 'counted' | 'uploaded'>;
  #running: Promise<void> | null = null;
  /** The refill after the running one. It is needed, because the platform may give out keys during an upload. */
  #next: Promise<void> | null = null;

  constructor(sock: PreKeySock, spent: Pick<SpentKeys, 'counted' | 'uploaded'>) {
    this.#sock = sock;
    this.#spent = spent;
  }

  /** Resolves after a refill that began after the call. Rejects if this refill fails. */
  async finished(): Promise<void> {
    if (this.#running === null) return this.#begin();
    return (this.#next ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#next = null;
        return this.#begin();
      }));
  }

  #begin(): Promise<void> {
    return (this.#running = this.#refill().finally(() => {
      this.#running = null;
    }));
  }

  async #refill(): Promise<void> {
    const left = await countOf(this.#sock);
    await this.#spent.counted(left);
    for (let count = left; count < wanted; count += atOnce) await this.#upload(Math.min(atOnce, wanted - count));
  }

  async #upload(count: number): Promise<void> {
    const { creds } = this.#sock.authState;
    const before = creds.firstUnuploadedPreKeyId;
    await this.#sock.uploadPreKeys(count);
    const after = creds.firstUnuploadedPreKeyId;
    // Notes the upload only if at least `count` ids are new. If the library was already uploading, the call only waited for that upload, and fewer ids are
    // new. After a failed attempt more than `count` ids are new, but only the last `count` ids were uploaded.
    if (after - before >= count) await this.#spent.uploaded(after - count, after - 1);
  }
}

/** Returns handlers that refill the keys. A notice is acknowledged after the upload, so that the platform repeats it if the upload failed. */
export const withPreKeyNotices = (handlers: Handlers, sock: PreKeySock, spent: Pick<SpentKeys, 'counted' | 'uploaded'>): Handlers => {
  const refills = new Refills(sock, spent);
  return {
    ...handlers,
    async notification(node) {
      if (!isNotice(node)) return handlers.notification(node);
      await refills.finished();
      return sock.sendMessageAck(node);
    },
  };
};
