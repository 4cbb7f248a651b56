/** Tells the server when a table has grown so much that plans made before are bad ones. */
import type { Database } from './database.ts';

/** Rows written by this process after which its statistics are taken; then after ten times as many. */
const firstCount = 1_000;
/** From here on the server's own turn, within a minute or so, is soon enough. */
const lastCount = 1_000_000;

/**
 * The server takes statistics of its own accord once a minute. A phone hands over 50,000 messages in three seconds. Until then, plans that were made
 * for a few rows read all rows of the instance (measured: 2,000 instead of 17,000 messages a second). Returns a function to be called with the number
 * of rows written. It neither waits nor fails: what did not work is done at the next count.
 */
export const growthOf = (database: Pick<Database, 'rows'>, table: string, columns: readonly string[]) => {
  const statement = { name: '', text: `analyze ${table} (${columns.join(', ')})` };
  let [written, next] = [0, firstCount];
  return (rows: number): void => {
    written += rows;
    if (written < next || next > lastCount) return;
    next *= 10;
    database.rows(statement, []).catch(() => undefined);
  };
};
