/** Inserts large numbers of rows by SQL. Columns of a checkout that are not named stay empty. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '#actors/ports.ts';
import { openDatabase, type Database, type Limits } from '#src/storage/postgres/database.ts';
import { EmbeddedServer } from '#src/storage/postgres/embedded.ts';

export const quiet: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** Limits in milliseconds. To insert a group of rows or to analyze a million rows takes longer than a statement of the gateway may take. */
const limits: Limits = { statement: 120_000, connection: 3_000 };

const readIfThere = (path: string): Promise<string | null> => readFile(path, 'utf8').catch(() => null);

/**
 * Opens the database of a gateway that runs or has run in this folder. The server of an earlier revision has no password. The password that our start sets is
 * removed again at the end. Otherwise the earlier revision could not connect.
 */
export const withDatabase = async <T>(folder: string, work: (database: Database) => Promise<T>): Promise<T> => {
  const dataDir = join(folder, 'data');
  const [password, access] = [join(dataDir, 'postgres/password'), join(dataDir, 'postgres/data/pg_hba.conf')];
  const rules = (await readIfThere(password)) === null ? await readIfThere(access) : null;
  const server = await EmbeddedServer.start({ dataDir, log: quiet });
  const database = await openDatabase({ url: server.url, log: quiet, limits });
  try {
    return await work(database);
  } finally {
    if (rules !== null) {
      await writeFile(access, rules);
      await rm(password);
      await database.rows({ name: '', text: 'select pg_reload_conf()' }, []);
    }
    await database.close();
    await server.close(!server.adopted);
  }
};

/** Collects the statistics of the planner. Without the statistics some statements would read all messages of an instance. */
export const analyze = (folder: string): Promise<unknown> =>
  withDatabase(folder, (database) => database.rows({ name: '', text: 'analyze' }, []));

/** The number of rows of one statement. */
const group = 10_000;
const empty: Readonly<Record<string, string>> = {
  text: `''`,
  boolean: 'false',
  integer: '0',
  bigint: '0',
  ARRAY: `'{}'`,
  jsonb: `'{}'`,
  bytea: `''`,
};

/** Inserts rows. `columns` has the SQL expression of each column, in which `n` counts from 0. */
export const fill = async (database: Database, table: string, rows: number, columns: Readonly<Record<string, string>>): Promise<void> => {
  const needed = await database.rows<{ name: string; type: string }>(
    {
      name: '',
      text: `select column_name as name, data_type as type from information_schema.columns
        where table_schema = 'public' and table_name = $1 and is_nullable = 'NO' and column_default is null and is_generated = 'NEVER'`,
    },
    [table],
  );
  const values = { ...Object.fromEntries(needed.map(({ name, type }) => [name, empty[type] ?? 'null'])), ...columns };
  const text = `insert into ${table} (${Object.keys(values).join(', ')}) select ${Object.values(values).join(', ')}
    from generate_series($1::int, $2::int) as n`;
  for (let from = 0; from < rows; from += group) await database.rows({ name: '', text }, [from, Math.min(rows, from + group) - 1]);
  await database.rows({ name: '', text: `vacuum analyze ${table}` }, []);
};

/** Ends pending work of the PostgreSQL server on the inserted rows, such as dirty pages and vacuums. Otherwise this work would be part of the measurement. */
export const settle = async (database: Database): Promise<void> => {
  await database.rows({ name: '', text: 'checkpoint' }, []);
  const vacuums = { name: '', text: 'select pid from pg_stat_progress_vacuum' };
  while ((await database.rows(vacuums, [])).length > 0) await wait(500);
};
