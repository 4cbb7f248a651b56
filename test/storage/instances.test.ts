/** Instances, webhooks and settings are what they were when they come back. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { instance, webhook } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const storage = await database.storage({ now: () => 5_000 });
const crowd = await (await testDatabase()).storage();
const record = instance.record;

test('instances: a record comes back as it was stored', async () => {
  await storage.instances.insert(record);
  assert.deepEqual(await storage.instances.all(), [record]);
});

test('instances: thousands come back too, in the order in which they were made', async () => {
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

test('instances: an update changes what it names and the time of change', async () => {
  const patch = { token: 'instance-token-2', aiApikey: 'sk-1', fieldsMap: { a: [1] }, lastDisconnect: 7, wanted: 'asleep' } as const;
  assert.equal(await storage.instances.update(record.id, 1, patch), true);
  assert.deepEqual(await storage.instances.all(), [{ ...record, ...patch, updated: 5_000 }]);
  assert.equal(await storage.instances.update(record.id, 1, { fieldsMap: null, lastDisconnect: null }), true);
  const [after] = await storage.instances.all();
  assert.deepEqual([after?.fieldsMap, after?.lastDisconnect], [null, null]);
});

test('instances: an update of one that is gone answers false', async () => {
  assert.equal(await storage.instances.update('r00000000000000', 1, { name: 'x' }), false);
});

test('instances: two of one token are refused', async () => {
  await assert.rejects(storage.instances.insert({ ...record, id: 'r2', token: 'instance-token-2' }), {
    name: 'UniqueConstraintViolationException',
  });
});

test('instances: a token is found by its hash', async () => {
  const hash = createHash('sha256').update('instance-token-2').digest();
  const rows = await database.admin.rows({ name: '', text: 'select id from instance where token_hash = $1' }, [hash]);
  assert.deepEqual(rows, [{ id: record.id }]);
});

test('webhooks: saved, replaced and removed, the global one among them', async () => {
  const global = { ...webhook, id: 'rglobal', instanceId: null, created: webhook.created + 1 };
  await storage.webhooks.save(webhook);
  await storage.webhooks.save(global);
  await storage.webhooks.save({ ...webhook, url: 'https://example.com/other', events: ['All'], excludeMessages: [] });
  assert.deepEqual(await storage.webhooks.all(), [
    { ...webhook, url: 'https://example.com/other', events: ['All'], excludeMessages: [] },
    global,
  ]);
  await storage.webhooks.remove(webhook.id);
  assert.deepEqual(await storage.webhooks.all(), [global]);
});

test('instances, webhooks: a text that the database would refuse is stored without what it refuses', async () => {
  await storage.instances.update(record.id, 1, { name: 'a\0b', fieldsMap: { 'k\0': '\ud800' } });
  const [after] = await storage.instances.all();
  assert.deepEqual([after?.name, after?.fieldsMap], ['ab', { k: '\ufffd' }]);
  await storage.webhooks.save({ ...webhook, id: 'rzero', events: ['messages\0'] });
  assert.deepEqual((await storage.webhooks.all())[0]?.events, ['messages']);
});

test('settings: absent, set, replaced', async () => {
  assert.equal(await storage.settings.get('admin'), null);
  await storage.settings.set('admin', 'one');
  await storage.settings.set('admin', 'two');
  assert.equal(await storage.settings.get('admin'), 'two');
});
