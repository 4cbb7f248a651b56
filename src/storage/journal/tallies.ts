/**
 * Tallies of waiting and past deliveries by webhook, without counting the deliveries. Every statement that changes deliveries inserts a row with the
 * difference. The sum of a webhook's rows is its tally. From time to time the rows are folded into one. With a single counter row for each webhook,
 * all instances would contend for its lock.
 */
import type { Database, Statement } from '../postgres/database.ts';

const waiting = `count(*) filter (where not_before = 0)`;
const parked = `count(*) filter (where not_before > 0)`;
const delivered = `count(*) filter (where not dead)`;
const dead = `count(*) filter (where dead)`;

const change = (rows: string, changes: Readonly<Record<string, string>>): string =>
  `tallied as (
      insert into outbox_tally (webhook_id, ${Object.keys(changes).join(', ')})
      select webhook_id, ${Object.values(changes).join(', ')} from ${rows} group by webhook_id)`;

/** Common table expressions that record a change of the tallies. `rows`: the name of the expression that returns the changed rows. */
export const tallied = {
  /** Counts rows that were inserted into the outbox. The rows have `webhook_id` and `size`. */
  added: (rows: string): string => change(rows, { waiting: 'count(*)', bytes: 'sum(size)' }),
  /** Counts rows that were deleted from the outbox. The rows have `webhook_id`, `not_before` and `size`. */
  removed: (rows: string): string => change(rows, { waiting: `-${waiting}`, parked: `-${parked}`, bytes: '-sum(size)' }),
  /** Counts rows that moved from the outbox to the archive. The rows have `webhook_id`, `not_before`, `size` and `dead`. */
  archived: (rows: string): string => change(rows, { waiting: `-${waiting}`, parked: `-${parked}`, bytes: '-sum(size)', delivered, dead }),
  /** Counts rows that moved from the archive back to the outbox. The rows have `webhook_id`, `size` and `dead`. */
  replayed: (rows: string): string =>
    change(rows, { waiting: 'count(*)', bytes: 'sum(size)', delivered: `-${delivered}`, dead: `-${dead}` }),
  /** Counts waiting rows that were parked. The rows have `webhook_id`. */
  parked: (rows: string): string => change(rows, { waiting: '-count(*)', parked: 'count(*)' }),
  /** Counts parked rows that wait again. The rows have `webhook_id`. */
  hastened: (rows: string): string => change(rows, { waiting: 'count(*)', parked: '-count(*)' }),
  /** Counts rows that were deleted from the archive. The rows have `webhook_id` and `dead`. */
  forgotten: (rows: string): string => change(rows, { delivered: `-${delivered}`, dead: `-${dead}` }),
} as const;

const fields = ['waiting', 'parked', 'bytes', 'delivered', 'dead'] as const;
const sums = fields.map((field) => `sum(${field})`);
const asNumbers = fields.map((field) => `sum(${field})::float8 as ${field}`).join(', ');

/** The largest number of rows that one statement folds. */
const foldedRows = 10_000;

export const tallyStatements = {
  of: {
    name: 'tally-of',
    text: `select webhook_id as "webhookId", ${asNumbers} from outbox_tally where webhook_id = any($1::text[]) group by webhook_id`,
  },
  all: { name: 'tally-all', text: `select webhook_id as "webhookId", ${asNumbers} from outbox_tally group by webhook_id` },
  newest: { name: 'tally-newest', text: `select max(id)::float8 as id from outbox_tally` },
  /**
   * $1: the id of the newest row to fold. $2: the id of the newest row after the last fold. Only webhooks with newer rows are folded. Sums of zero and sums of
   * removed webhooks are not stored. The table has no index by webhook, so each batch reads the whole table and joins it. A filter by an array would compare
   * each row with each webhook (5 s for 10,000 webhooks).
   */
  fold: {
    name: 'tally-fold-changed',
    text: `with changed as materialized (select distinct webhook_id from outbox_tally where id > $2 and id <= $1),
      picked as materialized (
        select id from outbox_tally where id <= $1 and webhook_id in (select webhook_id from changed) order by webhook_id, id limit ${foldedRows}),
      gone as (delete from outbox_tally where id in (select id from picked) returning webhook_id, ${fields.join(', ')}),
      folded as (
        insert into outbox_tally (webhook_id, ${fields.join(', ')})
        select webhook_id, ${sums.join(', ')} from gone where webhook_id in (select id from webhook) group by webhook_id
        having ${sums.map((sum) => `${sum} <> 0`).join(' or ')})
      select count(*)::int as count from gone`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

/** Folds the rows of the tallies. */
export class TallyFold {
  readonly #database: Database;
  /** The id of the newest row after the last fold; 0 before the first fold. */
  #last = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Folds the rows since the last fold, in batches. Costs one index look-up if there are no such rows. */
  async run(): Promise<void> {
    const upTo = await this.#newest();
    if (upTo === this.#last) return;
    for (let folded = foldedRows; folded === foldedRows;) {
      const [row] = await this.#database.rows<{ count: number }>(tallyStatements.fold, [upTo, this.#last]);
      folded = row?.count ?? 0;
    }
    // The rows that this fold inserted count as folded. A row that another statement inserted meanwhile is folded at the next change of its webhook.
    this.#last = await this.#newest();
  }

  async #newest(): Promise<number> {
    return (await this.#database.rows<{ id: number | null }>(tallyStatements.newest, []))[0]?.id ?? 0;
  }
}
