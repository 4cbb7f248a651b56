/** Reads an SQLite file of another program from a copy, so that the source stays as it is, byte by byte. */
import { constants } from 'node:fs';
import { copyFile, mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { SourceDatabase } from './postgres.ts';
import { SourceFault } from './session.ts';
import { SqliteThread } from './sqlite-thread.ts';

/** The database file, what was committed and not yet moved into it, and what an interrupted transaction has to undo. */
const parts = ['', '-wal', '-shm', '-journal'] as const;
const magic = Buffer.from('SQLite format 3\0');

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

/** Turns bytes into Buffers, which libsignal demands. */
const rowOf = <Row extends object>(row: object): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value,
    ]),
  ) as Row;

const sourceOf = (thread: SqliteThread, removed: () => Promise<void>): SourceDatabase => {
  async function* stream<Row extends object>(text: string, values: readonly unknown[] = []): AsyncIterable<Row> {
    for await (const page of thread.pages(text, values)) for (const row of page) yield rowOf<Row>(row);
  }
  return {
    rows: <Row extends object>(text: string, values?: readonly unknown[]) => Array.fromAsync(stream<Row>(text, values)),
    stream,
    columns: async (table) =>
      new Set(await Array.fromAsync(stream<{ name: string }>('select name from pragma_table_info($1)', [table]), ({ name }) => name)),
    async close() {
      thread.close();
      await removed();
    },
  };
};

/**
 * Copies the file with its log to a folder that only this user can enter. Opens the copy in a thread of its own. The copy holds private keys. Its
 * name is removed as soon as the copy is open, so that a killed process leaves nothing behind. If the system does not allow that, `close` removes the
 * name. Throws `SourceFault`. The signal ends the thread; `stepMs` bounds the time of a page of rows.
 */
export const openSqlite = async (path: string, signal = new AbortController().signal, stepMs?: number): Promise<SourceDatabase> => {
  await checkHeader(path);
  const folder = await mkdtemp(join(tmpdir(), 'dormouse-import-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true }).catch(() => undefined);
  try {
    const copy = await copyParts(path, folder).catch((error: unknown) => {
      throw error instanceof SourceFault ? error : new SourceFault(`${basename(path)} cannot be read: ${reasonOf(error)}`);
    });
    const thread = await SqliteThread.open({ path: copy, name: basename(path), signal, ...(stepMs && { stepMs }) });
    await remove();
    return sourceOf(thread, remove);
  } catch (error) {
    await remove();
    throw error;
  }
};
