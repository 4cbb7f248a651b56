/**
 * Opens databases of whatsmeow, and reads their tables (tulir/whatsmeow, `store/sqlstore/upgrades`) of any schema. A table that does not exist is not queried.
 */
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { PostgresSource, type SourceDatabase } from '../postgres.ts';
import { type Found, SourceFault, type SourceOptions } from '../session.ts';
import { openSqlite } from '../sqlite.ts';
import { deviceColumns, type DeviceFacts } from './device.ts';
import { bareUser, deviceJid, type LidMap, type Row, textIn } from './rows.ts';

// Reads the tables of whatsmeow, of any schema.

/** Largest number of names in one statement that looks up mappings. */
const namesAtOnce = 400;

interface Table {
  readonly name: string;
  /** The column with the jid of the own device. */
  readonly owner: 'jid' | 'our_jid';
}

const preKeys: Table = { name: 'whatsmeow_pre_keys', owner: 'jid' };
const identities: Table = { name: 'whatsmeow_identity_keys', owner: 'our_jid' };
const sessions: Table = { name: 'whatsmeow_sessions', owner: 'our_jid' };
const senderKeys: Table = { name: 'whatsmeow_sender_keys', owner: 'our_jid' };
const sharedKeys: Table = { name: 'whatsmeow_app_state_sync_keys', owner: 'jid' };
const tokens: Table = { name: 'whatsmeow_privacy_tokens', owner: 'our_jid' };
const contacts: Table = { name: 'whatsmeow_contacts', owner: 'our_jid' };
export const tables = { preKeys, identities, sessions, senderKeys, sharedKeys, tokens, contacts } as const;

/** Tables that some programs store in a separate database. */
const keyTables: ReadonlySet<Table> = new Set([preKeys, identities, sessions, senderKeys]);

export class WhatsmeowStore {
  readonly #main: SourceDatabase;
  readonly #keys: SourceDatabase;
  readonly #columns = new Map<SourceDatabase, Map<string, Promise<ReadonlySet<string>>>>();

  /**
   * Opens the store. `keys` is a separate database with identities, sessions, pre-keys and sender keys, if there is one. The caller closes
   * both databases.
   */
  constructor(main: SourceDatabase, keys: SourceDatabase = main) {
    this.#main = main;
    this.#keys = keys;
  }

  /** Reads the devices. Throws `SourceFault` if the database is not a store of whatsmeow. */
  async devices(): Promise<readonly Row[]> {
    const columns = await this.#existing(this.#main, 'whatsmeow_device', deviceColumns);
    if (!columns.includes('jid')) throw new SourceFault('The database holds no table whatsmeow_device: no device was ever linked in it.');
    return this.#main.rows<Row>(`select ${columns.join()} from whatsmeow_device order by jid`);
  }

  async facts(device: Row): Promise<DeviceFacts> {
    const [last] = await this.all(device, tables.preKeys, ['key_id'], 'order by key_id desc limit 1');
    const [newest] = await this.all(device, tables.sharedKeys, ['key_id', 'timestamp'], 'order by timestamp desc limit 1');
    const id = newest?.['key_id'];
    return { lastPreKeyId: Number(last?.['key_id'] ?? 0), newestKeyId: Buffer.isBuffer(id) ? id : null };
  }

  /** Streams the rows of this device. A table that does not exist has no rows, and a column that does not exist is absent. */
  async *each(device: Row, table: Table, wanted: readonly string[], end = ''): AsyncIterable<Row> {
    const database = keyTables.has(table) ? this.#keys : this.#main;
    const columns = await this.#existing(database, table.name, wanted);
    if (columns.length === 0) return;
    const jid = deviceJid(textIn(device, 'jid'));
    // Schema 5 changed the form of the jid. If the database did not check foreign keys, this table still has the old form.
    const forms = [jid, jid.replace(':', '.0:')];
    yield* database.stream<Row>(`select ${columns.join()} from ${table.name} where ${table.owner} in ($1, $2) ${end}`, forms);
  }

  async all(device: Row, table: Table, wanted: readonly string[], end = ''): Promise<readonly Row[]> {
    return Array.fromAsync(this.each(device, table, wanted, end));
  }

  /** Reads the names in a column of a table of this device. */
  async names(device: Row, table: Table, column: string): Promise<readonly string[]> {
    return (await this.all(device, table, [column])).map((row) => textIn(row, column)).filter((name) => name !== '');
  }

  /** Reads the LIDs of the people whom tables of this device name. All devices of a store share the table of LIDs, which may be far larger. */
  async lidMap(device: Row, others: readonly string[]): Promise<LidMap> {
    const lidOf = new Map<string, string>();
    if ((await this.#existing(this.#main, 'whatsmeow_lid_map', ['lid', 'pn'])).length < 2) return { lidOf };
    const own = ['jid', 'lid'].map((column) => textIn(device, column));
    const users = [...new Set([...own, ...others].map(bareUser))].filter((user) => user !== '');
    for (let at = 0; at < users.length; at += namesAtOnce) {
      const some = users.slice(at, at + namesAtOnce);
      const marks = some.map((_, index) => `$${index + 1}`).join();
      const text = `select lid, pn from whatsmeow_lid_map where lid in (${marks}) or pn in (${marks})`;
      for (const row of await this.#main.rows<Row>(text, some)) lidOf.set(textIn(row, 'pn'), textIn(row, 'lid'));
    }
    lidOf.delete('');
    return { lidOf };
  }

  async #existing(database: SourceDatabase, table: string, wanted: readonly string[]): Promise<readonly string[]> {
    const known = this.#columns.get(database) ?? new Map<string, Promise<ReadonlySet<string>>>();
    this.#columns.set(database, known);
    const columns = known.get(table) ?? database.columns(table);
    known.set(table, columns);
    const existing = await columns;
    return wanted.filter((column) => existing.has(column));
  }
}

// Databases of a source on whatsmeow: a file, or the address of a PostgreSQL database. All of them are closed after the read.

const isAddress = (source: string): boolean => /^postgres(?:ql)?:\/\//.test(source);

const openSource = (source: string, signal?: AbortSignal): Promise<SourceDatabase> =>
  isAddress(source) ? PostgresSource.open(source) : openSqlite(resolve(source), signal);

const kindOf = async (path: string): Promise<'file' | 'folder' | 'nothing'> =>
  stat(path).then(
    (found) => (found.isDirectory() ? 'folder' : 'file'),
    () => 'nothing',
  );

export const exists = async (path: string): Promise<boolean> => (await kindOf(path)) !== 'nothing';

/** Returns the first of the named files that exists in the folder, or the path itself if it is a file. Throws `SourceFault`. */
export const fileIn = async (path: string, names: readonly string[]): Promise<string> => {
  const kind = await kindOf(path);
  if (kind === 'file') return path;
  if (kind === 'nothing') throw new SourceFault('--path names nothing that exists');
  for (const name of names) if (await exists(join(path, name))) return join(path, name);
  throw new SourceFault(`The folder holds none of the files ${names.join(', ')}`);
};

/** Returns the path or the address of the database with the tables of whatsmeow. Throws `SourceFault` if no address and no path is given. */
export const mainSource = async ({ url, path }: SourceOptions, names: readonly string[]): Promise<string> => {
  if (url !== null) {
    if (!isAddress(url)) throw new SourceFault('--url is not the address of a PostgreSQL database');
    return url;
  }
  if (path === null) throw new SourceFault('--path or --url is missing: one of them names the database of the source');
  return fileIn(resolve(path), names);
};

/** Opens databases for `read`. Closes all of them when the read ends, is ended early, or fails. */
export async function* withDatabases(
  signal: AbortSignal,
  read: (open: (source: string) => Promise<SourceDatabase>) => AsyncIterable<Found>,
): AsyncIterable<Found> {
  const opened: SourceDatabase[] = [];
  const open = async (source: string): Promise<SourceDatabase> => {
    signal.throwIfAborted();
    const database = await openSource(source, signal);
    opened.push(database);
    return database;
  };
  try {
    for await (const found of read(open)) {
      yield found;
      signal.throwIfAborted();
    }
  } finally {
    for (const database of opened.toReversed()) await database.close();
  }
}
