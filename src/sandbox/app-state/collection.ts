/** The collections of the app state. A collection is the result of all its patches. Also stores the patches, and makes snapshots of collections. */
import { createCipheriv, createHash, createHmac, hkdfSync } from 'node:crypto';
import { proto } from '@whiskeysockets/baileys';
import type { Digits } from '../interface.ts';
import type { Media } from '../media.ts';
import type { Random } from '../random.ts';
import type { Database } from '../store/database.ts';
import {
  type Action,
  emptyHash,
  macOfRecord,
  mixHash,
  type MutationKeys,
  open,
  type Operation,
  patchMacOf,
  REMOVE,
  same,
  SET,
  snapshotMacOf,
} from './codec.ts';

/** The names of the collections that the platform knows. */
export const collectionNames = ['critical_block', 'critical_unblock_low', 'regular_high', 'regular_low', 'regular'] as const;
export type CollectionName = (typeof collectionNames)[number];

export const isCollection = (name: string): name is CollectionName => (collectionNames as readonly string[]).includes(name);

/** The newest record of an index, encrypted (`record`) and decrypted (`action`). */
export interface CurrentRecord {
  readonly record: proto.ISyncdRecord;
  readonly action: Action;
  /** The version of the patch that wrote the record. */
  readonly since: number;
}

/** A key that the phone shared with its devices, and the keys that are derived from it to encrypt and verify records. */
export interface SharedKey {
  readonly id: Uint8Array;
  readonly keys: MutationKeys;
}

interface Change {
  readonly operation: Operation;
  readonly record: proto.ISyncdRecord;
  readonly action: Action;
}

/** Largest number of mutations in one patch. */
const maxMutations = 1000;

/** One collection of one account. Only `accept` changes it. */
export class Collection {
  version = 0;
  hash: Buffer = emptyHash;
  readonly records: ReadonlyMap<string, CurrentRecord> = new Map();
  readonly name: CollectionName;

  constructor(name: CollectionName) {
    this.name = name;
  }

  /** Computes the authentication code that the collection would have after the mutations. */
  snapshotMac(keys: MutationKeys, mutations: readonly proto.ISyncdMutation[] = [], version = this.version): Buffer {
    return snapshotMacOf(keys, this.#mixed(mutations), version, this.name);
  }

  /** Applies a patch to the current version. For a forged or malformed patch, returns the reason and leaves the collection unchanged. */
  accept(patch: proto.ISyncdPatch, key: SharedKey): string | undefined {
    const mutations = patch.mutations ?? [];
    if (mutations.length === 0 || mutations.length > maxMutations) return 'no mutations, or too many';
    const version = this.version + 1;
    let changes: Change[];
    try {
      changes = mutations.map((mutation) => openChange(mutation, key));
    } catch (error) {
      return error instanceof Error ? error.message : 'malformed';
    }
    if (!same(key.id, patch.keyId?.id)) return 'an unknown key';
    const snapshotMac = this.snapshotMac(key.keys, mutations, version);
    if (!same(snapshotMac, patch.snapshotMac)) return 'wrong snapshot mac';
    const macs = mutations.map(({ record }) => macOfRecord(record));
    if (!same(patchMacOf(key.keys, snapshotMac, macs, version, this.name), patch.patchMac)) return 'wrong patch mac';
    this.hash = this.#mixed(mutations);
    this.version = version;
    const records = this.records as Map<string, CurrentRecord>;
    for (const { operation, record, action } of changes) {
      if (operation === SET) records.set(nameOf(record), { record, action, since: version });
      else records.delete(nameOf(record));
    }
    return undefined;
  }

  /** Returns the hash of the collection after the mutations. A new record replaces the earlier record with the same index. */
  #mixed(mutations: readonly proto.ISyncdMutation[]): Buffer {
    const current = new Map<string, Buffer | undefined>();
    const removed: Buffer[] = [];
    const added: Buffer[] = [];
    for (const { operation, record } of mutations) {
      if (!record) continue;
      const name = nameOf(record);
      const stored = this.records.get(name);
      const before = current.has(name) ? current.get(name) : stored && macOfRecord(stored.record);
      if (before) removed.push(before);
      const mac = operation === REMOVE ? undefined : macOfRecord(record);
      if (mac) added.push(mac);
      current.set(name, mac);
    }
    return mixHash(this.hash, removed, added);
  }
}

const nameOf = (record: proto.ISyncdRecord): string => Buffer.from(record.index?.blob ?? []).toString('base64');

function openChange({ operation, record }: proto.ISyncdMutation, { id, keys }: SharedKey): Change {
  if (!record || (operation !== SET && operation !== REMOVE)) throw new Error('a mutation without a record or an operation');
  if (!same(id, record.keyId?.id)) throw new Error('an unknown key');
  return { operation, record, action: open(keys, id, operation, record) };
}

/** Stores the patches of the app state by account and collection in SQLite. Keeps the resulting collections in memory. */
export class Patches {
  readonly #put;
  readonly #after;
  readonly #drop;
  /** Collections, built from their patches on the first request. Empty collections are not cached. */
  readonly #collections = new Map<string, Collection>();

  constructor({ sql }: Database) {
    this.#put = sql.prepare('INSERT INTO patch VALUES (?, ?, ?, ?)');
    this.#after = sql.prepare(
      'SELECT version, value FROM patch WHERE owner = ? AND collection = ? AND version > ? ORDER BY version LIMIT ?',
    );
    this.#drop = sql.prepare('DELETE FROM patch WHERE owner = ? AND collection = ? AND version >= ?');
  }

  collection(owner: Digits, name: CollectionName, key: SharedKey): Collection {
    const known = this.#collections.get(`${owner} ${name}`);
    if (known) return known;
    const collection = new Collection(name);
    for (const patch of this.after(owner, name, 0, -1)) {
      if (collection.accept(proto.SyncdPatch.decode(patch), key) === undefined) continue;
      // Older versions of the sandbox stored patches without verification. This patch is not authentic, so it is deleted with all later patches.
      this.#drop.run(owner, name, collection.version + 1);
      break;
    }
    if (collection.version > 0) this.#collections.set(`${owner} ${name}`, collection);
    return collection;
  }

  /** Applies a patch and stores it. Returns the reason if the patch is refused. */
  add(owner: Digits, collection: Collection, patch: proto.ISyncdPatch, key: SharedKey): string | undefined {
    const refusal = collection.accept(patch, key);
    if (refusal !== undefined) return refusal;
    const { name, version } = collection;
    this.#collections.set(`${owner} ${name}`, collection);
    this.#put.run(owner, name, version, proto.SyncdPatch.encode({ ...patch, version: { version } }).finish());
    return undefined;
  }

  /** Drops the collections of an account from memory. */
  forget(owner: Digits): void {
    for (const name of collectionNames) this.#collections.delete(`${owner} ${name}`);
  }

  /** Returns the encoded patches after a version, in order. With `limit` −1, returns all of them. */
  after(owner: Digits, name: CollectionName, version: number, limit: number): Buffer[] {
    return this.#after.all(owner, name, version, limit).map((row) => Buffer.from(row['value'] as Uint8Array));
  }
}

// Snapshots: a whole collection as one encrypted file on the media host, for devices without any state of the collection.

interface Made {
  readonly version: number;
  readonly reference: Buffer;
}

export class Snapshots {
  /** The last file of each collection. A collection that did not change is not stored again. */
  readonly #made = new WeakMap<Collection, Made>();
  readonly #media: Media;
  readonly #random: Random;

  constructor(media: Media, random: Random) {
    this.#media = media;
    this.#random = random;
  }

  /** Returns the encoded reference to the file of the current version. */
  of(collection: Collection, key: SharedKey): Buffer {
    const known = this.#made.get(collection);
    if (known?.version === collection.version) return known.reference;
    const { version } = collection;
    const snapshot = proto.SyncdSnapshot.encode({
      version: { version },
      records: [...collection.records.values()].map(({ record }) => record),
      mac: collection.snapshotMac(key.keys),
      keyId: { id: key.id },
    }).finish();
    const reference = Buffer.from(proto.ExternalBlobReference.encode(this.#seal(snapshot)).finish());
    this.#made.set(collection, { version, reference });
    return reference;
  }

  #seal(plain: Uint8Array): proto.IExternalBlobReference {
    const mediaKey = this.#random.bytes(32);
    const keys = Buffer.from(hkdfSync('sha256', mediaKey, Buffer.alloc(0), 'WhatsApp App State Keys', 112));
    const [iv, cipherKey, macKey] = [keys.subarray(0, 16), keys.subarray(16, 48), keys.subarray(48, 80)];
    const cipher = createCipheriv('aes-256-cbc', cipherKey, iv);
    const ciphertext = Buffer.concat([cipher.update(plain), cipher.final()]);
    const mac = createHmac('sha256', macKey).update(iv).update(ciphertext).digest().subarray(0, 10);
    const file = Buffer.concat([ciphertext, mac]);
    return {
      mediaKey,
      directPath: this.#media.keepNow(file),
      fileSizeBytes: plain.length,
      fileSha256: hash(plain),
      fileEncSha256: hash(file),
    };
  }
}

const hash = (data: Uint8Array): Buffer => createHash('sha256').update(data).digest();
