/** Reads the counts of a database server: transactions, forced writes to disk, bytes of the write-ahead log, and rows of each table. */
import { databaseCpu } from './cost.ts';
import type { GatewayClient } from './clients.ts';
import { withDatabase } from './fill.ts';
import { pause } from './workshop.ts';

/**
 * The time after which the PostgreSQL server has the counts of its idle backends. PostgreSQL reports them 10 s after the last transaction
 * (`PGSTAT_IDLE_INTERVAL`). In milliseconds.
 */
const settleMs = 10_500;

/** The counted work for one text. */
export interface Counts {
  readonly transactions: number;
  /** The number of forced writes of the write-ahead log to the disk. */
  readonly fsyncs: number;
  /** The size of the write-ahead log. In bytes. */
  readonly walBytes: number;
  /** The number of inserted, updated and deleted rows. */
  readonly rows: number;
  /** The number of updates that also changed indexes, because they were not HOT. */
  readonly coldUpdates: number;
  /** The processor time of the gateway. The next field is that of the database server. In milliseconds. */
  readonly cpu: number;
  readonly database: number;
  /** The inserts, HOT updates, other updates and deletions of each table with at least one change in twenty texts. */
  readonly tables: Readonly<Record<string, string>>;
}

interface TableCounts {
  readonly name: string;
  readonly inserted: number;
  readonly updated: number;
  readonly hot: number;
  readonly deleted: number;
}

interface Reading {
  readonly transactions: number;
  readonly fsyncs: number;
  readonly walBytes: number;
  readonly tables: readonly TableCounts[];
}

const statement = {
  name: '',
  text: `select (select xact_commit::float8 from pg_stat_database where datname = current_database()) as transactions,
    (select coalesce(sum(fsyncs), 0)::float8 from pg_stat_io where object = 'wal') as fsyncs,
    (select wal_bytes::float8 from pg_stat_wal) as "walBytes",
    (select json_agg(t) from (select relname as name, n_tup_ins as inserted, n_tup_upd as updated, n_tup_hot_upd as hot, n_tup_del as deleted
      from pg_stat_user_tables) as t) as tables`,
};

const read = (folder: string): Promise<Reading> =>
  withDatabase(folder, async (database) => (await database.rows<Reading>(statement, []))[0] as Reading);

/** The least number of changes per text for which a table is listed. */
const leastListed = 0.05;

const tablesBetween = (before: Reading, after: Reading, texts: number): readonly TableCounts[] => {
  const earlier = new Map(before.tables.map((table) => [table.name, table]));
  return after.tables.map(({ name, ...counts }) => {
    const of = (field: keyof typeof counts): number => (counts[field] - (earlier.get(name)?.[field] ?? 0)) / texts;
    return { name, inserted: of('inserted'), updated: of('updated'), hot: of('hot'), deleted: of('deleted') };
  });
};

const listed = (tables: readonly TableCounts[]): Counts['tables'] =>
  Object.fromEntries(
    tables
      .filter(({ inserted, updated, deleted }) => inserted + updated + deleted >= leastListed)
      .map(({ name, inserted, updated, hot, deleted }) => [
        name,
        [inserted, hot, updated - hot, deleted].map((count) => count.toFixed(2)).join(' '),
      ]),
  );

/** Runs the work. Returns the counts of the database and the gateway, divided by the number of texts. */
export const perText = async (client: GatewayClient, texts: number, work: () => Promise<void>): Promise<Counts> => {
  await pause(settleMs);
  const before = await read(client.folder);
  const [cpu, database] = [await client.cpu(), databaseCpu(client.database)];
  await work();
  const [cpuAfter, databaseAfter] = [await client.cpu(), databaseCpu(client.database)];
  await pause(settleMs);
  const after = await read(client.folder);
  const of = (field: 'transactions' | 'fsyncs' | 'walBytes'): number => (after[field] - before[field]) / texts;
  const tables = tablesBetween(before, after, texts);
  const sum = (count: (table: TableCounts) => number): number => tables.reduce((total, table) => total + count(table), 0);
  return {
    transactions: of('transactions'),
    fsyncs: of('fsyncs'),
    walBytes: of('walBytes'),
    rows: sum(({ inserted, updated, deleted }) => inserted + updated + deleted),
    coldUpdates: sum(({ updated, hot }) => updated - hot),
    cpu: (cpuAfter - cpu) / texts,
    database: (databaseAfter - database) / texts,
    tables: listed(tables),
  };
};
