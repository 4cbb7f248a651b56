/** Tests the tables. Migrations and entities give the same tables, which are created once and unchanged by later starts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MikroORM } from '@mikro-orm/postgresql';
import { entities } from '#src/storage/entities/index.ts';
import { upgrade } from '#src/storage/migrations/from-first-release.ts';
import { migrations } from '#src/storage/migrations/list.ts';
import { step, type ListedMigration } from '#src/storage/migrations/step.ts';
import { migrate } from '#src/storage/open.ts';
import { quietLog, testDatabase } from '#test/support/database.ts';
import { schemaLines } from '#test/support/schema-lines.ts';
import { releasedSteps } from '#test/support/upgrade.ts';

const database = await testDatabase({ isEmpty: true });

test('migrations: of several starts at once on an empty database one runs the baseline, which notes the upgrade', async () => {
  const applied: unknown[] = [];
  const log = { ...quietLog, debug: (fields: object, event: string) => event === 'storage.migrated' && applied.push(fields) };
  await Promise.all([1, 2, 3].map(() => migrate(database.url, log)));
  const later = migrations.slice(1 + upgrade.length).map(({ name }) => name);
  assert.deepEqual(applied, [{ migrations: ['0001-tables', ...later] }]);
  const rows = await database.admin.rows<{ name: string }>({ name: '', text: 'select name from mikro_orm_migrations' }, []);
  const expected = new Set([...releasedSteps, ...migrations].map(({ name }) => name));
  assert.deepEqual(rows.map(({ name }) => name).toSorted(), [...expected].toSorted());
});

test('migrations: a start on an existing database changes nothing', async () => {
  const first = await database.storage();
  await first.settings.set('kept', 'yes');
  await first.close();
  await migrate(database.url, quietLog);
  const second = await database.storage();
  assert.equal(await second.settings.get('kept'), 'yes');
});

test('migrations: they create the tables that the entities describe', async () => {
  const orm = await MikroORM.init({
    dbName: new URL(database.url).pathname.slice(1),
    driverOptions: { connectionString: database.url },
    entities: [...entities],
    ensureDatabase: false,
    schemaGenerator: { skipTables: ['mikro_orm_migrations'] },
  });
  try {
    // Entities cannot describe a statement-level trigger, nor a trigger that several tables share.
    const differences = (await orm.schema.getUpdateSchemaSQL({ wrap: false }))
      .split('\n')
      .filter((line) => !/message_receipts|^drop (?:trigger|function) if exists "(?:instance|webhook)_/.test(line));
    assert.equal(differences.join('\n').trim(), '');
  } finally {
    await orm.close(true);
  }
});

test('migrations: a database with all former migrations has its tables already', async () => {
  const former = await testDatabase();
  const sql = (text: string) => former.admin.rows<{ name: string }>({ name: '', text }, []);
  const names = () => sql(`select name from mikro_orm_migrations order by name`);
  const before = await names();
  await sql(`delete from mikro_orm_migrations where name in (${upgrade.map(({ name }) => `'${name}'`).join(', ')})`);
  await sql(`insert into mikro_orm_migrations (name) values ('0106-compressed-bodies')`);
  const ran: unknown[] = [];
  await migrate(former.url, { ...quietLog, info: (fields: object) => void ran.push(fields) });
  assert.deepEqual(ran, []);
  assert.deepEqual(
    (await names()).filter(({ name }) => name !== '0106-compressed-bodies'),
    before,
  );
});

const between: readonly (readonly [title: string, steps: readonly ListedMigration[]])[] = [
  ['older than the first release', releasedSteps.slice(0, 20)],
  ['between the first release and the baseline', [...releasedSteps, step('0053-device-names', [])]],
];
for (const [title, steps] of between)
  test(`migrations: a database from a version ${title} is refused, and the error names the commit to start`, async () => {
    const { url, admin } = await testDatabase({ isEmpty: true });
    await migrate(url, quietLog, { steps });
    const before = await schemaLines(admin);
    await assert.rejects(migrate(url, quietLog), /between two releases.*start commit 1ba957f2/);
    assert.deepEqual(await schemaLines(admin), before);
  });

test('migrations: an interrupted upgrade continues at its next migration', async () => {
  const { url } = await testDatabase({ isEmpty: true });
  await migrate(url, quietLog, { steps: releasedSteps });
  await migrate(url, quietLog, { steps: migrations.slice(0, 4) });
  const ran: unknown[] = [];
  await migrate(url, { ...quietLog, info: (fields: object) => void ran.push(fields) });
  assert.deepEqual(ran, [{ migrations: migrations.slice(4).map(({ name }) => name) }]);
});
