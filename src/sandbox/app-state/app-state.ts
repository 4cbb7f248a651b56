/**
 * The app state: settings that the devices of one account share, about chats (archive, mute, pin, …), labels, address book, quick replies. Devices change them
 * by encrypted patches with consecutive versions. The phone made the key, so it can read all patches. A patch that is not authentic is refused.
 */
import { proto } from '@whiskeysockets/baileys';
import { jidOf } from '../address.ts';
import type { Digits } from '../interface.ts';
import type { Connections } from '../connections.ts';
import type { Media } from '../media.ts';
import { bytes, child, children, node, unixSeconds, type BinaryNode } from '../nodes.ts';
import type { Device, People, Person } from '../people.ts';
import type { Random } from '../random.ts';
import type { Counters } from '../stats.ts';
import { decode, encode, type Database, type Records } from '../store/database.ts';
import { deriveKeys, patchMacOf, macOfRecord, seal, type Action, type Operation } from './codec.ts';
import {
  type Collection,
  type CollectionName,
  collectionNames,
  type CurrentRecord,
  isCollection,
  Patches,
  type SharedKey,
  Snapshots,
} from './collection.ts';

/** A change of one record, before it is encrypted. */
export interface Mutation extends Action {
  readonly collection: CollectionName;
  readonly operation: Operation;
}

/** Largest number of patches in one answer. The client requests the remaining patches. */
const page = 100;

export class AppState {
  readonly #db: Database;
  readonly #records: Records;
  readonly #people: People;
  readonly #connections: Connections;
  readonly #random: Random;
  readonly #counters: Counters;
  readonly #patches: Patches;
  readonly #snapshots: Snapshots;
  readonly #keys = new Map<Digits, SharedKey>();

  constructor(db: Database, records: Records, people: People, connections: Connections, media: Media, counters: Counters, random: Random) {
    this.#db = db;
    this.#records = records;
    this.#people = people;
    this.#connections = connections;
    this.#random = random;
    this.#counters = counters;
    this.#patches = new Patches(db);
    this.#snapshots = new Snapshots(media, random);
  }

  /**
   * Makes the peer message that carries the key of the patches from the phone to a device. Every device gets the same key. `asked` lists the requested key ids.
   * The key is sent if its id is in the list, or if there is no list.
   */
  keyShare(person: Person, asked?: readonly proto.Message.IAppStateSyncKeyId[]): proto.IMessage {
    const key = this.#sharedKey(person.number);
    const isWanted = asked?.some(({ keyId }) => keyId && Buffer.from(keyId).equals(key.id)) ?? true;
    const keyData = { keyData: key.data, timestamp: Date.now(), fingerprint: { rawId: 1, currentIndex: 1, deviceIndexes: [0, 1] } };
    const type = proto.Message.ProtocolMessage.Type.APP_STATE_SYNC_KEY_SHARE;
    return { protocolMessage: { type, appStateSyncKeyShare: { keys: isWanted ? [{ keyId: { keyId: key.id }, keyData }] : [] } } };
  }

  /** Changes settings on the phone. Each changed collection gets one more patch, and all devices are notified of the new versions. */
  change(person: Person, mutations: readonly Mutation[]): void {
    this.#stored(person.number, () => {
      const changed = collectionNames.flatMap((name) => {
        const own = mutations.filter(({ collection }) => collection === name);
        return own.length > 0 ? [this.#write(person.number, name, own)] : [];
      });
      this.#notifyDevices(person, changed);
      this.#follow(person);
    });
  }

  /** Returns the current records of an account. */
  records(owner: Digits): readonly (CurrentRecord & { readonly collection: CollectionName })[] {
    return collectionNames.flatMap((collection) =>
      [...this.#collection(owner, collection).records.values()].map((record) => ({ ...record, collection })),
    );
  }

  versions(owner: Digits): Readonly<Record<CollectionName, number>> {
    return Object.fromEntries(collectionNames.map((name) => [name, this.#collection(owner, name).version])) as Record<
      CollectionName,
      number
    >;
  }

  /** Answers a `<sync>` request and notifies the account's other devices of the collections that the request changed. */
  sync(device: Device, sync: BinaryNode): BinaryNode {
    return this.#stored(device.number, () => {
      const changed: BinaryNode[] = [];
      const answers = children(sync, 'collection').map((asked) => {
        const name = asked.attrs['name'] ?? '';
        if (!isCollection(name)) return refusal(name, '400', 'bad-request');
        const patch = bytes(child(asked, 'patch'));
        const answer = patch ? this.#take(device.number, name, asked, patch) : this.#read(device.number, name, asked);
        if (patch && answer.attrs['type'] !== 'error') changed.push(answer);
        return answer;
      });
      const person = this.#people.ensure(device.number);
      if (changed.length > 0) {
        this.#notifyDevices(person, changed, device);
        this.#follow(person);
      }
      return node('sync', {}, answers);
    });
  }

  /**
   * Runs `work` in a transaction. If `work` fails, drops the account's collections from memory, because they may contain changes that were rolled back. They
   * are then read from storage again.
   */
  #stored<T>(owner: Digits, work: () => T): T {
    try {
      return this.#db.atomically(work);
    } catch (error) {
      this.#patches.forget(owner);
      throw error;
    }
  }

  /** Applies a patch of a device. A patch on an old version is refused as a conflict. The answer then contains the patches that the device missed. */
  #take(owner: Digits, name: CollectionName, { attrs }: BinaryNode, encoded: Uint8Array): BinaryNode {
    const collection = this.#collection(owner, name);
    const base = Number(attrs['version'] ?? 0);
    if (base < collection.version) {
      this.#counters.settings.conflicts += 1;
      return this.#missed(owner, collection, base, { type: 'error' }, [node('error', { code: '409', text: 'conflict' })]);
    }
    const why = base === collection.version ? this.#add(owner, collection, encoded) : 'a version of the future';
    if (why === undefined) {
      this.#counters.settings.patches += 1;
      return node('collection', { name, version: String(collection.version) });
    }
    this.#counters.refusedPatch(why);
    return refusal(name, '400', 'bad-request');
  }

  #add(owner: Digits, collection: Collection, encoded: Uint8Array): string | undefined {
    let patch: proto.SyncdPatch;
    try {
      patch = proto.SyncdPatch.decode(encoded);
    } catch {
      return 'malformed';
    }
    return this.#patches.add(owner, collection, patch, this.#sharedKey(owner));
  }

  /** Returns the data that a device lacks: the whole collection if the device requests it, otherwise the patches after its version. */
  #read(owner: Digits, name: CollectionName, { attrs }: BinaryNode): BinaryNode {
    const collection = this.#collection(owner, name);
    const { version } = collection;
    if (attrs['return_snapshot'] === 'true' && version > 0) {
      const snapshot = this.#snapshots.of(collection, this.#sharedKey(owner));
      return node('collection', { name, version: String(version) }, [node('snapshot', {}, snapshot)]);
    }
    return this.#missed(owner, collection, Number(attrs['version'] ?? 0) || 0, {}, []);
  }

  #missed(
    owner: Digits,
    { name, version }: Collection,
    since: number,
    more: Readonly<Record<string, string>>,
    content: readonly BinaryNode[],
  ): BinaryNode {
    const found = this.#patches.after(owner, name, since, page + 1);
    const patches = found.slice(0, page).map((one) => node('patch', {}, one));
    const attrs = { name, version: String(version), ...more, has_more_patches: found.length > page ? 'true' : undefined };
    const all = [...content, ...(patches.length > 0 ? [node('patches', {}, patches)] : [])];
    return all.length > 0 ? node('collection', attrs, all) : node('collection', attrs);
  }

  /** Encrypts and stores the phone's own mutations of one collection. Returns the node that announces the new version to devices. */
  #write(owner: Digits, name: CollectionName, actions: readonly Mutation[]): BinaryNode {
    const key = this.#sharedKey(owner);
    const collection = this.#collection(owner, name);
    const version = collection.version + 1;
    const mutations = actions.map((action) => seal(key.keys, key.id, action.operation, action, this.#random.bytes(16)));
    const snapshotMac = collection.snapshotMac(key.keys, mutations, version);
    const macs = mutations.map(({ record }) => macOfRecord(record));
    const patchMac = patchMacOf(key.keys, snapshotMac, macs, version, name);
    const why = this.#patches.add(owner, collection, { mutations, snapshotMac, patchMac, keyId: { id: key.id } }, key);
    if (why !== undefined) throw new Error(`the phone's own patch was refused: ${why}`);
    return node('collection', { name, version: String(version) });
  }

  /** Copies the push name from its record to the person, so that other people see a changed name. */
  #follow(person: Person): void {
    const { records } = this.#collection(person.number, 'critical_block');
    const named = [...records.values()].find(({ action }) => action.index[0] === 'setting_pushName');
    const name = named?.action.value.pushNameSetting?.name?.slice(0, 100);
    if (!name || name === person.name) return;
    person.name = name;
    this.#people.save(person);
  }

  #collection(owner: Digits, name: CollectionName): Collection {
    return this.#patches.collection(owner, name, this.#sharedKey(owner));
  }

  #sharedKey(owner: Digits): SharedKey & { readonly data: Uint8Array } {
    const known = this.#keys.get(owner) as (SharedKey & { readonly data: Uint8Array }) | undefined;
    if (known) return known;
    const saved = this.#records.get<string>('app-state-key', owner);
    const { id, data } = saved === undefined ? this.#newKey(owner) : decode<{ id: Uint8Array; data: Uint8Array }>(saved);
    const key = { id, data, keys: deriveKeys(data) };
    this.#keys.set(owner, key);
    return key;
  }

  #newKey(owner: Digits): { id: Uint8Array; data: Uint8Array } {
    const key = { id: this.#random.bytes(6), data: this.#random.bytes(32) };
    this.#records.put('app-state-key', owner, encode(key));
    return key;
  }

  /** Notifies all devices except the one that made the change. */
  #notifyDevices(person: Person, changed: readonly BinaryNode[], maker?: Device): void {
    const attrs = { from: jidOf(person, 'pn'), type: 'server_sync', id: this.#random.id(), t: unixSeconds(Date.now()) };
    const collections = changed.map(({ attrs: { name, version } }) => node('collection', { name, version }));
    for (const other of this.#people.devices(person.number)) {
      if (other !== maker) this.#connections.deliver(other, node('notification', attrs, collections));
    }
  }
}

const refusal = (name: string, code: string, text: string): BinaryNode =>
  node('collection', { name, type: 'error' }, [node('error', { code, text })]);
