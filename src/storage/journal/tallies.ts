/**
 * Tallies of waiting and past deliveries by webhook, without counting the deliveries. Every statement that changes deliveries adds a row with the
 * difference. The sum of a webhook's rows is its tally. The rows are folded from time to time. A single counter row for each webhook would be
 * locked by all instances in turn.
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

/** Parts of statements, for `with`: what happened to the rows of the expression before them. */
export const tallied = {
  /** Rows with webhook_id and size came into the outbox. */
  added: (rows: string): string => change(rows, { waiting: 'count(*)', bytes: 'sum(size)' }),
  /** Rows with webhook_id, not_before and size left the outbox. */
  removed: (rows: string): string => change(rows, { waiting: `-${waiting}`, parked: `-${parked}`, bytes: '-sum(size)' }),
  /** They became past ones, with dead. */
  archived: (rows: string): string => change(rows, { waiting: `-${waiting}`, parked: `-${parked}`, bytes: '-sum(size)', delivered, dead }),
  /** Rows with webhook_id and size came back, from past ones with dead. */
  replayed: (rows: string): string =>
    change(rows, { waiting: 'count(*)', bytes: 'sum(size)', delivered: `-${delivered}`, dead: `-${dead}` }),
  /** Rows with webhook_id that waited were parked. */
  parked: (rows: string): string => change(rows, { waiting: '-count(*)', parked: 'count(*)' }),
  /** Rows with webhook_id that were parked wait again. */
  hastened: (rows: string): string => change(rows, { waiting: 'count(*)', parked: '-count(*)' }),
  /** Past ones with webhook_id and dead were forgotten. */
  forgotten: (rows: string): string => change(rows, { delivered: `-${delivered}`, dead: `-${dead}` }),
} as const;

const fields = ['waiting', 'parked', 'bytes', 'delivered', 'dead'] as const;
const sums = fields.map((field) => `sum(${field})`);
const asNumbers = fields.map((field) => `sum(${field})::float8 as ${field}`).join(', ');

/** Rows that one statement folds at most. */
const foldedRows = 10_000;

export const tallyStatements = {
  of: {
    name: 'tally-of',
    text: `select webhook_id as "webhookId", ${asNumbers} from outbox_tally where webhook_id = any($1::text[]) group by webhook_id`,
  },
  all: { name: 'tally-all', text: `select webhook_id as "webhookId", ${asNumbers} from outbox_tally group by webhook_id` },
  newest: { name: 'tally-newest', text: `select max(id)::float8 as id from outbox_tally` },
  /**
   * $1 the newest row to fold, $2 the newest row after the last fold: only webhooks that have rows since then are folded. Sums of nothing go, and so do
   * those of webhooks that are gone. The table has no index by
   * webhook, so it is read once for each piece and joined: a filter by an array compares each row with each name (5 s for 10,000 webhooks).
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

/** Folds, in pieces, the rows that came since the last fold. Costs one look at an index when none came. */
export const createFold = (database: Database): (() => Promise<void>) => {
  let last = 0;
  const newest = async (): Promise<number> => (await database.rows<{ id: number | null }>(tallyStatements.newest, []))[0]?.id ?? 0;
  return async () => {
    const upTo = await newest();
    if (upTo === last) return;
    for (let folded = foldedRows; folded === foldedRows;) {
      const [row] = await database.rows<{ count: number }>(tallyStatements.fold, [upTo, last]);
      folded = row?.count ?? 0;
    }
    // The rows that the fold made count as folded. Those of others that came meanwhile are folded with the next change of their webhook.
    last = await newest();
  };
};
