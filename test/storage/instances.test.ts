/** Tests instances and webhooks on the real database: thousands of rows, hashes, texts that the server would refuse. `ports/` tests the contract. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { instance, webhook } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const storage = await database.storage({ now: () => 5_000 });
const crowd = await (await testDatabase()).storage();
const record = instance.record;
await storage.instances.insert(record);

test('instances: thousands are read back in the order of their creation', async () => {
  const many = Array.from({ length: 620 }, (_, n) => ({
    ...record,
    id: `r${(n * 7919) % 1000}x${n}`,
    token: `token-${n}`,
    created: Math.floor(n / 2),
  }));
  for (const one of many) await crowd.instances.insert(one);
  const order = many.toSorted((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1));
  assert.deepEqual(await crowd.instances.all(), order);
});

test('instances: an instance is found by the hash of its last token only', async () => {
  await storage.instances.update(record.id, 1, { token: 'instance-token-2' });
  const hash = createHash('sha256').update('instance-token-2').digest();
  const rows = await database.admin.rows({ name: '', text: 'select id from instance where token_hash = $1' }, [hash]);
  assert.deepEqual(rows, [{ id: record.id }]);
  assert.equal((await storage.instances.all())[0]?.token, 'instance-token-2');
});

test('webhooks: they are saved, replaced and removed, including the global one', async () => {
  const global = { ...webhook, id: 'rglobal', instanceId: null, created: webhook.created + 1 };
  await storage.webhooks.save(webhook, 1);
  await storage.webhooks.save(global, 0);
  await storage.webhooks.save({ ...webhook, url: 'https://example.com/other', events: ['All'], excludeMessages: [] }, 1);
  assert.deepEqual(await storage.webhooks.all(), [
    { ...webhook, url: 'https://example.com/other', events: ['All'], excludeMessages: [] },
    global,
  ]);
  await storage.webhooks.remove(webhook, 1);
  assert.deepEqual(await storage.webhooks.all(), [global]);
});

test('instances, webhooks: characters that the database refuses are removed from texts', async () => {
  await storage.instances.update(record.id, 1, { name: 'a\0b', fieldsMap: { 'k\0': '\ud800' } });
  const [after] = await storage.instances.all();
  assert.deepEqual([after?.name, after?.fieldsMap], ['ab', { k: '\ufffd' }]);
  await storage.webhooks.save({ ...webhook, id: 'rzero', events: ['messages\0'] }, 1);
  assert.deepEqual((await storage.webhooks.all())[0]?.events, ['messages']);
});

test('webhooks: names of events are read back unchanged, whatever they contain', async () => {
  const events = ['messages', '', ' ', '\t', 'NULL', 'a b ', '"quoted"', 'back\\slash', '{a,b}', "it's", 'line\nbreak, comma'];
  const given = { ...webhook, id: 'rodd', events, excludeMessages: events };
  await storage.webhooks.save(given, 1);
  assert.deepEqual(await storage.webhooks.some(['rodd']), [given]);
});
