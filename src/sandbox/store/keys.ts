/** One-time pre-keys of linked devices, and the Signal stores of the simulated phones. */
import { decode, encode, type Database } from './database.ts';

/** Public half of a one-time pre-key. */
export interface PreKey {
  readonly id: number;
  readonly value: Uint8Array;
}

export interface SignedPreKey {
  readonly id: number;
  readonly value: Uint8Array;
  readonly signature: Uint8Array;
}

/** A write of a Signal library: values by type and id. Null deletes the value. */
type SignalChanges = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export class KeyStore {
  readonly #db: Database;
  readonly #add;
  readonly #take;
  readonly #list;
  readonly #count;
  readonly #clear;
  readonly #get;
  readonly #put;
  readonly #drop;
  readonly #forget;
  readonly #forgetAll;

  constructor(db: Database) {
    const { sql } = db;
    this.#db = db;
    this.#add = sql.prepare('INSERT OR REPLACE INTO prekey VALUES (?, ?, ?)');
    this.#take = sql.prepare(
      'DELETE FROM prekey WHERE owner = ?1 AND id = (SELECT min(id) FROM prekey WHERE owner = ?1) RETURNING id, value',
    );
    this.#list = sql.prepare('SELECT id, value FROM prekey WHERE owner = ? ORDER BY id');
    this.#count = sql.prepare('SELECT count(*) AS n FROM prekey WHERE owner = ?');
    this.#clear = sql.prepare('DELETE FROM prekey WHERE owner = ?');
    this.#get = sql.prepare('SELECT value FROM signal WHERE owner = ? AND type = ? AND id = ?');
    this.#put = sql.prepare('INSERT INTO signal VALUES (?, ?, ?, ?) ON CONFLICT (owner, type, id) DO UPDATE SET value = excluded.value');
    this.#drop = sql.prepare('DELETE FROM signal WHERE owner = ? AND type = ? AND id = ?');
    this.#forgetAll = sql.prepare('DELETE FROM signal WHERE owner = ?');
    this.#forget = sql.prepare(
      "DELETE FROM signal WHERE owner = ? AND (type = 'sender-key' AND id = ? OR type = 'sender-key-memory' AND id = ?)",
    );
  }

  /** Deletes all sessions, sender keys and one-time keys of a phone. */
  forgetSignal(owner: string): void {
    this.#forgetAll.run(owner);
  }

  addPreKeys(owner: string, keys: readonly PreKey[]): void {
    this.#db.atomically(() => {
      for (const key of keys) this.#add.run(owner, key.id, key.value);
    });
  }

  /** Returns a one-time key and deletes it, so that it is used once. */
  takePreKey(owner: string): PreKey | undefined {
    const row = this.#take.get(owner);
    return row && { id: Number(row['id']), value: Buffer.from(row['value'] as Uint8Array) };
  }

  /** Returns the unused one-time keys, in the order of their ids. */
  preKeys(owner: string): PreKey[] {
    return this.#list.all(owner).map((row) => ({ id: Number(row['id']), value: Buffer.from(row['value'] as Uint8Array) }));
  }

  countPreKeys(owner: string): number {
    return Number(this.#count.get(owner)?.['n'] ?? 0);
  }

  dropPreKeys(owner: string): void {
    this.#clear.run(owner);
  }

  signal(owner: string, type: string, id: string): unknown {
    const row = this.#get.get(owner, type, id);
    return row && decode(row['value']);
  }

  putSignal(owner: string, changes: SignalChanges): void {
    for (const [type, values] of Object.entries(changes)) {
      for (const [id, value] of Object.entries(values)) {
        if (value === null || value === undefined) this.#drop.run(owner, type, id);
        else this.#put.run(owner, type, id, encode(value));
      }
    }
  }

  /** Deletes the sender key of `owner` in a group, for example after a member left. The next message then makes a new key. */
  forgetSenderKey(owner: string, lid: string, group: string): void {
    this.#forget.run(owner, `${group}::${lid}_1::0`, group);
  }
}
