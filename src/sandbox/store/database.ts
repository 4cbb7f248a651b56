/** The SQLite file with the state of the simulated platform. A kill at any time loses no acknowledged data. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { BufferJSON } from '@whiskeysockets/baileys';

/** `record` holds small JSON documents (people, devices, groups, settings). The other tables grow with traffic. */
const schema = `
  CREATE TABLE IF NOT EXISTS record (kind TEXT, id TEXT, value TEXT NOT NULL, PRIMARY KEY (kind, id)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS prekey (owner TEXT, id INTEGER, value BLOB NOT NULL, PRIMARY KEY (owner, id)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS signal (owner TEXT, type TEXT, id TEXT, value TEXT NOT NULL, PRIMARY KEY (owner, type, id)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS queue (seq INTEGER PRIMARY KEY AUTOINCREMENT, owner TEXT NOT NULL, key TEXT NOT NULL, node BLOB NOT NULL);
  CREATE INDEX IF NOT EXISTS queue_key ON queue (owner, key);
  CREATE TABLE IF NOT EXISTS message (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, owner TEXT NOT NULL, id TEXT NOT NULL, chat TEXT NOT NULL, author TEXT NOT NULL,
    at INTEGER NOT NULL, attempts INTEGER NOT NULL, confirmed TEXT NOT NULL, content BLOB, view TEXT, extra TEXT NOT NULL,
    UNIQUE (owner, id, author));
  CREATE INDEX IF NOT EXISTS message_owner ON message (owner, seq);
  CREATE INDEX IF NOT EXISTS message_received ON message (owner, chat, seq) WHERE view IS NOT NULL;
  CREATE TABLE IF NOT EXISTS sent (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, value TEXT NOT NULL, status TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS post (channel TEXT, server_id INTEGER, id TEXT NOT NULL, author TEXT NOT NULL, at INTEGER NOT NULL,
    edited_at INTEGER NOT NULL, changed_at INTEGER NOT NULL, content BLOB, PRIMARY KEY (channel, server_id), UNIQUE (channel, id)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS post_view (channel TEXT, server_id INTEGER, number TEXT, PRIMARY KEY (channel, server_id, number)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS post_reaction (channel TEXT, server_id INTEGER, number TEXT, code TEXT NOT NULL,
    PRIMARY KEY (channel, server_id, number)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS patch (owner TEXT, collection TEXT, version INTEGER, value BLOB NOT NULL,
    PRIMARY KEY (owner, collection, version)) WITHOUT ROWID;
`;

export class Database {
  readonly sql: DatabaseSync;
  #depth = 0;
  #after: (() => void)[] = [];

  /** Opens the database file. Throws if another process uses the same data folder. */
  constructor(dataDir: string) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    this.sql = new DatabaseSync(join(dataDir, 'sandbox.sqlite'));
    // In WAL mode, NORMAL keeps every commit if the process is killed. Only a power failure could lose the last commits.
    this.sql.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
    this.sql.exec(schema);
  }

  /** Runs `work` in one transaction. Nested calls join the outer transaction. `work` must be synchronous. */
  atomically<T>(work: () => T): T {
    if (this.#depth > 0) return work();
    this.#depth = 1;
    this.sql.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.sql.exec('COMMIT');
      return result;
    } catch (error) {
      this.#after = [];
      this.sql.exec('ROLLBACK');
      throw error;
    } finally {
      this.#depth = 0;
      const after = this.#after.splice(0);
      for (const effect of after) effect();
    }
  }

  /** Runs `effect` after the current transaction is committed. A stanza is therefore stored before it is sent. */
  afterCommit(effect: () => void): void {
    if (this.#depth > 0) this.#after.push(effect);
    else effect();
  }

  close(): void {
    this.sql.close();
  }
}

/** JSON documents by kind and id. Buffers in them stay Buffers. */
export class Records {
  readonly #all;
  readonly #one;
  readonly #put;
  readonly #drop;

  constructor({ sql }: Database) {
    this.#all = sql.prepare('SELECT value FROM record WHERE kind = ? ORDER BY id');
    this.#one = sql.prepare('SELECT value FROM record WHERE kind = ? AND id = ?');
    this.#put = sql.prepare('INSERT INTO record VALUES (?, ?, ?) ON CONFLICT (kind, id) DO UPDATE SET value = excluded.value');
    this.#drop = sql.prepare('DELETE FROM record WHERE kind = ? AND id = ?');
  }

  all<T>(kind: string): T[] {
    return this.#all.all(kind).map((row) => decode<T>(row['value']));
  }

  get<T>(kind: string, id: string): T | undefined {
    const row = this.#one.get(kind, id);
    return row && decode<T>(row['value']);
  }

  put(kind: string, id: string, value: unknown): void {
    this.#put.run(kind, id, encode(value));
  }

  drop(kind: string, id: string): void {
    this.#drop.run(kind, id);
  }
}

/** Encodes a value as JSON text from which `decode` restores Buffers. */
export const encode = (value: unknown): string => JSON.stringify(value, BufferJSON.replacer);

export const decode = <T>(text: unknown): T => JSON.parse(String(text), BufferJSON.reviver) as T;
