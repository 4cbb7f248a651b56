/**
 * Renews and deletes sender keys of groups. The library makes the account's own key of a group once, sends it to each device once, and deletes no keys.
 *
 * - After a member has left, the own key is replaced, so that the member cannot read later messages. The web client does the same.
 * - A device with changed identity keys gets the own keys again.
 * - When the account leaves a group, all keys of the group are deleted.
 *
 * The library holds a lock while it encrypts and writes a message. Changes of own keys take the same lock, so that they never happen during a send.
 */
import type { SignalDataSet, WASocket } from '@whiskeysockets/baileys';
import type { Entry, Group } from '#actors/model.ts';
import { StorageFailure } from '#actors/ports.ts';
import { outsideTransactions } from './forged-keys.ts';
import { type Directory, isGroup, isMe, userOf } from '../wire/jid.ts';
import type { AuthState } from './auth-state.ts';
import { type DeviceMap, memoryType } from './group-maps.ts';

export interface GroupKeysParts {
  sock(): Pick<WASocket, 'authState' | 'signalRepository'>;
  readonly auth: Pick<AuthState, 'groupMaps' | 'storedIds'>;
  directory(): Directory;
  /** Returns true if the account is known to be a member of the group. */
  isMember(groupId: string): boolean;
  /** Reports that background work failed. */
  stumbled(where: string, error: unknown): void;
}

const keyType = 'sender-key';
/** The largest number of keys that one transaction deletes. A large group has tens of thousands of keys. */
const mostAtOnce = 500;

const removalsOf = (ids: readonly string[]): Readonly<Record<string, null>> => Object.fromEntries(ids.map((id) => [id, null]));

/** Returns the group of a sender key. The library names a sender key by group and address: `1203@g.us::123_1::0`. */
const groupOf = (id: string): string => id.slice(0, Math.max(0, id.indexOf('::')));

/** Devices that must get the own keys again, and the work that must run before their entries in the maps are removed. */
interface Renewed {
  /** An element is a user without a server, for all devices of this user, or `user:device` for a single device. */
  readonly devices: Set<string>;
  readonly first: (() => Promise<void>)[];
  done: Promise<void>;
}

const deviceOf = (jid: string): string => /:(\d+)@/.exec(jid)?.[1] ?? '0';
/** Returns true if the set contains this device or its user. */
const isNamed = (devices: ReadonlySet<string>, jid: string): boolean =>
  devices.has(userOf(jid)) || devices.has(`${userOf(jid)}:${deviceOf(jid)}`);

export class GroupKeys {
  readonly #parts: GroupKeysParts;
  readonly #running = new Set<Promise<void>>();
  /** True if a change failed because the storage was unavailable until the connection ended. The next connection then gets the notifications again. */
  #failed = false;
  /** Groups whose own key will be replaced when the lock is free. */
  readonly #renewing = new Map<string, Promise<void>>();
  /** Groups whose members must be compared with the devices that have the own key. */
  #compared = new Map<string, Group>();
  #comparing = false;
  #renewed: Renewed | null = null;

  constructor(parts: GroupKeysParts) {
    this.#parts = parts;
  }

  /** Applies an entry about a group. Call this in the order in which the entries and messages of the group arrive. */
  apply(groupId: string, entry: Entry): void {
    if (entry.kind === 'group') return this.#compare(entry.group);
    if (entry.kind !== 'news' || entry.news.type !== 'groups') return;
    const { change } = entry.news.group;
    if (change.kind === 'entered') this.#compare(change.group);
    else if (change.kind === 'deleted') this.#track(() => this.#drop(groupId));
    else if (change.kind === 'members' && change.action === 'leave') {
      const directory = this.#parts.directory();
      const isOwn = change.people.some(({ pn, lid }) => isMe(directory, pn) || isMe(directory, lid));
      this.#track(() => (isOwn ? this.#drop(groupId) : this.#renew(groupId)));
    }
  }

  /**
   * Applies the platform's list of all groups. Deletes the keys of groups that are neither in the list nor in `known`. A known group that the list lacks may
   * still have unread messages, so its keys stay until the next list.
   */
  listed(listed: ReadonlySet<string>, known: ReadonlySet<string>): void {
    const stays = (group: string): boolean => !isGroup(group) || listed.has(group) || known.has(group);
    this.#track(async () => {
      const [keys, maps] = await Promise.all([this.#parts.auth.storedIds(keyType, ''), this.#parts.auth.storedIds(memoryType, '')]);
      const gone = (group: string): boolean => !stays(group) && !this.#parts.isMember(group);
      await this.#delete(keyType, () => keys.filter((id) => gone(groupOf(id))));
      await this.#delete(memoryType, () => maps.filter(gone));
    });
  }

  /**
   * Handles devices with changed keys, or removed devices. Runs `first`, and then ensures that these devices get the own keys again before the next
   * message is encrypted. `devices`: see `Renewed`. Concurrent calls share the read of all groups.
   */
  renewDevices(devices: readonly string[], first: () => Promise<void>): Promise<void> {
    const renewed = (this.#renewed ??= this.#beginRenewal());
    for (const device of devices) renewed.devices.add(device);
    renewed.first.push(first);
    return renewed.done;
  }

  /** Resolves when all key changes from earlier entries are set in the key store. Rejects if the storage was unavailable until the connection ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
    if (this.#failed) throw new Error('the keys of a group could not be changed');
  }

  #beginRenewal(): Renewed {
    const renewed: Renewed = { devices: new Set(), first: [], done: Promise.resolve() };
    renewed.done = this.#betweenSends(async () => {
      this.#renewed = null;
      for (const work of renewed.first) await work();
      const people = new Set([...renewed.devices].map(userOf));
      const maps = await this.#parts.auth.groupMaps({ people });
      const changed = [...maps].map(([group, map]) => [group, without(map, renewed.devices)] as const);
      return { [memoryType]: Object.fromEntries(changed) };
    });
    return renewed;
  }

  /** Deletes the own key, so that the next message makes a new key and sends it to every device. If several members leave at once, only one new key is made. */
  #renew(group: string): Promise<void> {
    const waiting = this.#renewing.get(group);
    if (waiting !== undefined) return waiting;
    const done = this.#betweenSends(async () => {
      this.#renewing.delete(group);
      return { [keyType]: removalsOf(this.#ownNames(group)), [memoryType]: { [group]: null } };
    });
    this.#renewing.set(group, done);
    return done;
  }

  /** Returns the names of the own keys of a group, by LID and by number. The group uses one of them. */
  #ownNames(group: string): readonly string[] {
    const { authState, signalRepository } = this.#parts.sock();
    const { id, lid } = authState.creds.me ?? {};
    const addresses = [id, lid].flatMap((jid) => (jid ? [signalRepository.jidToSignalProtocolAddress(jid)] : []));
    return addresses.map((address) => `${group}::${address.replace('.', '::')}`);
  }

  async #drop(group: string): Promise<void> {
    const ids = await this.#parts.auth.storedIds(keyType, `${group}::`);
    // If the account has joined again meanwhile, members have sent new keys under the same names, and nothing is deleted.
    const unlessBack = (gone: readonly string[]) => () => (this.#parts.isMember(group) ? [] : gone);
    await this.#delete(keyType, unlessBack([...new Set([...ids, ...this.#ownNames(group)])]));
    await this.#delete(memoryType, unlessBack([group]));
  }

  /** Deletes keys in batches. `find` is called before each batch, and returns the ids. An id is deleted only once. */
  async #delete(type: string, find: () => readonly string[]): Promise<void> {
    const deleted = new Set<string>();
    for (;;) {
      const ids = find()
        .filter((id) => !deleted.has(id))
        .slice(0, mostAtOnce);
      if (ids.length === 0) return;
      await this.#betweenSends(async () => ({ [type]: removalsOf(ids) }));
      for (const id of ids) deleted.add(id);
    }
  }

  /**
   * Finds members that left while the account was offline. The map of the group still contains their devices, so they still have the account's sender key,
   * which is then renewed.
   */
  #compare(group: Group): void {
    this.#compared.set(group.id, group);
    if (this.#comparing) return;
    this.#comparing = true;
    this.#track(() =>
      this.#compareAll().finally(() => {
        this.#comparing = false;
      }),
    );
  }

  async #compareAll(): Promise<void> {
    while (this.#compared.size > 0) {
      const groups = this.#compared;
      this.#compared = new Map();
      const maps = await this.#parts.auth.groupMaps({ groups: [...groups.keys()] });
      const directory = this.#parts.directory();
      const left = [...maps].filter(([id, map]) => Object.keys(map).some(isStranger(groups.get(id), directory)));
      await Promise.all(left.map(([id]) => this.#renew(id)));
    }
  }

  #betweenSends(work: () => Promise<Readonly<Record<string, unknown>>>): Promise<void> {
    const { keys, creds } = this.#parts.sock().authState;
    const run = async (): Promise<void> => keys.set((await work()) as SignalDataSet);
    // An entry may come from inside a send. Without `outsideTransactions`, the work would join the transaction of the send.
    return outsideTransactions(() => keys.transaction(run, creds.me?.id ?? ''));
  }

  #track(work: () => Promise<void>): void {
    const running = outsideTransactions(work)
      .catch((error: unknown) => {
        this.#failed ||= error instanceof StorageFailure;
        this.#parts.stumbled('group-keys', error);
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }
}

const without = (map: DeviceMap, devices: ReadonlySet<string>): DeviceMap =>
  Object.fromEntries(Object.entries(map).filter(([jid]) => !isNamed(devices, jid)));

/** Returns a function that is true for devices of people outside of the group. Devices of the own account count as members. */
const isStranger = (group: Group | undefined, { me }: Directory): ((jid: string) => boolean) => {
  const members = group?.members.flatMap(({ id, pn, lid }) => [id, pn, lid]) ?? [];
  const users = new Set([...members, me.pn, me.lid].map(userOf));
  return (jid) => !users.has(userOf(jid));
};
