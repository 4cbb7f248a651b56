/** Updates the statistics of a table that has grown so much that the cached plans are bad. */
import type { Database, Statement } from './database.ts';

/** The number of written rows at which this process updates the statistics for the first time. Each further update follows at ten times as many rows. */
const firstCount = 1_000;
/** The number of written rows after which PostgreSQL's own updates, about once a minute, suffice. */
const lastCount = 1_000_000;

/**
 * The growth of one table. PostgreSQL updates statistics only once a minute, and a phone sends 50,000 messages of its history in three seconds. Until the
 * update, plans that were made for few rows read all rows of the instance (measured: 2,000 instead of 17,000 messages a second).
 */
export class TableGrowth {
  readonly #database: Pick<Database, 'rows'>;
  readonly #statement: Statement;
  #written = 0;
  #next = firstCount;

  constructor(database: Pick<Database, 'rows'>, table: string, columns: readonly string[]) {
    this.#database = database;
    this.#statement = { name: '', text: `analyze ${table} (${columns.join(', ')})` };
  }

  /** Counts written rows. Neither waits nor throws. The next update compensates for a failed update. */
  add(rows: number): void {
    this.#written += rows;
    if (this.#written < this.#next || this.#next > lastCount) return;
    this.#next *= 10;
    this.#database.rows(this.#statement, []).catch(() => undefined);
  }
}
