/** Handles acknowledgements of sent messages. Some report that a message went to an outdated list of devices, or to a former account. */
import { createHash } from 'node:crypto';
import { jidDecode, type WASocket } from '@whiskeysockets/baileys';
import { LruMap } from '#src/base/lru-map.ts';
import type { GroupCache } from '../events/group-cache.ts';
import { lookUpNumbers } from '../operations/requests.ts';
import type { Transmissions } from '../outbound/transmissions.ts';
import { type Directory, isGroup, isLid, userOf } from '../wire/jid.ts';
import { refused } from '../wire/outcomes.ts';

/** A device in the library's cached list. */
interface Device {
  readonly user: string;
  readonly server: string;
  /** The number of the device. Absent or 0 for the phone. */
  readonly device?: number | undefined;
}

const otherAccount =
  'the number has a new WhatsApp account since the last message, so this message was not delivered. Send it again to write to the new account';

const minute = 60_000;
/** The map keeps the time of the last fetch of at least this many groups, and of at most twice as many. */
const groupsKept = 250;

/**
 * Returns the hash of a list of devices, as the platform computes it: `2:` and the base64 of the first six bytes of the SHA-256 over the sorted
 * addresses. Each address has the agent 0 (tulir/whatsmeow `send.go:682`, `types/jid.go`).
 */
const hashOf = (devices: readonly Device[]): string => {
  const names = [...new Set(devices.map(({ user, server, device = 0 }) => `${user}.0:${device}@${server}`))].toSorted();
  return `2:${createHash('sha256').update(names.join('')).digest().subarray(0, 6).toString('base64')}`;
};

/** Returns this device, by LID or by number. The hash includes it, but the list of own devices may lack it. */
const ownDevice = ({ creds: { me } }: WASocket['authState'], byLid: boolean): Device | undefined =>
  jidDecode(byLid ? (me?.lid ?? me?.id) : me?.id);

export interface FollowedAcks {
  readonly sock: Pick<WASocket, 'authState' | 'generateMessageTag' | 'query' | 'signalRepository' | 'userDevicesCache' | 'ws'>;
  readonly directory: Pick<Directory, 'lid' | 'pn'>;
  readonly transmissions: Pick<Transmissions, 'acknowledged' | 'failed'>;
  readonly groups: Pick<GroupCache, 'metadata' | 'fetch'>;
  /** Reports that a background request failed. */
  stumbled(error: unknown): void;
}

/**
 * Hands acknowledgements to the transmissions. An acknowledgement with `phash` means that the message went to an outdated list of devices
 * (tulir/whatsmeow `send.go:454`). If the cached lists do not have this hash, they are deleted, and the next message to the chat fetches them. A group is
 * fetched at most once a minute. With `refresh_lid`, the LID may belong to a former account of the number, which receives no messages any more
 * (oxidezap/whatsapp-rust 1313). If the number has another LID now, the message counts as refused. It is not sent to the new account, which may belong to
 * another person.
 */
export const followAcks = ({ sock, directory, transmissions, groups, stumbled }: FollowedAcks): void => {
  const refreshed = new LruMap<number>(groupsKept);
  const check = async (jid: string, hash: string): Promise<void> => {
    const members = isGroup(jid) ? ((await groups.metadata(jid))?.participants ?? []).map(({ id }) => id) : [jid];
    const own = ownDevice(sock.authState, members.some(isLid));
    const users = new Set([...members.map(userOf), own?.user ?? '']);
    const lists = await Promise.all([...users].map(async (user) => (await sock.userDevicesCache.get(user)) as Device[] | undefined));
    if (own && lists.every((list) => list !== undefined) && hashOf([...lists.flatMap((list) => list ?? []), own]) === hash) return;
    for (const user of users) await sock.userDevicesCache.del(user);
    if (!isGroup(jid) || Date.now() - (refreshed.get(jid) ?? 0) < minute) return;
    refreshed.set(jid, Date.now());
    await groups.fetch(jid);
  };
  /** Looks the number of a LID up again. Returns true if the number has another LID now. */
  const isFormer = async (lid: string): Promise<boolean> => {
    const number = directory.pn(lid);
    if (number === '') return false;
    await lookUpNumbers(sock, [[number]]);
    return directory.lid(number) !== lid;
  };
  const settle = async (attrs: Readonly<Record<string, string>>): Promise<void> => {
    const { from = '', id = '', error, refresh_lid: isStale } = attrs;
    const isGone = isStale === 'true' && error === undefined && (await isFormer(from).catch(stumbled));
    if (isGone) transmissions.failed(id, refused(null, otherAccount));
    else transmissions.acknowledged(attrs);
  };
  sock.ws.on('CB:ack,class:message', ({ attrs }: { readonly attrs: Readonly<Record<string, string>> }) => {
    const { from = '', phash, error } = attrs;
    if (phash !== undefined && error === undefined) check(from, phash).catch(stumbled);
    if (attrs['refresh_lid'] === 'true') void settle(attrs);
    else transmissions.acknowledged(attrs);
  });
};
