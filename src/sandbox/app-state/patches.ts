/** The patches of shared settings by account and collection, in SQLite, and the collections that they add up to, in memory. */
import { proto } from '@whiskeysockets/baileys';
import type { Digits } from '../face.ts';
import type { Database } from '../store/database.ts';
import { Collection, collectionNames, type CollectionName, type SharedKey } from './collection.ts';

export class Patches {
  readonly #put;
  readonly #after;
  readonly #drop;
  /** Built from the patches when first asked for. Empty collections are not kept. */
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
      // Only a data folder of an older version holds patches that nobody checked.
      this.#drop.run(owner, name, collection.version + 1);
      break;
    }
    if (collection.version > 0) this.#collections.set(`${owner} ${name}`, collection);
    return collection;
  }

  /** Applies a patch and stores it. Returns why not when it is refused. */
  add(owner: Digits, collection: Collection, patch: proto.ISyncdPatch, key: SharedKey): string | undefined {
    const refusal = collection.accept(patch, key);
    if (refusal !== undefined) return refusal;
    const { name, version } = collection;
    this.#collections.set(`${owner} ${name}`, collection);
    this.#put.run(owner, name, version, proto.SyncdPatch.encode({ ...patch, version: { version } }).finish());
    return undefined;
  }

  /** Drops what is in memory of an account. */
  forget(owner: Digits): void {
    for (const name of collectionNames) this.#collections.delete(`${owner} ${name}`);
  }

  /** The encoded patches after a version, in order; `limit` −1: all. */
  after(owner: Digits, name: CollectionName, version: number, limit: number): Buffer[] {
    return this.#after.all(owner, name, version, limit).map((row) => Buffer.from(row['value'] as Uint8Array));
  }
}
