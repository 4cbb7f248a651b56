/** Reads an SQLite file of another program from a copy, so that the source stays as it is, byte by byte. */
import { constants } from 'node:fs';
import { copyFile, mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import type { SourceDatabase } from './postgres.ts';
import { SourceFault } from './session.ts';

/** The database file, what was committed and not yet moved into it, and what an interrupted transaction has to undo. */
const parts = ['', '-wal', '-shm', '-journal'] as const;
const magic = Buffer.from('SQLite format 3\0');
/** The rows of a stream are read on the event loop, which others get in between. */
const rowsATurn = 200;

/** Returns the sentence of SQLite, which names tables alone, or the code of an error of the system, whose sentence would name paths. */
const reasonOf = (error: unknown): string => {
  const code = (error as NodeJS.ErrnoException | null)?.code ?? '';
  if (code === 'ENOSPC') return 'there is no room for its copy in the temporary folder (TMPDIR names another one)';
  if (/^E[A-Z]+$/.test(code)) return code;
  return error instanceof Error ? error.message : String(error);
};

const checkHeader = async (path: string): Promise<void> => {
  const file = await open(path, 'r').catch((error: unknown) => {
    throw new SourceFault(`${basename(path)} cannot be read: ${reasonOf(error)}`);
  });
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(magic.length), 0, magic.length, 0).catch((error: unknown) => {
      throw new SourceFault(`${basename(path)} cannot be read: ${reasonOf(error)}`);
    });
    if (bytesRead < magic.length || !buffer.equals(magic))
      throw new SourceFault(`${basename(path)} is not an SQLite database, or it is encrypted`);
  } finally {
    await file.close();
  }
};

/** Returns size and time of the last write of every part, with '' for a part that does not exist. */
const print = async (path: string): Promise<string> => {
  const all = await Promise.all(parts.map((part) => stat(`${path}${part}`).catch(() => null)));
  // A reader changes the index of the log (`-shm`) too.
  return all.map((one, at) => (one === null || parts[at] === '-shm' ? '' : `${one.size}:${one.mtimeMs}`)).join();
};

const copyParts = async (path: string, folder: string): Promise<string> => {
  const before = await print(path);
  for (const part of parts) {
    const target = join(folder, `${basename(path)}${part}`);
    await copyFile(`${path}${part}`, target, constants.COPYFILE_FICLONE).catch((error: unknown) => {
      if (part === '' || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    });
  }
  if ((await print(path)) !== before)
    throw new SourceFault(`${basename(path)} was written while it was copied: stop the program that uses it first`);
  return join(folder, basename(path));
};

/**
 * Moves everything into the one file, after which SQLite opens no other. Drops the views of the copy: a recursive view in the place of a table has rows
 * without end, which would fill the memory.
 */
const settle = (database: DatabaseSync): void => {
  database.exec('pragma locking_mode = exclusive; pragma temp_store = memory; pragma trusted_schema = off');
  database.prepare('pragma journal_mode = delete').get();
  const views = database.prepare(`select name from sqlite_schema where type = 'view'`).all();
  for (const { name } of views) database.exec(`drop view "${String(name).replaceAll('"', '""')}"`);
  database.exec('pragma query_only = on');
};

/** Makes Buffers of bytes, which libsignal demands, and text of numbers that JavaScript cannot hold, as `pg` does. */
const valueOf = (value: unknown): unknown => {
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (typeof value !== 'bigint') return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
};

const rowOf = <Row extends object>(row: object): Row =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, valueOf(value)])) as Row;

/** Names values `$1`, `$2`, as statements for PostgreSQL do. */
const named = (values: readonly unknown[]): Record<string, SQLInputValue> =>
  Object.fromEntries(values.map((value, at) => [`$${at + 1}`, value as SQLInputValue]));

const sourceOf = (database: DatabaseSync, path: string, removed: () => Promise<void>): SourceDatabase => {
  const iterate = function* (text: string, values: readonly unknown[]): Generator<object> {
    try {
      const statement = database.prepare(text);
      statement.setReadBigInts(true);
      yield* statement.iterate(named(values)) as Iterable<object>;
    } catch (error) {
      throw new SourceFault(`${basename(path)} cannot be read any further: ${reasonOf(error)}`);
    }
  };
  return {
    rows: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      [...iterate(text, values)].map((row) => rowOf<Row>(row)),
    async *stream<Row extends object>(text: string, values: readonly unknown[] = []) {
      let count = 0;
      for (const row of iterate(text, values)) {
        yield rowOf<Row>(row);
        if ((count += 1) % rowsATurn === 0) await turn();
      }
    },
    columns: async (table) =>
      new Set([...iterate('select name from pragma_table_info($1)', [table])].map((row) => rowOf<{ name: string }>(row).name)),
    async close() {
      database.close();
      await removed();
    },
  };
};

/**
 * Copies the file with its log to a folder that only this user can enter, and opens the copy. The copy holds private keys: its name is removed as soon as
 * it is open, so that a killed process leaves nothing behind. Where the system keeps the names of open files, `close` removes it. Throws `SourceFault`.
 */
export const openSqlite = async (path: string): Promise<SourceDatabase> => {
  await checkHeader(path);
  const folder = await mkdtemp(join(tmpdir(), 'dormouse-import-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true }).catch(() => undefined);
  try {
    const database = new DatabaseSync(await copyParts(path, folder));
    try {
      settle(database);
      await remove();
      return sourceOf(database, path, remove);
    } catch (error) {
      database.close();
      throw error;
    }
  } catch (error) {
    await remove();
    throw error instanceof SourceFault ? error : new SourceFault(`${basename(path)} cannot be read: ${reasonOf(error)}`);
  }
};
