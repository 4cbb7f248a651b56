/** Tests an upgrade while nodes of the last release run. Their rows are readable, and their statements work on the new tables. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { migrations } from '#src/storage/migrations/list.ts';
import { migrate } from '#src/storage/open.ts';
import type { Statement } from '#src/storage/postgres/database.ts';
import { quietLog, testDatabase } from '#test/support/database.ts';
import { planOf } from '#test/support/plans.ts';
import { schemaLines } from '#test/support/schema-lines.ts';
import {
  breaksOf,
  columnsOf,
  insertRows,
  migrationStatements,
  migratorTable,
  readPinned,
  releasedSteps,
  rowsOf,
  schemaOf,
  type PinnedRows,
} from '#test/support/upgrade.ts';

const rows = readPinned<PinnedRows>('rows.json');
const statements = readPinned<readonly Statement[]>('statements.json');

const releasedNames = new Set(releasedSteps.map(({ name }) => name));
const newSteps = migrations.filter(({ name }) => !releasedNames.has(name));

const database = await testDatabase({ isEmpty: true });
const fresh = await testDatabase();
const { admin } = database;
const sql = (text: string): Promise<readonly unknown[]> => admin.rows({ name: '', text }, []);

/** A log that records the migrations that ran. */
const noting = () => {
  const ran: string[] = [];
  const info = (fields: object): void => void ran.push(...((fields as { readonly migrations?: readonly string[] }).migrations ?? []));
  return { ran, log: { ...quietLog, info } };
};

await migrate(database.url, quietLog, { steps: releasedSteps });
const before = await schemaOf(admin);
await insertRows(admin, rows);
const stored = new Map<string, unknown>();
for (const { table, rows: all } of rows) stored.set(table, await rowsOf(admin, table, columnsOf(all[0]!)));
const upgrade = noting();
await migrate(database.url, upgrade.log);

test('upgrade: migrations of the last release are unchanged, except for the baseline', () =>
  assert.deepEqual(
    migrations
      .slice(1)
      .filter(({ name }) => releasedNames.has(name))
      .map(migrationStatements),
    releasedSteps.filter(({ name }) => migrations.slice(1).some((one) => one.name === name)).map(migrationStatements),
  ));

test('upgrade: only migrations after that release run', () =>
  assert.deepEqual(
    upgrade.ran,
    newSteps.map(({ name }) => name),
  ));

test('upgrade: the upgraded tables are those of a new database, with all their names', async () => {
  const lines = await schemaLines(admin);
  assert.ok(lines.length > 1_000, `only ${lines.length} lines`);
  assert.deepEqual(lines, await schemaLines(fresh.admin));
});

test('upgrade: rows of every table are unchanged', async () => {
  const tables = new Set(before.columns.map(({ table }) => table).filter((table) => table !== migratorTable));
  assert.deepEqual(new Set(stored.keys()), tables, 'the last release left rows in every table');
  for (const { table, rows: all } of rows) assert.deepEqual(await rowsOf(admin, table, columnsOf(all[0]!)), stored.get(table), table);
});

test('upgrade: the gateway reads the rows of the last release', async () => {
  const storage = await database.storage();
  const [record] = await storage.instances.all();
  assert.ok(record);
  assert.notEqual(record.token, '');
  assert.equal((await storage.webhooks.all()).length, 1);
  assert.equal(await storage.vault.credentials(record.id), '{"me":1}');
  assert.equal((await storage.vault.keys(record.id, 'session', ['1'])).get('1'), 'ratchet');
  const { messages } = await storage.messages.find(record.id, { limit: 10, offset: 0 });
  assert.equal(messages.length, 1);
  assert.ok(await storage.chats.get(record.id, messages[0]!.chatId));
  await storage.close();
});

test('upgrade: every statement of the last release has a plan on the new tables', async () => {
  assert.ok(statements.length > 100, `only ${statements.length} are pinned`);
  const failed: string[] = [];
  for (const statement of statements)
    await planOf(admin, statement).catch((error: unknown) => failed.push(`${statement.name}: ${String(error)}`));
  assert.deepEqual(failed, []);
});

test('upgrade: the last release can still insert, change and delete rows of every table', async () => {
  await admin.transaction(async (runner) => {
    const run = (text: string): Promise<readonly unknown[]> => runner.rows({ name: '', text }, []);
    for (const { table } of rows.toReversed()) await run(`delete from ${table}`);
    await insertRows(runner, rows);
    for (const { table, rows: all } of rows)
      await run(
        `update ${table} set ${Object.keys(all[0]!)
          .map((name) => `"${name}" = "${name}"`)
          .join(', ')}`,
      );
  });
});

test('upgrade: a node of the last release starts on the new tables', async () => {
  const { ran, log } = noting();
  for (const { url } of [database, fresh]) await migrate(url, log, { steps: releasedSteps });
  assert.deepEqual(ran, []);
});

test('upgrade: no migration removes something that the last release uses, unless it is declared', async () => {
  const breaks = breaksOf(before, await schemaOf(admin));
  const named = new Set(newSteps.flatMap(({ contracts = [] }) => contracts));
  assert.deepEqual(
    [...breaks].filter(([key]) => !named.has(key)).map(([, sentence]) => sentence),
    [],
  );
  assert.deepEqual(
    [...named].filter((key) => !breaks.has(key)),
    [],
    'only what is taken away is named',
  );
});

const changes: readonly (readonly [change: string, breaks: readonly string[]])[] = [
  ['alter table chat drop column notes', ['chat.notes']],
  ['alter table chat rename column notes to remarks', ['chat.notes', 'chat.remarks']],
  ['alter table contact rename to person', ['contact']],
  ['drop table opt_out', ['opt_out']],
  ['alter table chat add column colour text not null', ['chat.colour']],
  ['alter table instance alter column proxy set not null', ['instance.proxy']],
  ['alter table webhook alter column removed drop default', ['webhook.removed']],
  ['alter table chat alter column mute_end_time type int using 0', ['chat.mute_end_time']],
  [`alter table chat add constraint named check (name <> 'y')`, ['named']],
  ['create unique index one_name on contact (name)', ['one_name']],
  [`alter table chat add column colour text not null default ''`, []],
  ['alter table chat add column colour text', []],
  ['alter table chat alter column notes drop not null', []],
  ['create table paint (colour text primary key)', []],
  ['create index by_colour on chat (notes)', []],
];
for (const [change, broken] of changes)
  test(`upgrade: after "${change}" the last release ${broken.length === 0 ? 'works' : 'fails'}`, async () => {
    const schema = await schemaOf(admin);
    const undo = new Error('undone');
    let found: readonly string[] = [];
    const changed = admin.transaction(async (runner) => {
      // The table is emptied, so that changes which existing rows would prevent are possible.
      for (const { table } of rows.toReversed()) await runner.rows({ name: '', text: `delete from ${table}` }, []);
      await runner.rows({ name: '', text: change }, []);
      found = [...breaksOf(schema, await schemaOf(runner)).keys()];
      throw undo;
    });
    await assert.rejects(changed, undo);
    assert.deepEqual(found, broken);
  });

test('upgrade: a statement that uses a removed column has no plan', async () => {
  await sql('alter table opt_out rename to former_opt_out');
  const using = statements.find(({ text }) => /\bopt_out\b/.test(text));
  assert.ok(using);
  await assert.rejects(planOf(admin, using), /opt_out/);
  await sql('alter table former_opt_out rename to opt_out');
});
