/** Tables: the same from migrations as from the entities, made once, kept as they are at the next start. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MikroORM } from '@mikro-orm/postgresql';
import { entities } from '#src/storage/entities/index.ts';
import { migrations } from '#src/storage/migrations/list.ts';
import { migrate } from '#src/storage/open.ts';
import { quietLog, testDatabase } from '#test/support/database.ts';

const database = await testDatabase();

test('migrations: several starts at once on an empty database run each of them once', async () => {
  const applied: unknown[] = [];
  const log = { ...quietLog, info: (fields: object, event: string) => event === 'storage.migrated' && applied.push(fields) };
  await Promise.all([1, 2, 3].map(() => migrate(database.url, log)));
  assert.deepEqual(applied, [{ migrations: migrations.map(({ name }) => name) }]);
  const rows = await database.admin.rows({ name: '', text: 'select name from mikro_orm_migrations order by id' }, []);
  assert.deepEqual(
    rows,
    migrations.map(({ name }) => ({ name })),
  );
});

test('migrations: a start on an existing database changes nothing', async () => {
  const first = await database.storage();
  await first.settings.set('kept', 'yes');
  await first.close();
  await migrate(database.url, quietLog);
  const second = await database.storage();
  assert.equal(await second.settings.get('kept'), 'yes');
});

test('migrations: they lead to the tables that the entities describe', async () => {
  const orm = await MikroORM.init({
    dbName: new URL(database.url).pathname.slice(1),
    driverOptions: { connectionString: database.url },
    entities: [...entities],
    ensureDatabase: false,
    schemaGenerator: { skipTables: ['mikro_orm_migrations'] },
  });
  try {
    // Entities have no form for a trigger of whole statements.
    const differences = (await orm.schema.getUpdateSchemaSQL({ wrap: false }))
      .split('\n')
      .filter((line) => !line.includes('message_receipts'));
    assert.equal(differences.join('\n'), '');
  } finally {
    await orm.close(true);
  }
});
