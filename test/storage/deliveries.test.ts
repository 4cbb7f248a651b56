/** Tests deliveries and webhooks on the real database: many rows, and sealed values. The rules are those of test/ports/. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { instance, webhook as sample } from '#test/contract/samples.ts';
import { testDatabase, writerOf } from '#test/support/database.ts';

const database = await testDatabase();
const storage = await database.storage();
const { deliveries, webhooks } = storage;

test('deliveries: a bounded number of past ones is deleted at a time', async () => {
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

test('webhooks: secret and headers are read back, and are readable nowhere', async () => {
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

test('deliveries: a body is stored compressed, and read back complete from the archive and by a replay', async () => {
  await storage.instances.insert({ ...instance.record, id: 'packed', token: 'packed' });
  await webhooks.save({ ...sample, id: 'packing', instanceId: 'packed' }, 1);
  const { epoch } = await writerOf(storage, 'packed');
  // Members with different names, as in an event of a group. The second body fits into no page, because random letters cannot be compressed.
  const members = Array.from({ length: 40 }, (_, n) => ({
    id: `${n}@s.whatsapp.net`,
    isAdmin: false,
    isSuperAdmin: false,
    displayName: '',
  }));
  const bodies = [JSON.stringify({ EventType: 'groups', members }), randomBytes(30_000).toString('hex')];
  for (const [n, body] of bodies.entries())
    await database.admin.rows(
      {
        name: '',
        text: `insert into outbox (webhook_id, instance_id, event_id, type, message_type, lane, body, size, attempts, at, not_before)
          values ('packing', 'packed', $1, 'groups', '', 'lane', $2, octet_length($2), 0, 1, 0)`,
      },
      [`e${n}`, body],
    );
  const stored = async (table: string) =>
    await database.admin.rows<{ body: string; isPacked: boolean }>(
      {
        name: '',
        text: `select body, pg_column_size(body) < octet_length(body) / 2 as "isPacked" from ${table} where webhook_id = 'packing' order by event_id`,
      },
      [],
    );
  const expected = [
    { body: bodies[0], isPacked: true },
    { body: bodies[1], isPacked: false },
  ];
  assert.deepEqual(await stored('outbox'), expected);
  const page = { rows: 10, bytes: 1_000_000 };
  const { rows } = await storage.outbox.due('packing', 'packed', 1, page);
  assert.deepEqual(
    rows.map(({ body }) => body),
    bodies,
  );
  const last = { dead: false, attempts: 1, status: 200, error: '', endedAt: 2, tries: [] };
  await storage.outbox.archive(rows.map(({ seq }) => ({ ...last, seq, instanceId: 'packed', epoch })));
  assert.deepEqual(await stored('archive'), expected);
  assert.equal((await deliveries.find(['packing'], 'e0'))?.body, bodies[0]);
  const all = {
    owner: 'packed',
    webhook: 'packing',
    events: null,
    types: null,
    states: ['delivered' as const],
    from: 0,
    to: 10,
    limit: 10,
  };
  assert.deepEqual(await deliveries.replay(all), [{ instanceId: 'packed', count: 2 }]);
  assert.deepEqual(await stored('outbox'), expected);
  const [tally] = await deliveries.tally(['packing']);
  assert.equal(tally?.delivered, 0);
});

test('deliveries: a replay of past and parked ones takes no more than its limit', async () => {
  await storage.instances.insert({ ...instance.record, id: 'limited', token: 'limited' });
  await webhooks.save({ ...sample, id: 'limited', instanceId: null }, 1);
  const values = (seq: number) => `('limited', 'limited', 'e${seq}', 'messages', '', 'l${seq}', '', 0, 1, ${seq}`;
  const run = (text: string) => database.admin.rows({ name: '', text }, []);
  await run(`insert into outbox (webhook_id, instance_id, event_id, type, message_type, lane, body, size, attempts, at, not_before) values
    ${[1, 2, 3].map((seq) => `${values(seq)}, 99)`).join(', ')}`);
  await run(`insert into archive (webhook_id, dead, at, seq, instance_id, event_id, type, message_type, lane, body, attempts, status, error, ended_at)
    values ('limited', true, 4, 4, 'limited', 'e4', 'messages', '', 'l', '', 1, 500, '', 4), ('limited', true, 5, 5, 'limited', 'e5', 'messages', '', 'l', '', 1, 500, '', 5)`);
  const query = {
    owner: null,
    webhook: 'limited',
    events: null,
    types: null,
    states: ['dead' as const, 'parked' as const],
    from: 0,
    to: 10,
  };
  const replayed = async (limit: number) => (await deliveries.replay({ ...query, limit })).reduce((sum, { count }) => sum + count, 0);
  assert.deepEqual([await replayed(1), await replayed(2), await replayed(10)], [1, 2, 2]);
});

test('deliveries: replays that wait leave a connection to the sweeps', async () => {
  const query = { webhook: 'none', events: null, types: null, states: ['parked' as const], from: 0, to: 10, limit: 1 };
  const replays = await database.admin.transaction(async (admin) => {
    await admin.rows({ name: '', text: 'lock table outbox in exclusive mode' }, []);
    const begun = ['one', 'one', 'other'].map((owner) => deliveries.replay({ ...query, owner }));
    await deliveries.oldest();
    return { begun };
  });
  assert.deepEqual(await Promise.all(replays.begun), [[], [], []]);
});
