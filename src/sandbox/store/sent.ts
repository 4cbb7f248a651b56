/** Storage of what people sent through the control interface. The page shows it after a restart, too. */
import type { SentStorage, SentMessage } from '../control/sent-log.ts';
import { decode, encode, type Database } from './database.ts';

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
