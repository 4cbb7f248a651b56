/** Tests the versions that the database gives to changed rows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterMemory } from '#actors/cluster/memory.ts';
import { adminTokenSetting } from '#actors/ports.ts';
import { SupervisedWorkers } from '#actors/policy/supervised-workers.ts';
import { instance, webhook } from '#test/contract/samples.ts';
import { FakeTime } from '#test/fakes/time.ts';
import { testPolicy } from '#test/fakes/world.ts';
import { quietLog, testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const storage = await database.storage();
const { instances, webhooks, changes } = storage;

const latest = async () => (await changes.since(Number.MAX_SAFE_INTEGER)).latest;

test('changes: before the first change no version is taken', async () => {
  assert.deepEqual(await changes.since(0), { ...(await changes.since(0)), changes: [], latest: 0 });
});

let made = 0;
const register = async () => {
  made += 1;
  const record = { ...instance.record, id: `r${made}`, token: `token ${made}`, epoch: 1 };
  await instances.insert(record);
  return record;
};

const found = async (version: number) => (await changes.since(version)).changes.map(({ kind, id, removed }) => ({ kind, id, removed }));

test('changes: creating, changing and removing instances and webhooks gives new versions', async () => {
  const before = await latest();
  const record = await register();
  await webhooks.save({ ...webhook, id: 'w1', instanceId: record.id }, 1);
  assert.deepEqual(await found(before), [
    { kind: 'instance', id: record.id, removed: false },
    { kind: 'webhook', id: 'w1', removed: false },
  ]);
  const made = await latest();
  await instances.update(record.id, 1, { token: 'another' });
  await webhooks.save({ ...webhook, id: 'w1', instanceId: record.id, enabled: !webhook.enabled }, 1);
  assert.equal((await found(made)).length, 2);
  const changed = await latest();
  await webhooks.remove({ id: 'w1', instanceId: record.id }, 1);
  await instances.remove(record.id, 1);
  assert.ok((await found(changed)).every(({ removed }) => removed));
  const { instances: ids, webhooks: hooks } = await changes.ids();
  assert.ok(!ids.includes(record.id) && !hooks.includes('w1'));
});

test('changes: rows that a session writes about itself give none', async () => {
  const record = await register();
  const before = await latest();
  await instances.update(record.id, 1, { lastActiveAt: 77 });
  await instances.update(record.id, 1, { lastDisconnect: 7, lastDisconnectReason: 'gone', lastDisconnectCause: 'loggedOut' });
  await instances.update(record.id, 1, { name: record.name });
  assert.equal(await latest(), before);
});

test('changes: an instance is found by its token, and one webhook among many by its id', async () => {
  const record = await register();
  assert.equal((await instances.byToken(record.token))?.id, record.id);
  await instances.update(record.id, 1, { token: 'rotated' });
  assert.equal(await instances.byToken(record.token), null);
  assert.equal((await instances.byToken('rotated'))?.token, 'rotated');
  await webhooks.save({ ...webhook, id: 'w2', instanceId: record.id }, 1);
  assert.deepEqual(
    (await webhooks.some(['w2', 'unknown'])).map(({ id }) => id),
    ['w2'],
  );
  assert.deepEqual(
    (await instances.some([record.id, 'unknown'])).map(({ id }) => id),
    [record.id],
  );
});

test('changes: a transaction that commits behind more than 200 later versions is reported by the look after its end', async () => {
  const record = await register();
  const remembered = new Map<string, string>();
  const time = new FakeTime();
  const memory = new ClusterMemory({
    changes,
    instances,
    webhooks,
    time,
    log: quietLog,
    workers: new SupervisedWorkers({ time, log: quietLog, policy: testPolicy, random: () => 1, fields: {} }),
    every: 500,
    host: {
      owns: () => false,
      instanceIds: () => [],
      webhookIds: () => [],
      setInstance: ({ id, name }) => void remembered.set(id, name),
      forgetInstance: () => undefined,
      setWebhook: () => undefined,
      forgetWebhook: () => undefined,
      refreshAdmin: async () => undefined,
      refreshSignIns: async () => undefined,
    },
  });
  await memory.begin();
  const before = await latest();
  await database.admin.transaction(async (runner) => {
    await runner.rows({ name: '', text: 'update instance set name = $2 where id = $1' }, [record.id, 'slow']);
    for (let at = 0; at < 250; at += 1)
      await webhooks.save({ ...webhook, id: 'w3', instanceId: record.id, url: `https://w.example/${at}` }, 1);
    for (let looks = 0; looks < 5; looks += 1) await memory.refreshed();
    const look = await changes.since(before);
    assert.ok(look.latest >= before + 251 && look.oldest < look.next, JSON.stringify(look));
    assert.equal(remembered.get(record.id), undefined);
  });
  await memory.refreshed();
  assert.equal(remembered.get(record.id), 'slow');
  memory.stop();
});

test('changes: a look includes the stored admin token', async () => {
  assert.equal((await changes.since(0)).admin, null);
  await storage.settings.set(adminTokenSetting, 'stored');
  assert.equal((await changes.since(0)).admin, 'stored');
});
