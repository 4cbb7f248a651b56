/** The main thread's side of the thread that reads an SQLite file. It asks for rows, and ends the thread. */
import { Worker } from 'node:worker_threads';
import { SourceFault } from './session.ts';
import type { SqliteAnswer, SqliteRequest } from './sqlite-worker.ts';

/** Milliseconds for one page of rows. A table of a real store is sorted in a second. */
const longestStepMs = 60_000;

interface Waiting {
  readonly resolve: (answer: SqliteAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** The rows of a query, a page at a time. */
type Pages = AsyncGenerator<readonly Readonly<Record<string, unknown>>[]>;

export interface SqliteThreadOptions {
  readonly path: string;
  /** Name of the file in error texts. */
  readonly name: string;
  /** Gives up a query under way, and ends the thread. */
  readonly signal: AbortSignal;
  /** Milliseconds for one page of rows. */
  readonly stepMs?: number;
}

export class SqliteThread {
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

  /** Rejects with `SourceFault` for a file that SQLite does not open. */
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
   * Idempotent. Requests under way are rejected. A thread in the middle of a query ends with that query, which no caller waits for. Every query ends:
   * views are dropped, and the expressions of a table have no loops.
   */
  close(): void {
    this.#fail(new SourceFault(`${this.#name} is closed`));
  }

  /** Sends a request, and waits for its answer. The request null waits for the first answer of the thread, which comes when the file is open. */
  async #ask(request: SqliteRequest | null): Promise<SqliteAnswer> {
    if (this.#fault !== null) throw this.#fault.error;
    // The opening includes the start of the thread.
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
