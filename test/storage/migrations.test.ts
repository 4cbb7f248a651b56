/** Tests the tables. Migrations and entities give the same tables, which are created once and unchanged by later starts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MikroORM } from '@mikro-orm/postgresql';
import { parentCommunity, type Entry, type Group } from '#actors/model.ts';
import { entities } from '#src/storage/entities/index.ts';
import { migrations } from '#src/storage/migrations/list.ts';
import { migrate } from '#src/storage/open.ts';
import { instance } from '#test/contract/samples.ts';
import { quietLog, testDatabase } from '#test/support/database.ts';

const database = await testDatabase({ isEmpty: true });
const nobody = { id: '', pn: '', lid: '' };

test('migrations: several starts at once on an empty database run each of them once', async () => {
  const applied: unknown[] = [];
  const log = { ...quietLog, debug: (fields: object, event: string) => event === 'storage.migrated' && applied.push(fields) };
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

test('migrations: chats from before the field of the community get their community', async () => {
  const storage = await database.storage();
  const { epoch } = instance.record;
  await storage.instances.insert({ ...instance.record, id: 'r1', token: 'r1' });
  const group = (id: string, facts: Partial<Group>): Entry => {
    const subject = { text: `Group ${id}`, by: nobody, at: 1 };
    return { kind: 'group', group: { id, owner: nobody, createdAt: null, members: [], subject, ...facts } };
  };
  const chat = (chatId: string): Entry => ({ kind: 'chat', chat: { chatId, isGroup: true, extra: { lead_name: 'Ana' } }, create: true });
  const groups = [
    group('town@g.us', { isCommunity: true, parent: '' }),
    group('news@g.us', { parent: 'town@g.us', isDefaultSubgroup: true }),
    group('one@g.us', { parent: 'town@g.us' }),
  ];
  await storage.journal.commit({ id: 'r1', owner: '', epoch }, [...groups, chat('one@g.us'), chat('town@g.us')], () => []);
  await database.admin.rows({ name: '', text: 'drop index chat_group_in_community' }, []);
  await database.admin.rows({ name: '', text: `delete from mikro_orm_migrations where name = '0034-communities'` }, []);
  await migrate(database.url, quietLog);
  const rows = await database.admin.rows({ name: '', text: 'select chat_id as id, extra from chat order by chat_id' }, []);
  assert.deepEqual(rows, [
    {
      id: 'one@g.us',
      extra: {
        lead_name: 'Ana',
        [parentCommunity]: { id: 'town@g.us', name: 'Group town@g.us', image: '', preview: '', defaultGroup: 'news@g.us' },
      },
    },
    { id: 'town@g.us', extra: { lead_name: 'Ana' } },
  ]);
  await storage.close();
});
