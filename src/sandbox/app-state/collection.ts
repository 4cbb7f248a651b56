/** One collection of shared settings of one account: what all its patches together say. */
import type { proto } from '@whiskeysockets/baileys';
import {
  emptyHash,
  macOfRecord,
  mixHash,
  open,
  patchMacOf,
  REMOVE,
  same,
  SET,
  snapshotMacOf,
  type Action,
  type MutationKeys,
  type Operation,
} from './codec.ts';

/** The collections of the platform. */
export const collectionNames = ['critical_block', 'critical_unblock_low', 'regular_high', 'regular_low', 'regular'] as const;
export type CollectionName = (typeof collectionNames)[number];

export const isCollection = (name: string): name is CollectionName => (collectionNames as readonly string[]).includes(name);

/** The current record of an index. */
export interface Entry {
  readonly record: proto.ISyncdRecord;
  readonly action: Action;
  /** The version of the patch that wrote it. */
  readonly since: number;
}

/** A key that the phone shared, by which records can be read. */
export interface SharedKey {
  readonly id: Uint8Array;
  readonly keys: MutationKeys;
}

interface Change {
  readonly operation: Operation;
  readonly record: proto.ISyncdRecord;
  readonly action: Action;
}

/** Mutations of one patch at most. */
const maxMutations = 1000;

/** An account's collection. It is changed by `accept` alone. */
export class Collection {
  version = 0;
  hash: Buffer = emptyHash;
  readonly entries: ReadonlyMap<string, Entry> = new Map();
  readonly name: CollectionName;

  constructor(name: CollectionName) {
    this.name = name;
  }

  /** The authentication code of the collection as it would be after these mutations. */
  snapshotMac(keys: MutationKeys, mutations: readonly proto.ISyncdMutation[] = [], version = this.version): Buffer {
    return snapshotMacOf(keys, this.#mixed(mutations), version, this.name);
  }

  /** Applies a patch on the current version. Returns why not when it is not authentic or malformed; then nothing has changed. */
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
    const entries = this.entries as Map<string, Entry>;
    for (const { operation, record, action } of changes) {
      if (operation === SET) entries.set(nameOf(record), { record, action, since: version });
      else entries.delete(nameOf(record));
    }
    return undefined;
  }

  /** A record that is written anew takes the place of the one before. */
  #mixed(mutations: readonly proto.ISyncdMutation[]): Buffer {
    const current = new Map<string, Buffer | undefined>();
    const removed: Buffer[] = [];
    const added: Buffer[] = [];
    for (const { operation, record } of mutations) {
      if (!record) continue;
      const name = nameOf(record);
      const stored = this.entries.get(name);
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
