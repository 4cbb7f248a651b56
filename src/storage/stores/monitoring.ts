/** Stores alerts and the figures of nodes by the minute, and measures the space that the database uses. */
import { type AlertSecrets, type AlertSettings, noAlertSecrets, usualAlertSettings } from '#actors/model.ts';
import type { AlertStore, FigureStep, FigureStore, TroubleReport } from '#actors/ports.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { alertSealedId, type Opener } from '../vault/sealing.ts';

// Alerts have one row with settings, sealed secrets and state, and a row with troubles for each node.

const id = 'server';

const alertStatements = {
  read: { name: 'alert-read', text: `select settings, secrets, md5(secrets) as revision, state, version from alert where id = $1` },
  save: {
    name: 'alert-save',
    text: `insert into alert (id, settings, secrets) values ($1, $2::jsonb, $3::bytea)
      on conflict (id) do update set settings = excluded.settings, secrets = excluded.secrets where md5(alert.secrets) = $4
      returning 1`,
  },
  saveState: {
    name: 'alert-save-state',
    text: `update alert set state = $2::text, version = version + 1 where id = $1 and version = $3::int returning 1`,
  },
  report: {
    name: 'alert-report',
    text: `insert into node_trouble (node, at, started_at, troubles) values ($1, $2::bigint, $3::bigint, $4::jsonb)
      on conflict (node) do update set at = excluded.at, started_at = excluded.started_at, troubles = excluded.troubles`,
  },
  forget: { name: 'alert-forget', text: `delete from node_trouble where at < $1::bigint` },
  reports: {
    name: 'alert-reports',
    text: `select node, at::float8 as at, started_at::float8 as "startedAt", troubles from node_trouble where at >= $1::bigint order by node`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

interface Stored {
  readonly settings: AlertSettings;
  readonly secrets: Buffer;
  readonly revision: string;
  readonly state: string | null;
  readonly version: number;
}

/** Parses the state. Returns null for a damaged state. */
const parsed = (state: string | null): unknown => {
  try {
    return state === null ? null : (JSON.parse(state) as unknown);
  } catch {
    return null;
  }
};

const secretsIn = (text: string): AlertSecrets => ({ ...noAlertSecrets, ...(JSON.parse(text) as Partial<AlertSecrets>) });

export const createAlertStore = (database: Database, opener: Opener): AlertStore => ({
  async read() {
    const [row] = await database.rows<Stored>(alertStatements.read, [id]);
    if (row === undefined) return null;
    const secrets = opener.open(alertSealedId(id), row.secrets, secretsIn, { id, field: 'alert secrets' }) ?? noAlertSecrets;
    // A setting that a newer release added may be missing in an older row.
    return { ...row, settings: { ...usualAlertSettings, ...row.settings }, secrets, state: parsed(row.state) };
  },
  async save(settings, secrets, revision) {
    const values = [id, JSON.stringify(settings), opener.seal(alertSealedId(id), JSON.stringify(secrets)), revision];
    return (await database.rows(alertStatements.save, values)).length === 1;
  },
  saveState: async (state, version) => (await database.rows(alertStatements.saveState, [id, JSON.stringify(state), version])).length === 1,
  async report({ node, at, startedAt, troubles }) {
    await database.rows(alertStatements.report, [node, at, startedAt, JSON.stringify(troubles)]);
  },
  async reports(since) {
    await database.rows(alertStatements.forget, [since]);
    return database.rows<TroubleReport>(alertStatements.reports, [since]);
  },
});

// Figures of nodes by the minute. They are written in batches, read as sums, and deleted by age.

export const figureStatements = {
  put: {
    name: 'figures-put',
    text: `insert into node_figure (node, minute, span_ms, received, sent, delivered, failed, reconnects, memory_bytes, loop_ms)
      select $1::text, * from unnest($2::int[], $3::int[], $4::int[], $5::int[], $6::int[], $7::int[], $8::int[], $9::bigint[], $10::int[])
      on conflict (minute, node) do update set span_ms = excluded.span_ms, received = excluded.received, sent = excluded.sent,
        delivered = excluded.delivered, failed = excluded.failed, reconnects = excluded.reconnects, memory_bytes = excluded.memory_bytes,
        loop_ms = excluded.loop_ms`,
  },
  /** $1: first minute. $2: minute after the last. $3: minutes of a step. $4: limit of steps. */
  find: {
    name: 'figures-find',
    text: `select node, (minute / $3::int) * $3::int as minute, sum(span_ms)::float8 as "spanMs", sum(received)::float8 as received,
        sum(sent)::float8 as sent, sum(delivered)::float8 as delivered, sum(failed)::float8 as failed, sum(reconnects)::float8 as reconnects,
        max(memory_bytes)::float8 as "memoryBytes", max(loop_ms) as "loopMs"
      from node_figure where minute >= $1::int and minute < $2::int
      group by node, minute / $3::int order by node, minute / $3::int limit $4::int`,
  },
  /** $1: first minute that stays. $2: last minute that stays. $3: limit of rows. */
  expire: {
    name: 'figures-expire',
    text: `with old as ((select minute, node from node_figure where minute < $1::int order by minute limit $3::int)
        union all (select minute, node from node_figure where minute > $2::int order by minute desc limit $3::int) limit $3::int)
      delete from node_figure using old where node_figure.minute = old.minute and node_figure.node = old.node returning 1`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

/** Rows that are later than this after the oldest kept minute come from a clock that was ahead, and are deleted. Figures are kept for a day. In minutes. */
const aheadMinutes = 2 * 1_440;

/** The largest value of the integer columns. No counter of one minute comes near this value. */
const most = 2_147_483_647;

export const createFigureStore = (database: Database): FigureStore => ({
  async put(node, rows) {
    const whole = (of: (row: (typeof rows)[number]) => number): readonly number[] =>
      rows.map((row) => Math.min(most, Math.max(0, Math.round(of(row)))));
    const columns = [
      whole(({ minute }) => minute),
      whole(({ spanMs }) => spanMs),
      whole(({ received }) => received),
      whole(({ sent }) => sent),
      whole(({ delivered }) => delivered),
      whole(({ failed }) => failed),
      whole(({ reconnects }) => reconnects),
      rows.map(({ memoryBytes }) => Math.round(memoryBytes)),
      whole(({ loopMs }) => loopMs),
    ];
    await database.rows(figureStatements.put, [node, ...columns]);
  },
  find: ({ from, to, step, limit }) => database.rows<FigureStep>(figureStatements.find, [from, to, step, limit]),
  async expire(before, limit) {
    const first = Math.floor(before / 60_000);
    return (await database.rows(figureStatements.expire, [first, first + aheadMinutes, limit])).length;
  },
});

// The space that the database uses: the sizes of tables, and the instances with the most messages and files. The sizes come from the file
// system, and the figures of instances come from a sample of pages. The cost of a view therefore does not grow with the number of rows.

/** The number of pages that one sample of a table reads (16 MB). A smaller table is read as a whole, and its figures are exact. */
const samplePages = 2_000;
const pageBytes = 8_192;
/** The largest number of instances in a list of the largest ones. */
const largest = 20;

/** Returns SQL for the share of the pages that a sample reads, in percent. */
const percentOf = (table: string): string =>
  `least(100, 100.0 * ${samplePages} * ${pageBytes} / greatest(1, pg_relation_size('${table}')))`;

/** Builds a query that sums the rows of a sample by instance, and scales the sums to the whole table. `bytes`: an expression for one row. */
const sampled = (table: 'message' | 'file', bytes: string): Statement => ({
  name: `usage-${table}`,
  text: `with share as (select (${percentOf(table)} / 100.0)::float8 as part)
    select instance_id as "instanceId", (count(*) / max(part))::float8 as rows, (sum(${bytes}) / max(part))::float8 as bytes,
      max(part) >= 1 as "isExact", sum(sum(${bytes})) over ()::float8 / max(part) as "all"
    from ${table} tablesample system (${percentOf(table)}), share group by instance_id order by bytes desc limit ${largest}`,
});

/** An expression for the stored size of a message. It does not read values that are stored outside of the row. */
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

/** The size of a table with its indexes. */
interface TableUse {
  readonly name: string;
  readonly bytes: number;
  /** The estimate of PostgreSQL; null before its first statistics. */
  readonly rows: number | null;
}

interface InstanceUse {
  readonly instanceId: string;
  readonly rows: number;
  readonly bytes: number;
}

export interface LargestUse {
  /** True if all pages were read; false if the figures are scaled from a sample. */
  readonly isExact: boolean;
  /** The sum over all instances, in bytes. */
  readonly bytes: number;
  readonly instances: readonly InstanceUse[];
}

export interface DatabaseUse {
  readonly bytes: number;
  /** The version of the PostgreSQL server, such as `18.4`. */
  readonly version: string;
  readonly tables: readonly TableUse[];
  /** The bytes of the message table and its indexes, distributed over the instances by the sizes of their rows. */
  readonly messages: LargestUse;
  /** The bytes of the files. A file that several instances keep counts for each of them. */
  readonly files: LargestUse;
}

type SampledRow = InstanceUse & { readonly isExact: boolean; readonly all: number };

const largestOf = (rows: readonly SampledRow[]): LargestUse => ({
  isExact: rows.every(({ isExact }) => isExact),
  bytes: rows[0]?.all ?? 0,
  instances: rows.map(({ instanceId, rows: count, bytes }) => ({ instanceId, rows: Math.round(count), bytes: Math.round(bytes) })),
});

/** Scales the sizes of the rows to the size of the table, which also has indexes and free space. */
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
