/** Storage of the stanzas that wait for the confirmation of a linked device, and of the messages that were sent through the control interface. */
import type { Content, Digits } from '../interface.ts';
import { type Database, decode, encode } from './database.ts';

/** A message that was sent through the HTTP interface of the simulated platform. */
export interface SentMessage {
  readonly id: string;
  readonly from: Digits;
  /** Digits, or the jid of a group. */
  readonly to: string;
  /** The time of the message, in Unix milliseconds. */
  readonly at: number;
  readonly kind: Content['kind'];
  /** The text, the caption, or a short summary of the content. */
  readonly text: string;
  /** The message to which a reaction, an edit, a deletion, a vote or a reply refers. */
  readonly about?: string;
  readonly status: SentStatus;
}
export type SentStatus = 'sent' | 'delivered' | 'read' | 'played';

/** The stored log of sent messages. */
export interface SentStorage {
  /** Returns all messages, oldest first. */
  all(): readonly SentMessage[];
  /** Stores a message, and deletes all but the newest `most`. */
  put(message: SentMessage, most: number): void;
  confirm(id: string, status: SentStatus): void;
}

export interface Queued {
  readonly seq: number;
  readonly node: Uint8Array;
}

/** Largest number of waiting stanzas of one device. The bound protects the disk from a device that never returns. */
const maxQueued = 100_000;

export class QueueStore {
  readonly #add;
  readonly #list;
  readonly #drop;
  readonly #clear;
  readonly #counts = new Map<string, number>();

  constructor({ sql }: Database) {
    this.#add = sql.prepare('INSERT INTO queue (owner, key, node) VALUES (?, ?, ?) RETURNING seq');
    this.#list = sql.prepare('SELECT seq, node FROM queue WHERE owner = ? AND seq > ? ORDER BY seq LIMIT 200');
    this.#drop = sql.prepare('DELETE FROM queue WHERE owner = ? AND key = ?');
    this.#clear = sql.prepare('DELETE FROM queue WHERE owner = ?');
    for (const row of sql.prepare('SELECT owner, count(*) AS n FROM queue GROUP BY owner').all()) {
      this.#counts.set(String(row['owner']), Number(row['n']));
    }
  }

  /** Adds a stanza. `key` is the key by which a confirmation finds the stanza. Returns false if the queue is full. */
  add(owner: string, key: string, node: Uint8Array): boolean {
    const count = this.count(owner);
    if (count >= maxQueued) return false;
    this.#add.get(owner, key, node);
    this.#counts.set(owner, count + 1);
    return true;
  }

  /** Returns the next waiting stanzas after `seq`, oldest first. */
  after(owner: string, seq: number): Queued[] {
    return this.#list.all(owner, seq).map((row) => ({ seq: Number(row['seq']), node: row['node'] as Uint8Array }));
  }

  /** Deletes the stanzas with this key, and returns their number. */
  drop(owner: string, key: string): number {
    const changes = Number(this.#drop.run(owner, key).changes);
    if (changes > 0) this.#counts.set(owner, this.count(owner) - changes);
    return changes;
  }

  clear(owner: string): void {
    this.#clear.run(owner);
    this.#counts.delete(owner);
  }

  count(owner: string): number {
    return this.#counts.get(owner) ?? 0;
  }
}

/** Storage of messages that were sent through the control interface. The page shows them after a restart, too. */
export class SentStore implements SentStorage {
  readonly #all;
  readonly #put;
  readonly #confirm;
  readonly #clear;

  constructor({ sql }: Database) {
    this.#all = sql.prepare('SELECT value, status FROM sent ORDER BY seq');
    this.#put = sql.prepare('INSERT OR IGNORE INTO sent (id, value, status) VALUES (?, ?, ?)');
    this.#confirm = sql.prepare('UPDATE sent SET status = ? WHERE id = ?');
    this.#clear = sql.prepare('DELETE FROM sent WHERE seq <= (SELECT max(seq) FROM sent) - ?');
  }

  all(): readonly SentMessage[] {
    return this.#all.all().map(({ value, status }) => ({
      ...decode<Omit<SentMessage, 'status'>>(value),
      status: String(status) as SentMessage['status'],
    }));
  }

  put({ status, ...message }: SentMessage, most: number): void {
    this.#put.run(message.id, encode(message), status);
    this.#clear.run(most);
  }

  confirm(id: string, status: SentMessage['status']): void {
    this.#confirm.run(status, id);
  }
}
