/** Reads an SQLite file of another program from a copy, in a thread. The source does not change by a byte. */
import { constants } from 'node:fs';
import { copyFile, mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { SourceDatabase } from './postgres.ts';
import { SourceFault } from './session.ts';
import type { SqliteAnswer, SqliteRequest } from './sqlite-worker.ts';

// The main thread's part of the SQLite reader. It requests rows, and ends the thread.

/** Time-out of one page of rows. Sorting a table of a real store needs a second. In milliseconds. */
const longestStepMs = 60_000;

interface Waiting {
  readonly resolve: (answer: SqliteAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** The rows of a query, a page at a time. */
type Pages = AsyncGenerator<readonly Readonly<Record<string, unknown>>[]>;

interface SqliteThreadOptions {
  readonly path: string;
  /** Name of the file in error texts. */
  readonly name: string;
  /** A signal that aborts the running query, and ends the thread. */
  readonly signal: AbortSignal;
  /** The time-out of one page of rows. In milliseconds. */
  readonly stepMs?: number;
}

class SqliteThread {
  readonly #worker: Worker;
  readonly #name: string;
  readonly #signal: AbortSignal;
  readonly #stepMs: number;
  /** Open requests, in the order of the answers. */
  readonly #waiting: Waiting[] = [];
  #fault: { readonly error: unknown } | null = null;
  #queries = 0;
  readonly #abort = (): void => this.#fail(this.#signal.reason);

  private constructor({ path, name, signal, stepMs = longestStepMs }: SqliteThreadOptions) {
    this.#name = name;
    this.#signal = signal;
    this.#stepMs = stepMs;
    this.#worker = new Worker(new URL('./sqlite-worker.ts', import.meta.url), { workerData: { path }, env: {}, execArgv: [] });
    this.#worker.on('message', (answer: SqliteAnswer) => this.#waiting.shift()?.resolve(answer));
    this.#worker.on('error', (error) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(new SourceFault(`${name} cannot be read any further: its reader ended`)));
    signal.addEventListener('abort', this.#abort, { once: true });
  }

  /** Opens a file in a new thread. Rejects with `SourceFault` if SQLite cannot open the file. */
  static async open(options: SqliteThreadOptions): Promise<SqliteThread> {
    options.signal.throwIfAborted();
    const thread = new SqliteThread(options);
    try {
      const answer = await thread.#ask(null);
      if (!answer.ok) throw new SourceFault(`${options.name} cannot be read: ${answer.message}`);
      return thread;
    } catch (error) {
      thread.close();
      throw error;
    }
  }

  /** Reads the rows of a query. Throws `SourceFault`. */
  async *pages(text: string, values: readonly unknown[]): Pages {
    const query = (this.#queries += 1);
    let isLast = false;
    try {
      for (let kind: 'begin' | 'next' = 'begin'; !isLast; kind = 'next') {
        const answer = await this.#ask(kind === 'begin' ? { kind, query, text, values } : { kind, query });
        isLast = !answer.ok || answer.isLast;
        if (!answer.ok) throw new SourceFault(`${this.#name} cannot be read any further: ${answer.message}`);
        yield answer.rows;
      }
    } finally {
      if (!isLast && this.#fault === null) await this.#ask({ kind: 'end', query });
    }
  }

  /**
   * Ends the thread. Idempotent. Requests under way are rejected. A thread that is in the middle of a query ends after that query, and no caller waits for the
   * thread. Every query ends, because views are dropped, and expressions in a table have no loops.
   */
  close(): void {
    this.#fail(new SourceFault(`${this.#name} is closed`));
  }

  /** Sends a request, and waits for its answer. The request null waits for the first answer of the thread, which reports that the file is open. */
  async #ask(request: SqliteRequest | null): Promise<SqliteAnswer> {
    if (this.#fault !== null) throw this.#fault.error;
    // The time-out of the first answer is fixed, because this answer includes the start of the thread.
    const ms = request === null ? longestStepMs : this.#stepMs;
    const tooLong = new SourceFault(`${this.#name} cannot be read any further: a query takes longer than ${ms / 1_000} s`);
    const limit = setTimeout(() => this.#fail(tooLong), ms);
    try {
      return await new Promise<SqliteAnswer>((resolve, reject) => {
        this.#waiting.push({ resolve, reject });
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A thread has no origin.
        if (request !== null) this.#worker.postMessage(request);
      });
    } finally {
      clearTimeout(limit);
    }
  }

  #fail(error: unknown): void {
    if (this.#fault !== null) return;
    this.#fault = { error };
    this.#signal.removeEventListener('abort', this.#abort);
    for (const { reject } of this.#waiting.splice(0)) reject(error);
    void this.#worker.terminate();
  }
}

// Reads an SQLite file of another program from a copy. The source is never written.

/** The database file, its write-ahead log with committed changes, the index of that log, and the journal of an interrupted transaction. */
const parts = ['', '-wal', '-shm', '-journal'] as const;
const magic = Buffer.from('SQLite format 3\0');

/** Returns SQLite's error text, which names only tables. For a system error it returns the code, because the text would name paths. */
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
  // A reader also changes the index of the log (`-shm`), so this file is ignored.
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

/** Turns bytes into Buffers, which libsignal requires. */
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
 * Copies the file with its write-ahead log to a folder that only this user can enter. Opens the copy in a thread of its own. The copy contains private keys.
 * Its name is removed as soon as the copy is open, so that a killed process leaves no copy behind. If the system does not allow that, `close` removes the name.
 * Throws `SourceFault`. The signal ends the thread. `stepMs` is the time-out of a page of rows.
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
