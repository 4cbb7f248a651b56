/**
 * Pins what is in the tree now as the last release: run it when a release is made (`node test/storage/last-release/pin.ts`), and never to make a test
 * pass. What is pinned: migrations, statements, and rows of every table.
 *
 * Rows of the tables that a start reads are written by the stores; of others one with a value in every column is enough.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { migrations } from '#src/storage/migrations/list.ts';
import { chat, group, instance, message, now, webhook } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';
import {
  hasPlan,
  migrationStatements,
  migratorTable,
  releaseFolder,
  rowsOf,
  schemaOf,
  storageStatements,
  type PinnedRows,
  type Schema,
} from '#test/support/upgrade.ts';

const database = await testDatabase({ isEmpty: true });
const write = (name: string, value: unknown): void => writeFileSync(join(releaseFolder, name), `${JSON.stringify(value, null, 2)}\n`);

const samples: Readonly<Record<string, unknown>> = {
  text: 'x',
  bool: false,
  int4: 1,
  int8: 1,
  float8: 1,
  jsonb: {},
  bytea: '\\x00',
  _text: [],
  _int8: [],
  uuid: '00000000-0000-4000-8000-000000000001',
};

/** Orders tables so that a table comes after the tables to which it refers. */
const tablesOf = ({ columns, rules }: Schema): readonly string[] => {
  const left = new Set(columns.map(({ table }) => table).filter((table) => table !== migratorTable));
  const ordered: string[] = [];
  while (left.size > 0) {
    const waits = (table: string): boolean =>
      rules.some((rule) => rule.table === table && left.has(/REFERENCES (\w+)/.exec(rule.text)?.[1] ?? ''));
    const next = [...left].filter((table) => !waits(table));
    if (next.length === 0) throw new Error(`tables refer to each other: ${[...left].join(' ')}`);
    for (const table of next) {
      ordered.push(table);
      left.delete(table);
    }
  }
  return ordered;
};

/** Writes rows through the stores, so that values are encrypted and encoded as by the gateway. */
const writeByStores = async (): Promise<void> => {
  const storage = await database.storage();
  const { record } = instance;
  await storage.instances.insert(record);
  await storage.webhooks.save({ ...webhook, instanceId: record.id }, 1);
  const entries = [
    { kind: 'message', message, chat: { ...chat }, unread: true },
    { kind: 'group', group },
  ] as const;
  await storage.journal.commit({ id: record.id, owner: record.owner, epoch: record.epoch }, entries, () => []);
  await storage.vault.write(record.id, record.epoch, { credentials: '{"me":1}', keys: [{ type: 'session', id: '1', value: 'ratchet' }] });
  await storage.vault.log(record.id, record.epoch, [{ seq: 1, at: now, stanza: Buffer.from('stanza') } as never]);
  await storage.close();
};

test('the state of the tree is pinned as the last release', async () => {
  await writeByStores();
  const schema = await schemaOf(database.admin);
  const pinned: { readonly table: string; readonly rows: PinnedRows[number]['rows'] }[] = [];
  for (const table of tablesOf(schema)) {
    const columns = schema.columns.filter((column) => column.table === table);
    const names = columns.map(({ name }) => `"${name}"`).join(', ');
    const rows = await rowsOf(database.admin, table, names);
    const known: Readonly<Record<string, unknown>> = { instance_id: instance.record.id, webhook_id: webhook.id };
    const whole = Object.fromEntries(columns.map(({ name, type }) => [name, known[name] ?? samples[type]]));
    pinned.push({ table, rows: rows.length > 0 ? rows : [whole] });
  }
  write('rows.json', pinned);
  write(
    'migrations.json',
    migrations.map((one) => ({ name: one.name, statements: migrationStatements(one) })),
  );
  // The journal has a statement for every pair of its parts. The statement with all parts and those with one cover the same.
  const statements = (await storageStatements())
    .map(([, one]) => one)
    .filter((one) => hasPlan(one) && !/^journal-write-\d+-\d+$/.test(one.name));
  const byName = new Map(statements.map(({ name, text }) => [name === '' ? text : name, { name, text: text.replaceAll(/\s+/g, ' ') }]));
  write(
    'statements.json',
    [...byName.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1)),
  );
});
