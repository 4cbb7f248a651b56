/**
 * The sender keys of groups, where the library leaves them as they are: it makes an own key once, sends it to each device once, and deletes none.
 *
 * - The own key is made anew after a member left, so that the member reads nothing that is written later. The web client does the same.
 * - A device with other keys than before is sent the own keys again.
 * - All keys of a group go when the account leaves it.
 *
 * The library holds one lock while it encrypts and writes a message. Changes of own keys take that lock, so that none falls into a send.
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
  /** The account is a member of this group, as far as is known. */
  isMember(groupId: string): boolean;
  /** Reports that work in the background failed. */
  stumbled(where: string, error: unknown): void;
}

const keyType = 'sender-key';
/** Keys that one transaction deletes. A large group leaves tens of thousands. */
const mostAtOnce = 500;

const nothing = (ids: readonly string[]): Readonly<Record<string, null>> => Object.fromEntries(ids.map((id) => [id, null]));

/** The library names a sender key by group and address: `1203@g.us::123_1::0`. */
const groupOf = (id: string): string => id.slice(0, Math.max(0, id.indexOf('::')));

/** Devices with other keys than before, and the work that comes before own keys are sent to them again. */
interface Renewed {
  /** Users without a server for all of their devices, or `user:device`. */
  readonly devices: Set<string>;
  readonly first: (() => Promise<void>)[];
  done: Promise<void>;
}

const deviceOf = (jid: string): string => /:(\d+)@/.exec(jid)?.[1] ?? '0';
/** True if the list has this device, or its user. */
const isNamed = (devices: ReadonlySet<string>, jid: string): boolean =>
  devices.has(userOf(jid)) || devices.has(`${userOf(jid)}:${deviceOf(jid)}`);

export class GroupKeys {
  readonly #parts: GroupKeysParts;
  readonly #running = new Set<Promise<void>>();
  /** True if the storage was away until the connection ended. Notifications are then acknowledged by the next connection. */
  #failed = false;
  /** Groups whose own key waits for the lock, under which a new key is made. */
  readonly #renewing = new Map<string, Promise<void>>();
  /** Whole groups that are compared next. */
  #compared = new Map<string, Group>();
  #comparing = false;
  #renewed: Renewed | null = null;

  constructor(parts: GroupKeysParts) {
    this.#parts = parts;
  }

  /** Takes every entry about a group, in order with the messages of the group. */
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
   * The platform listed all groups of the account. Deletes keys of groups that were neither known before nor are listed. Messages of a group that only
   * this list leaves out may still wait to be read, so its keys stay until the next list.
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
   * These devices have other keys than before, or are gone. Runs `first` and then makes sure that own keys are sent to the devices again, before any
   * further message is encrypted. `devices`: users without a server for all of their devices, or `user:device`. Calls that come meanwhile share the look
   * at all groups.
   */
  renewDevices(devices: readonly string[], first: () => Promise<void>): Promise<void> {
    const renewed = (this.#renewed ??= this.#beginRenewal());
    for (const device of devices) renewed.devices.add(device);
    renewed.first.push(first);
    return renewed.done;
  }

  /** Resolves when all changes that follow from earlier entries are set. Rejects if storage was unavailable until the connection ended. */
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

  /** The next message to the group makes a new key, and sends it to every device. Several members who leave at once cost one key. */
  #renew(group: string): Promise<void> {
    const waiting = this.#renewing.get(group);
    if (waiting !== undefined) return waiting;
    const done = this.#betweenSends(async () => {
      this.#renewing.delete(group);
      return { [keyType]: nothing(this.#ownNames(group)), [memoryType]: { [group]: null } };
    });
    this.#renewing.set(group, done);
    return done;
  }

  /** The names of the own keys of a group: by LID and by number, whichever the group goes by. */
  #ownNames(group: string): readonly string[] {
    const { authState, signalRepository } = this.#parts.sock();
    const { id, lid } = authState.creds.me ?? {};
    const addresses = [id, lid].flatMap((jid) => (jid ? [signalRepository.jidToSignalProtocolAddress(jid)] : []));
    return addresses.map((address) => `${group}::${address.replace('.', '::')}`);
  }

  async #drop(group: string): Promise<void> {
    const ids = await this.#parts.auth.storedIds(keyType, `${group}::`);
    // The account may have joined again: then members have sent new keys under the same names.
    const unlessBack = (gone: readonly string[]) => () => (this.#parts.isMember(group) ? [] : gone);
    await this.#delete(keyType, unlessBack([...new Set([...ids, ...this.#ownNames(group)])]));
    await this.#delete(memoryType, unlessBack([group]));
  }

  /** `find`: called before each piece. It does not find a named key again. */
  async #delete(type: string, find: () => readonly string[]): Promise<void> {
    const deleted = new Set<string>();
    for (;;) {
      const ids = find()
        .filter((id) => !deleted.has(id))
        .slice(0, mostAtOnce);
      if (ids.length === 0) return;
      await this.#betweenSends(async () => ({ [type]: nothing(ids) }));
      for (const id of ids) deleted.add(id);
    }
  }

  /** A member who left while the account was offline still has the own key. Its device is in the map, but it is not a member. */
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
    // Entries may come from within a send, whose transaction would take this work in.
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

/** Devices of the own account count as members. */
const isStranger = (group: Group | undefined, { me }: Directory): ((jid: string) => boolean) => {
  const members = group?.members.flatMap(({ id, pn, lid }) => [id, pn, lid]) ?? [];
  const users = new Set([...members, me.pn, me.lid].map(userOf));
  return (jid) => !users.has(userOf(jid));
};
