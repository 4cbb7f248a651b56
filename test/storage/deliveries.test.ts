/** Deliveries in the database: ended, listed, sent again, bounded, and gone with their owner. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Delivery, DeliveryState, Entry, EventType } from '#actors/model.ts';
import type { ClaimedRow, Ended } from '#actors/ports.ts';
import { instance, owner, webhook as sample } from '#test/contract/samples.ts';
import { removeRows } from '#test/support/removals.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
let clock = 1_000;
const storage = await database.storage({ now: () => clock });
const { deliveries, journal, outbox, webhooks, instances } = storage;

let made = 0;
/** An instance with a webhook of its own; the names of both. */
const place = async (): Promise<{ id: string; hook: string }> => {
  const [id, hook] = [`r${(made += 1)}`, `w${made}`];
  await instances.insert({ ...instance.record, id, token: id });
  await webhooks.save({ ...sample, id: hook, instanceId: id });
  return { id, hook };
};

const event = (type: EventType, size = 10): Entry => ({ kind: 'event', type, lane: 'l', payload: { text: 'x'.repeat(size) } });
/** Commits one event after the other, one time unit apart; answers their rows. */
const commit = async ({ id, hook }: { id: string; hook: string }, ...types: EventType[]) => {
  const rows = [];
  for (const type of types) {
    clock += 1;
    const committed = await journal.commit({ id, owner, epoch: 1 }, [event(type)], () => [hook]);
    rows.push(...committed.deliveries);
  }
  return rows;
};
const claimed = ({ seq, instanceId }: Delivery): ClaimedRow => ({ seq, instanceId, epoch: 1 });
const end = (row: Delivery, dead = false, change: Partial<Ended> = {}): Ended & ClaimedRow => ({
  ...claimed(row),
  dead,
  attempts: dead ? 11 : 1,
  status: dead ? 502 : 200,
  error: dead ? 'bad gateway' : '',
  endedAt: clock,
  ...change,
});
const states = async (hook: string, state: DeliveryState | null = null): Promise<readonly string[]> =>
  (await deliveries.list({ webhooks: [hook], state, limit: 100, offset: 0 })).deliveries.map(({ state, type }) => `${state} ${type}`);
const anything = { events: null, types: null, states: ['parked', 'dead', 'delivered'], from: 0, to: 9e15, limit: 100 } as const;

test('deliveries: are listed newest first with their state, page by page', async () => {
  const at = await place();
  const [a, b, c, d] = await commit(at, 'messages', 'presence', 'chats', 'groups');
  await outbox.postpone(claimed(b!), 9_000, { attempts: 3, status: 503, error: 'unavailable' });
  await outbox.archive([end(c!, true), end(d!)]);
  assert.deepEqual(await states(at.hook), ['delivered groups', 'dead chats', 'parked presence', 'waiting messages']);
  for (const [state, type] of [
    ['waiting', 'messages'],
    ['parked', 'presence'],
    ['dead', 'chats'],
    ['delivered', 'groups'],
  ] as const)
    assert.deepEqual(await states(at.hook, state), [`${state} ${type}`]);
  const page = await deliveries.list({ webhooks: [at.hook], state: null, limit: 2, offset: 1 });
  assert.deepEqual([page.deliveries.map(({ type }) => type), page.more], [['chats', 'presence'], true]);
  const [dead, parked] = page.deliveries;
  assert.partialDeepStrictEqual(dead, {
    eventId: c?.eventId,
    attempts: 11,
    status: 502,
    error: 'bad gateway',
    endedAt: clock,
    notBefore: 0,
  });
  assert.partialDeepStrictEqual(parked, {
    attempts: 3,
    status: 503,
    error: 'unavailable',
    notBefore: 9_000,
    endedAt: 0,
    instanceId: at.id,
  });
  assert.deepEqual((await deliveries.list({ webhooks: [], state: null, limit: 9, offset: 0 })).deliveries, []);
  assert.equal(a?.attempts, 0);
});

test('deliveries: what is sent again keeps its event, comes last and has all attempts before it', async () => {
  const at = await place();
  const [a, b, c] = await commit(at, 'messages', 'messages', 'presence');
  await outbox.archive([end(a!, true), end(b!)]);
  await outbox.postpone(claimed(c!), 9_000_000, { attempts: 4, status: 0, error: 'no' });
  const replayed = await deliveries.replay({ ...anything, webhook: at.hook, states: ['dead', 'delivered'] });
  assert.deepEqual(replayed, [{ instanceId: at.id, count: 2 }]);
  const rows = await outbox.due(at.hook, at.id, 0, 1e12, 10);
  assert.deepEqual(
    rows.map(({ eventId, attempts, notBefore, body, at: time }) => [eventId, attempts, notBefore, body, time]),
    [
      [c?.eventId, 4, 9_000_000, c?.body, c?.at],
      [a?.eventId, 0, 0, a?.body, a?.at],
      [b?.eventId, 0, 0, b?.body, b?.at],
    ],
  );
  assert.ok(rows[1]!.seq > c!.seq);
  await deliveries.replay({ ...anything, webhook: at.hook });
  const [hastened] = await outbox.due(at.hook, at.id, 0, 0, 10);
  assert.deepEqual([hastened?.eventId, hastened?.attempts], [c?.eventId, 0]);
});

test('deliveries: a replay is chosen by id, type, time and number, oldest first', async () => {
  const at = await place();
  const rows = await commit(at, 'messages', 'presence', 'messages', 'chats', 'messages');
  const times = rows.map((row) => row.at);
  const archived = async (): Promise<void> => outbox.archive((await outbox.due(at.hook, at.id, 0, 0, 10)).map((row) => end(row)));
  const back = async (query: object): Promise<string> => {
    await archived();
    await deliveries.replay({ ...anything, webhook: at.hook, ...query });
    const found = await outbox.due(at.hook, at.id, 0, 0, 10);
    return found.map(({ eventId }) => rows.findIndex((row) => row.eventId === eventId)).join(' ');
  };
  assert.equal(await back({ events: [rows[1]!.eventId, rows[3]!.eventId, 'unknown'] }), '1 3');
  assert.equal(await back({ types: ['messages'] }), '0 2 4');
  assert.equal(await back({ from: times[1], to: times[3] }), '1 2 3');
  assert.equal(await back({ limit: 2 }), '0 1');
  assert.equal(await back({ states: ['dead'] }), '');
  assert.equal(await back({ states: ['waiting'] }), '');
});

test('deliveries: what is over the bounds goes, the least important first', async () => {
  const at = await place();
  const ranks = { presence: 0, chats: 1, messages: 3 } as Record<EventType, number>;
  await commit(at, 'messages', 'presence', 'chats', 'presence', 'messages', 'chats');
  const [tally] = await deliveries.tally([at.hook]);
  assert.deepEqual([tally?.waiting, tally?.parked, tally?.bytes], [6, 0, 6 * '{"text":"xxxxxxxxxx"}'.length]);
  assert.ok((await deliveries.tally(null)).some(({ webhookId }) => webhookId === at.hook));
  const before = clock - 100;
  assert.deepEqual(await deliveries.trim(at.hook, { rows: 3, bytes: 1e9, before }, ranks), { presence: 2, chats: 1 });
  assert.deepEqual(await states(at.hook), ['waiting chats', 'waiting messages', 'waiting messages']);
  assert.deepEqual(await deliveries.trim(at.hook, { rows: 9, bytes: 45, before }, ranks), { chats: 1 });
  assert.deepEqual(await deliveries.trim(at.hook, { rows: 9, bytes: 1e9, before: clock }, ranks), { messages: 2 });
  assert.deepEqual(await deliveries.tally([at.hook]), []);
});

test('deliveries: past ones are forgotten by age and number, each kind and webhook for itself', async () => {
  const [one, other] = [await place(), await place()];
  const rows = await commit(one, 'messages', 'messages', 'messages', 'presence', 'presence', 'chats');
  await outbox.archive(rows.map((row, n) => end(row, n < 3)));
  const [foreign] = await commit(other, 'messages');
  await outbox.archive([end(foreign!)]);
  await deliveries.forget(2, 0, 0);
  assert.deepEqual(await states(one.hook), ['delivered chats', 'delivered presence', 'dead messages', 'dead messages']);
  await deliveries.forget(2, rows[5]!.at, 0);
  assert.deepEqual(await states(one.hook), ['delivered chats', 'dead messages', 'dead messages']);
  await deliveries.forget(2, 0, rows[5]!.at);
  assert.deepEqual(await states(one.hook), ['delivered chats']);
  assert.deepEqual(await states(other.hook), ['delivered messages']);
});

test('deliveries: what is kept of many past ones is worked out once, not once for each', async () => {
  const { hook } = await place();
  // Each looking at all others would be 150 million looks, and take longer than any statement may.
  const many = `insert into archive (webhook_id, dead, at, seq, instance_id, event_id, type, message_type, lane, body, attempts, status, error, ended_at)
    select '${hook}', false, n, n, 'r', n::text, 'messages', '', 'l', '', 1, 200, '', n from generate_series(1, 13000) as n`;
  await database.admin.rows({ name: '', text: many }, []);
  await database.admin.rows({ name: '', text: 'analyze archive' }, []);
  await deliveries.forget(1000, 0, 0);
  const left = `select count(*)::int as count, min(at)::int as oldest from archive where webhook_id = '${hook}'`;
  assert.deepEqual(await database.admin.rows({ name: '', text: left }, []), [{ count: 1000, oldest: 12_001 }]);
});

test('deliveries: they go with their webhook and their instance, from the global webhook too', async () => {
  const [one, other] = [await place(), await place()];
  await webhooks.save({ ...sample, id: 'global', instanceId: null });
  const all = [];
  for (const { id, hook } of [one, other])
    all.push(...(await journal.commit({ id, owner, epoch: 1 }, [event('chats'), event('groups')], () => ['global', hook])).deliveries);
  await outbox.archive(all.map((row) => end(row)));
  assert.equal((await states('global')).length, 4);
  await instances.remove(one.id, 1);
  await removeRows(storage.removals);
  assert.deepEqual([(await states('global')).length, (await states(one.hook)).length, (await states(other.hook)).length], [2, 0, 2]);
  await webhooks.remove(other.hook);
  await removeRows(storage.removals);
  assert.deepEqual([(await states('global')).length, (await states(other.hook)).length], [2, 0]);
  await outbox.archive([end(all[0]!)]);
});

test('deliveries: a row that is gone already is not archived', async () => {
  const at = await place();
  const [row] = await commit(at, 'messages');
  await outbox.remove([claimed(row!)]);
  await outbox.archive([end(row!)]);
  assert.deepEqual(await states(at.hook), []);
});

test('webhooks: secret and headers come back, and stand nowhere in the clear', async () => {
  const saved = { ...sample, id: 'sealed', instanceId: null, secret: 'whsec_visible', headers: { Authorization: 'Bearer visible' } };
  await webhooks.save(saved);
  assert.deepEqual(
    (await webhooks.all()).find(({ id }) => id === 'sealed'),
    saved,
  );
  const [row] = await database.admin.rows<{ text: string }>(
    { name: '', text: `select webhook::text as text from webhook where id = 'sealed'` },
    [],
  );
  assert.ok(!row!.text.includes('visible') && !row!.text.includes(Buffer.from('visible').toString('hex')));
  await webhooks.save({ ...saved, secret: '', headers: {} });
  assert.deepEqual((await webhooks.all()).find(({ id }) => id === 'sealed')?.secret, '');
});
