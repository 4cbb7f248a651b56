/** Reads the PostgreSQL database of another program in a read-only transaction. */
import { Client } from 'pg';
import { SourceFault } from './session.ts';

/** One snapshot of the database. All answers show the same state. */
export interface SourceDatabase {
  /** Returns rows. Like `stream` and `columns`, it throws `SourceFault` if the database refuses the statement or does not answer. */
  rows<Row extends object>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Streams rows in batches, so memory does not grow with the table. Other statements may run between two rows. */
  stream<Row extends object>(text: string, values?: readonly unknown[]): AsyncIterable<Row>;
  /** Returns the names of the columns of a table or view in the search path, in their original spelling. Returns an empty set if the table does not exist. */
  columns(table: string): Promise<ReadonlySet<string>>;
  close(): Promise<void>;
}

const connectionMs = 10_000;
const rowsAtOnce = 200;

/** Returns an address without its password, for error texts. */
const shownUrl = (url: string): string => {
  const parsed = URL.parse(url);
  return parsed === null ? 'the given address' : `${parsed.protocol}//${parsed.host}${parsed.pathname}`;
};

/** Returns the driver's error text. It may name hosts, tables and users, but no password. */
const reasonOf = (error: unknown): string =>
  (error instanceof AggregateError ? String(error.errors[0]) : String(error)).replace(/^(?:error|Error): /, '');

/** A read-only transaction on one connection. BIGINT arrives as text. */
export class PostgresSource implements SourceDatabase {
  readonly #url: string;
  readonly #client: Client;
  #cursors = 0;

  /** `client`: a connection with an open transaction. */
  private constructor(url: string, client: Client) {
    this.#url = url;
    this.#client = client;
  }

  /** Opens the transaction. Throws `SourceFault` when the database does not answer. */
  static async open(url: string): Promise<PostgresSource> {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: connectionMs, application_name: 'dormouse-import' });
    // A connection that ends between two statements is reported by the next statement.
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query('begin transaction isolation level repeatable read read only');
    } catch (error) {
      await client.end().catch(() => undefined);
      throw new SourceFault(`The database at ${shownUrl(url)} cannot be read: ${reasonOf(error)}`);
    }
    return new PostgresSource(url, client);
  }

  async rows<Row extends object>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    try {
      return (await this.#client.query<Row>(text, [...values])).rows;
    } catch (error) {
      throw new SourceFault(`The database at ${shownUrl(this.#url)} cannot be read any further: ${reasonOf(error)}`);
    }
  }

  async *stream<Row extends object>(text: string, values: readonly unknown[] = []): AsyncIterable<Row> {
    const name = `moving_${(this.#cursors += 1)}`;
    await this.rows(`declare ${name} no scroll cursor for ${text}`, values);
    for (;;) {
      const piece = await this.rows<Row>(`fetch ${rowsAtOnce} from ${name}`);
      yield* piece;
      if (piece.length < rowsAtOnce) break;
    }
    await this.rows(`close ${name}`);
  }

  async columns(table: string): Promise<ReadonlySet<string>> {
    const found = await this.rows<{ name: string }>(
      `select attname as name from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped`,
      [`"${table}"`],
    );
    return new Set(found.map(({ name }) => name));
  }

  close(): Promise<void> {
    return this.#client.end().catch(() => undefined);
  }
}
