/**
 * The thread that reads one SQLite file. A query of a foreign database may take any time. In the main thread, `DatabaseSync` would block the event loop
 * meanwhile.
 */
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

/** A request. `begin` opens a query, `next` answers with its next rows. */
export type SqliteRequest =
  | { readonly kind: 'begin'; readonly query: number; readonly text: string; readonly values: readonly unknown[] }
  | { readonly kind: 'next'; readonly query: number }
  | { readonly kind: 'end'; readonly query: number };

/** The answer to each request, in order. `isLast` is true at the end of the query. */
export type SqliteAnswer =
  | { readonly ok: true; readonly rows: readonly Readonly<Record<string, unknown>>[]; readonly isLast: boolean }
  | { readonly ok: false; readonly message: string };

/** The bounds of a page of rows. A page ends at the first bound that is reached. The main thread handles such a page within a few milliseconds. */
const [mostRows, mostBytes] = [200, 256 * 1024] as const;
/** Largest size of one value. The largest records, sender keys of large groups, have some hundred kilobytes. In bytes. */
const longestValue = 4 << 20;

/**
 * Moves the write-ahead log into the main file, so SQLite opens no other file. Drops the views of the copy. An upload could replace a table by a recursive
 * view, which returns rows without end.
 */
const settle = (database: DatabaseSync): void => {
  database.exec('pragma locking_mode = exclusive; pragma temp_store = memory; pragma trusted_schema = off');
  database.prepare('pragma journal_mode = delete').get();
  const views = database.prepare(`select name from sqlite_schema where type = 'view'`).all();
  for (const { name } of views) database.exec(`drop view "${String(name).replaceAll('"', '""')}"`);
  database.exec('pragma query_only = on');
};

/** Turns integers that JavaScript cannot represent exactly into text, as `pg` does. */
const valueOf = (value: unknown): unknown => {
  if (typeof value !== 'bigint') return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
};

const sizeOf = (value: unknown): number =>
  typeof value === 'string' ? value.length * 2 : value instanceof Uint8Array ? value.byteLength : 8;

/** Names values `$1`, `$2`, as statements for PostgreSQL do. */
const named = (values: readonly unknown[]): Record<string, SQLInputValue> =>
  Object.fromEntries(values.map((value, at) => [`$${at + 1}`, value as SQLInputValue]));

const pageOf = (rows: Iterator<object>): SqliteAnswer => {
  const page: Record<string, unknown>[] = [];
  for (let bytes = 0; page.length < mostRows && bytes < mostBytes;) {
    const { value, done } = rows.next();
    if (done === true) return { ok: true, rows: page, isLast: true };
    const row = Object.fromEntries(Object.entries(value as object).map(([name, one]) => [name, valueOf(one)]));
    for (const one of Object.values(row)) bytes += sizeOf(one);
    page.push(row);
  }
  return { ok: true, rows: page, isLast: false };
};

const answering = (work: () => SqliteAnswer): SqliteAnswer => {
  try {
    return work();
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
};

const nothing: SqliteAnswer = { ok: true, rows: [], isLast: true };

const serve = (port: NonNullable<typeof parentPort>, path: string): void => {
  let database: DatabaseSync | null = null;
  const queries = new Map<number, Iterator<object>>();
  port.postMessage(
    answering(() => {
      database = new DatabaseSync(path, { limits: { length: longestValue } });
      settle(database);
      return nothing;
    }),
  );
  const answer = (request: SqliteRequest): SqliteAnswer => {
    if (request.kind === 'end') {
      queries.get(request.query)?.return?.();
      queries.delete(request.query);
      return nothing;
    }
    if (request.kind === 'begin') {
      const statement = database?.prepare(request.text);
      statement?.setReadBigInts(true);
      queries.set(request.query, (statement?.iterate(named(request.values)) ?? []) as Iterator<object>);
    }
    const rows = queries.get(request.query);
    return rows === undefined ? nothing : pageOf(rows);
  };
  port.on('message', (request: SqliteRequest) => port.postMessage(answering(() => answer(request))));
};

if (parentPort !== null) serve(parentPort, String((workerData as { readonly path: unknown }).path));
