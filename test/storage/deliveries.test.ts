/** Tests deliveries and webhooks on the real database: many rows, and sealed values. The rules are those of test/ports/. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { webhook as sample } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const storage = await database.storage();
const { deliveries, webhooks } = storage;

test('deliveries: of many past ones a bounded number is forgotten at a time', async () => {
  const hook = 'many';
  const many = `insert into archive (webhook_id, dead, at, seq, instance_id, event_id, type, message_type, lane, body, attempts, status, error, ended_at)
    select '${hook}', false, n, n, 'r', n::text, 'messages', '', 'l', '', 1, 200, '', n from generate_series(1, 13000) as n`;
  await database.admin.rows({ name: '', text: many }, []);
  await database.admin.rows({ name: '', text: 'analyze archive' }, []);
  const pieces: number[] = [];
  for (let gone = 1, left = 12_000; gone > 0; left -= gone)
    pieces.push((gone = await deliveries.forget(hook, false, { rows: left, before: 0 })));
  assert.deepEqual(pieces, [2000, 2000, 2000, 2000, 2000, 2000, 0]);
  const left = `select count(*)::int as count, min(at)::int as oldest from archive where webhook_id = '${hook}'`;
  assert.deepEqual(await database.admin.rows({ name: '', text: left }, []), [{ count: 1000, oldest: 12_001 }]);
});

test('webhooks: secret and headers come back, and stand nowhere in the clear', async () => {
  const saved = { ...sample, id: 'sealed', instanceId: null, secret: 'whsec_visible', headers: { Authorization: 'Bearer visible' } };
  await webhooks.save(saved, 1);
  assert.deepEqual(
    (await webhooks.all()).find(({ id }) => id === 'sealed'),
    saved,
  );
  const [row] = await database.admin.rows<{ text: string }>(
    { name: '', text: `select webhook::text as text from webhook where id = 'sealed'` },
    [],
  );
  assert.ok(!row!.text.includes('visible') && !row!.text.includes(Buffer.from('visible').toString('hex')));
  await webhooks.save({ ...saved, secret: '', headers: {} }, 1);
  assert.deepEqual((await webhooks.all()).find(({ id }) => id === 'sealed')?.secret, '');
});
