/**
 * Reads the stored data of the last release: its migrations, rows of its tables, and the statements that its nodes send during an upgrade. A release writes
 * this data with `node test/storage/last-release/pin.ts`.
 *
 * The schema of a release is stored as its migrations, with their names and statements. They make the same tables, triggers and indexes as a dump.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { step, type ListedMigration } from '#src/storage/migrations/step.ts';
import type { Database, Runner, Statement } from '#src/storage/postgres/database.ts';
import { root } from '#test/source-tree.ts';

export const releaseFolder = join(root, 'test/storage/last-release');

export interface PinnedMigration {
  readonly name: string;
  readonly statements: readonly string[];
}

type Row = Readonly<Record<string, unknown>>;

/** Rows of tables, in an order in which they can be inserted. */
export type PinnedRows = readonly { readonly table: string; readonly rows: readonly Row[] }[];

export const readPinned = <T>(name: string): T => JSON.parse(readFileSync(join(releaseFolder, name), 'utf8')) as T;

/** The table of the migrator itself. */
export const migratorTable = 'mikro_orm_migrations';

export const migrationStatements = ({ class: Step }: ListedMigration): readonly string[] => {
  // A migration only lists its statements and does not use the driver.
  const migration = new Step(...([undefined, undefined] as unknown as ConstructorParameters<typeof Step>));
  void migration.up();
  return migration.getQueries().map(String);
};

/** The migrations of the last release, which make its tables. */
export const releasedSteps: readonly ListedMigration[] = readPinned<readonly PinnedMigration[]>('migrations.json').map(
  ({ name, statements }) => step(name, statements),
);

/** Returns the statements among the exports of a module, including statements in nested tables. */
export const statementsIn = (value: unknown): readonly Statement[] => {
  if (typeof value !== 'object' || value === null) return [];
  const { name, text } = value as Partial<Statement>;
  if (typeof name === 'string' && typeof text === 'string') return [{ name, text }];
  return Object.getPrototypeOf(value) === Object.prototype || Array.isArray(value) ? Object.values(value).flatMap(statementsIn) : [];
};

export const storageFiles = globSync('src/storage/**/*.ts', { cwd: root }).filter((path) => !path.includes('/migrations/'));

/** Returns the statements of the storage, each with the file that exports it. */
export const storageStatements = async (): Promise<readonly (readonly [file: string, statement: Statement])[]> => {
  const found: (readonly [string, Statement])[] = [];
  for (const file of storageFiles) {
    const module: object = await import(join(root, file));
    for (const statement of statementsIn({ ...module })) found.push([file, statement]);
  }
  return found;
};

export const columnsOf = (row: Row): string =>
  Object.keys(row)
    .map((name) => `"${name}"`)
    .join(', ');

/** Inserts rows with the columns that the last release knows. Rows that migrations or triggers stored are deleted first. */
export const insertRows = async (database: Runner, pinned: PinnedRows): Promise<void> => {
  for (const { table, rows } of pinned) {
    await database.rows({ name: '', text: `delete from ${table}` }, []);
    for (const row of rows) {
      const text = `insert into ${table} (${columnsOf(row)}) select ${columnsOf(row)} from json_populate_record(null::${table}, $1::json)`;
      await database.rows({ name: '', text }, [JSON.stringify(row)]);
    }
  }
};

/** Returns all rows of a table with these columns, in a stable order. */
export const rowsOf = async (database: Runner, table: string, columns: string): Promise<readonly Row[]> => {
  const text = `select to_jsonb(one) as row from (select ${columns} from ${table}) as one order by to_jsonb(one)::text`;
  return (await database.rows<{ row: Row }>({ name: '', text }, [])).map(({ row }) => row);
};

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  /** True if a row that does not name the column is refused. A column that the server fills is not required. */
  readonly isRequired: boolean;
  readonly takesNull: boolean;
}

interface Rule {
  readonly table: string;
  readonly name: string;
  readonly text: string;
}

export interface Schema {
  readonly columns: readonly Column[];
  /** Constraints of tables. */
  readonly rules: readonly Rule[];
}

const columnStatement = {
  name: '',
  text: `select table_name as table, column_name as name, udt_name as type, is_nullable = 'YES' as "takesNull",
      is_nullable = 'NO' and column_default is null and is_generated = 'NEVER' and is_identity = 'NO' as "isRequired"
    from information_schema.columns where table_schema = 'public' order by table_name, ordinal_position`,
};
const ruleStatement = {
  name: '',
  text: `select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as text from pg_constraint
      where connamespace = 'public'::regnamespace and contype in ('c', 'f', 'u', 'x', 'p') and conrelid <> 0
    union select indrelid::regclass::text, indexrelid::regclass::text, pg_get_indexdef(indexrelid) from pg_index
      join pg_class on pg_class.oid = indrelid
      where indisunique and relnamespace = 'public'::regnamespace and not exists (select from pg_constraint where conindid = indexrelid)`,
};

export const schemaOf = async (database: Runner): Promise<Schema> => ({
  columns: await database.rows<Column>(columnStatement, []),
  rules: await database.rows<Rule>(ruleStatement, []),
});

/**
 * Returns the breaking changes for a program that was written for `before`. The key is the name with which a migration declares the change, and the value
 * is a sentence.
 */
export const breaksOf = (before: Schema, after: Schema): ReadonlyMap<string, string> => {
  const breaks = new Map<string, string>();
  const tables = new Set(before.columns.map(({ table }) => table));
  const keyOf = ({ table, name }: Pick<Column, 'table' | 'name'>): string => `${table}.${name}`;
  const byKey = ({ columns }: Schema): ReadonlyMap<string, Column> => new Map(columns.map((column) => [keyOf(column), column]));
  const [old, now] = [byKey(before), byKey(after)];
  const tablesNow = new Set(after.columns.map(({ table }) => table));
  for (const table of tables) if (!tablesNow.has(table)) breaks.set(table, `the table ${table} is gone`);
  for (const [key, column] of old) {
    const found = now.get(key);
    if (!tablesNow.has(column.table)) continue;
    if (!found) breaks.set(key, `${key} is gone`);
    else if (found.type !== column.type) breaks.set(key, `${key} is ${found.type} and was ${column.type}`);
    else if (column.takesNull && !found.takesNull) breaks.set(key, `${key} takes no null any more`);
    else if (found.isRequired && !column.isRequired) breaks.set(key, `${key} has no default any more`);
  }
  for (const [key, column] of now)
    if (tables.has(column.table) && !old.has(key) && column.isRequired) breaks.set(key, `${key} is new, takes no null and has no default`);
  const rules = new Set(before.rules.map(({ table, text }) => `${table} ${text}`));
  for (const { table, name, text } of after.rules)
    if (tables.has(table) && !rules.has(`${table} ${text}`)) breaks.set(name, `${table} has a new rule: ${text}`);
  return breaks;
};

/** Returns true if PostgreSQL can explain the statement. */
export const hasPlan = ({ text }: Statement): boolean => /^\s*(?:with|select|insert|update|delete)\b/i.test(text) && !/;\s*\S/.test(text);

export type Admin = Pick<Database, 'rows' | 'transaction'>;
