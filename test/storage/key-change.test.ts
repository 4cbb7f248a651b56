/** Tests a change of the encryption key. All values are encrypted again while the gateway works, and the former key is not needed afterwards. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sealedColumns } from '#src/storage/vault/resealing.ts';
import { instance, webhook } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const former = Buffer.alloc(32, 7);
const encryptionKey = Buffer.alloc(32, 9);
const { id } = instance.record;
const run = (text: string) => database.admin.rows({ name: '', text }, []);
const keyCount = 450;

test('key change: with both keys all values are read and encrypted again, and then the new key alone opens them', async () => {
  const before = await database.storage({ encryptionKey: former });
  await before.instances.insert({ ...instance.record, token: 'the token', aiApikey: 'the api key' });
  await before.webhooks.save({ ...webhook, secret: 'the secret' }, 1);
  const keys = Array.from({ length: keyCount }, (_, n) => ({ type: 'session', id: String(n), value: `key ${n}` }));
  await before.vault.write(id, 1, { credentials: '{"old":1}', keys });
  await before.vault.discard(id, 1, 'setAside', 'a reason');
  await before.vault.write(id, 1, { credentials: '{"old":2}', keys });
  await before.vault.log(id, 1, [{ seq: 3, stanza: Buffer.from('a stanza') }]);
  await before.chatbots.saveKey({ instanceId: id, epoch: 1 }, { id: 'a1', provider: 'openai', baseUrl: '' }, 'the key of an agent');
  await before.close();

  const both = await database.storage({ encryptionKey, formerEncryptionKey: former });
  assert.equal(await both.vault.credentials(id), '{"old":2}');
  await both.vault.write(id, 1, { keys: [{ type: 'session', id: '449', value: 'written meanwhile' }] });
  await both.resealed;
  await both.close();

  await assert.rejects(database.storage({ encryptionKey: former }), /encryption key is not the one/);
  const after = await database.storage({ encryptionKey });
  const [record] = await after.instances.all();
  assert.deepEqual([record?.token, record?.aiApikey], ['the token', 'the api key']);
  assert.equal((await after.webhooks.all())[0]?.secret, 'the secret');
  assert.deepEqual(
    [...(await after.chatbots.keys(id))],
    [['a1', { key: 'the key of an agent', service: { provider: 'openai', baseUrl: '' } }]],
  );
  assert.equal(await after.vault.credentials(id), '{"old":2}');
  const found = new Map((await after.vault.allKeys(id, ['session'])).map((key) => [key.id, key.value]));
  assert.equal(found.size, keyCount);
  assert.deepEqual([found.get('0'), found.get('299'), found.get('449')], ['key 0', 'key 299', 'written meanwhile']);
  assert.equal((await after.vault.logged(id, 5)).stanzas[0]?.stanza.toString(), 'a stanza');
  await after.close();
});

test('key change: an interrupted change needs both keys again, and continues', async () => {
  const third = Buffer.alloc(32, 11);
  const interrupted = await database.storage({ encryptionKey: third, formerEncryptionKey: encryptionKey });
  await interrupted.close();
  await assert.rejects(database.storage({ encryptionKey: third }), /encryption key is not the one/);
  const again = await database.storage({ encryptionKey: third, formerEncryptionKey: encryptionKey });
  await again.resealed;
  await again.close();
  const after = await database.storage({ encryptionKey: third });
  assert.equal((await after.vault.allKeys(id, ['session'])).length, keyCount);
  await after.close();
});

test('key change: it covers every column with encrypted values', async () => {
  const plain = ['instance.token_hash', 'message.raw'];
  const columns = await run(
    `select table_name || '.' || column_name as name from information_schema.columns where table_schema = 'public' and data_type = 'bytea'`,
  );
  const known = [...sealedColumns.map(({ table, column }) => `${table}.${column}`), ...plain];
  assert.deepEqual(
    columns.map(({ name }) => String(name)).filter((name) => !known.includes(name)),
    [],
  );
});
