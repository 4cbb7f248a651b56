/**
 * The space that the database uses: sizes of tables, and the instances with the most messages and files. The sizes come from the file system, and the
 * instances from a sample of pages, so that a view costs the same for ten thousand rows and for a billion.
 */
import type { Database, Statement } from '../postgres/database.ts';

/** Pages of a table that one sample reads, 16 MB. A smaller table is read whole, and its figures are exact. */
const samplePages = 2_000;
const pageBytes = 8_192;
/** Instances of one answer. */
const largest = 20;

/** The share of the pages that is read, in percent. */
const percentOf = (table: string): string =>
  `least(100, 100.0 * ${samplePages} * ${pageBytes} / greatest(1, pg_relation_size('${table}')))`;

/** Sums the rows of a sample by instance, and scales the sums to the whole table. `bytes`: an expression for one row. */
const sampled = (table: 'message' | 'file', bytes: string): Statement => ({
  name: `usage-${table}`,
  text: `with share as (select (${percentOf(table)} / 100.0)::float8 as part)
    select instance_id as "instanceId", (count(*) / max(part))::float8 as rows, (sum(${bytes}) / max(part))::float8 as bytes,
      max(part) >= 1 as "isExact", sum(sum(${bytes})) over ()::float8 / max(part) as "all"
    from ${table} tablesample system (${percentOf(table)}), share group by instance_id order by bytes desc limit ${largest}`,
});

/** Sizes of values as they are stored, without reading the ones that stand outside of the row. */
const messageBytes = `400 + octet_length(text) + coalesce(pg_column_size(raw), 0) + coalesce(pg_column_size(content), 0)
  + coalesce(pg_column_size(send_payload), 0)`;

export const usageStatements = {
  tables: {
    name: 'usage-tables',
    text: `select relname as name, pg_total_relation_size(oid)::float8 as bytes, nullif(reltuples, -1)::float8 as rows
      from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r' order by bytes desc`,
  },
  database: {
    name: 'usage-database',
    text: `select pg_database_size(current_database())::float8 as bytes, current_setting('server_version') as version`,
  },
  message: sampled('message', messageBytes),
  file: sampled('file', 'size'),
} as const satisfies Readonly<Record<string, Statement>>;

/** A table with its indexes. */
export interface TableUse {
  readonly name: string;
  readonly bytes: number;
  /** The estimate of the database; null before its first statistics. */
  readonly rows: number | null;
}

export interface InstanceUse {
  readonly instanceId: string;
  readonly rows: number;
  readonly bytes: number;
}

export interface LargestUse {
  /** False: the figures are scaled from a sample. */
  readonly isExact: boolean;
  /** The sum over all instances, in bytes. */
  readonly bytes: number;
  readonly instances: readonly InstanceUse[];
}

export interface DatabaseUse {
  readonly bytes: number;
  /** Version of the PostgreSQL server, such as `18.4`. */
  readonly version: string;
  readonly tables: readonly TableUse[];
  /** Bytes of the table and its indexes, shared out by the sizes of the rows. */
  readonly messages: LargestUse;
  /** Bytes of the files. A file that several instances keep counts for each of them. */
  readonly files: LargestUse;
}

type SampledRow = InstanceUse & { readonly isExact: boolean; readonly all: number };

const largestOf = (rows: readonly SampledRow[]): LargestUse => ({
  isExact: rows.every(({ isExact }) => isExact),
  bytes: rows[0]?.all ?? 0,
  instances: rows.map(({ instanceId, rows: count, bytes }) => ({ instanceId, rows: Math.round(count), bytes: Math.round(bytes) })),
});

/** Scales the sizes of values to the size of the table, which has indexes and gaps too. */
const sharedOut = ({ bytes, instances, isExact }: LargestUse, whole: number): LargestUse => {
  const factor = bytes === 0 ? 0 : whole / bytes;
  return { isExact, bytes: whole, instances: instances.map((one) => ({ ...one, bytes: Math.round(one.bytes * factor) })) };
};

export const readUsage = async (database: Database): Promise<DatabaseUse> => {
  const { rows } = database;
  const [size] = await rows<{ bytes: number; version: string }>(usageStatements.database, []);
  const tables = await rows<TableUse>(usageStatements.tables, []);
  const messages = largestOf(await rows<SampledRow>(usageStatements.message, []));
  const files = largestOf(await rows<SampledRow>(usageStatements.file, []));
  const whole = tables.find(({ name }) => name === 'message')?.bytes ?? 0;
  return { bytes: size?.bytes ?? 0, version: size?.version ?? '', tables, messages: sharedOut(messages, whole), files };
};
