/** Tests that the renewal of a lease has its own connection and waits for no take. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instance } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';
import { until } from '#test/support/until.ts';

const database = await testDatabase();
const storage = await database.storage({ shared: true });
const ids = ['r1', 'r2', 'r3'];
for (const id of ids) await storage.instances.insert({ ...instance.record, id, token: id });

test('renewals: a node renews its lease while takes use all their connections', async () => {
  const { leases } = storage;
  assert.ok(leases);
  const node = {
    name: 'a',
    incarnation: '11111111-1111-4111-8111-111111111111',
    capacity: 9,
    load: 0,
    astray: 0,
    draining: false,
    version: '1.0.0',
  };
  assert.equal(await leases.join(node, 60_000, null), null);
  let takes: Promise<unknown> | null = null;
  let over = 0;
  await database.admin.transaction(async (runner) => {
    await runner.rows({ name: '', text: 'select id from instance for update' }, []);
    takes = Promise.allSettled(ids.map((id) => leases.take(node.incarnation, [id], 'placed').finally(() => (over += 1))));
    const pool = () => storage.usage().find(({ name }) => name === 'leases');
    await until(() => pool()?.waiting === 1 && pool()?.free === 0, 'every connection of the takes waits for a lock');
    assert.equal(await leases.renew(node, 60_000), true);
    assert.equal(over, 0, 'the renewal did not wait for a take');
  });
  await takes;
});
