/** Removes old rows of tables that have an index on `at`. */
import type { Database, Statement } from '../postgres/database.ts';

/** Removes rows of `table` whose `at` is before $1 (Unix milliseconds), at most $2 of them, oldest first. */
export const expireStatement = (name: string, table: string): Statement => ({
  name,
  text: `with gone as (
      delete from ${table} where ctid = any(array(select ctid from ${table} where at < $1 order by at limit $2)) and at < $1 returning 1)
    select count(*)::int as count from gone`,
});

/** Runs the statement and returns the number of removed rows. */
export const expireRows =
  (database: Database, statement: Statement) =>
  async (before: number, limit: number): Promise<number> =>
    (await database.rows<{ count: number }>(statement, [before, limit]))[0]?.count ?? 0;
