/** Versions of what changes, as the database gives them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instance, webhook } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const storage = await database.storage();
const { instances, webhooks, changes } = storage;

let made = 0;
const register = async () => {
  made += 1;
  const record = { ...instance.record, id: `r${made}`, token: `token ${made}`, epoch: 1 };
  await instances.insert(record);
  return record;
};

const found = async (version: number) => (await changes.since(version)).map(({ kind, id, removed }) => ({ kind, id, removed }));

test('changes: what is made, changed and removed has a new version, of instances and webhooks', async () => {
  const before = await changes.latest();
  const record = await register();
  await webhooks.save({ ...webhook, id: 'w1', instanceId: record.id });
  assert.deepEqual(await found(before), [
    { kind: 'instance', id: record.id, removed: false },
    { kind: 'webhook', id: 'w1', removed: false },
  ]);
  const made = await changes.latest();
  await instances.update(record.id, 1, { token: 'another' });
  await webhooks.save({ ...webhook, id: 'w1', instanceId: record.id, enabled: !webhook.enabled });
  assert.equal((await found(made)).length, 2);
  const changed = await changes.latest();
  await webhooks.remove('w1');
  await instances.remove(record.id, 1);
  assert.ok((await found(changed)).every(({ removed }) => removed));
  const { instances: ids, webhooks: hooks } = await changes.ids();
  assert.ok(!ids.includes(record.id) && !hooks.includes('w1'));
});

test('changes: what a session writes of itself is none', async () => {
  const record = await register();
  const before = await changes.latest();
  await instances.update(record.id, 1, { lastActiveAt: 77 });
  await instances.update(record.id, 1, { lastDisconnect: 7, lastDisconnectReason: 'gone', lastDisconnectCause: 'loggedOut' });
  await instances.update(record.id, 1, { name: record.name });
  assert.equal(await changes.latest(), before);
});

test('changes: an instance is found by its token, and one webhook among many by its id', async () => {
  const record = await register();
  assert.equal((await instances.byToken(record.token))?.id, record.id);
  await instances.update(record.id, 1, { token: 'rotated' });
  assert.equal(await instances.byToken(record.token), null);
  assert.equal((await instances.byToken('rotated'))?.token, 'rotated');
  await webhooks.save({ ...webhook, id: 'w2', instanceId: record.id });
  assert.deepEqual(
    (await webhooks.some(['w2', 'unknown'])).map(({ id }) => id),
    ['w2'],
  );
  assert.deepEqual(
    (await instances.some([record.id, 'unknown'])).map(({ id }) => id),
    [record.id],
  );
});
