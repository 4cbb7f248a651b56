/** Tests that slow queries of one instance delay its own queries, and no others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Database, openDatabase, type Statement } from '#src/storage/postgres/database.ts';
import { fairShare, FairQueue } from '#src/storage/postgres/pools.ts';
import { createDeliveryStore } from '#src/storage/stores/deliveries.ts';
import { quietLog, testDatabase } from '#test/support/database.ts';

const { url } = await testDatabase();
const slow = { name: '', text: 'select $1::text as id, pg_sleep(0.2)' };
const quick = { name: '', text: 'select $1::text as id' };
const share = { atOnce: 2, waiting: 10, waitMs: 60_000 };
const openPool = (t: { after(work: () => Promise<void>): void }) =>
  openDatabase({ url, log: quietLog, poolSize: 4 }).then((pool) => {
    t.after(() => pool.close());
    return pool;
  });

test('fair share: an instance with many queries has two connections, and another one is answered at once', async (t) => {
  const pool = await openPool(t);
  const queries = fairShare(pool, share);
  await queries.rows(quick, ['warm']);
  let answered = 0;
  const count = (rows: readonly object[]) => {
    answered += 1;
    return rows;
  };
  const all = Array.from({ length: 12 }, async () => count(await queries.rows(slow, ['greedy'])));
  let busiest = 0;
  for (let n = 0; n < 20; n += 1) {
    assert.deepEqual(await queries.rows(quick, ['other']), [{ id: 'other' }]);
    if (n === 0) assert.ok(answered < 12, 'the other instance did not wait for all of them');
    const { open, free } = pool.usage();
    busiest = Math.max(busiest, open - free);
  }
  assert.ok(busiest <= 3, `${busiest} connections at once`);
  assert.equal((await Promise.all(all)).length, 12);
});

test('fair share: queries beyond the queue of an instance are refused, and later ones are answered again', async (t) => {
  const queries = fairShare(await openPool(t), share);
  const settled = await Promise.allSettled(Array.from({ length: 15 }, () => queries.rows(slow, ['greedy'])));
  const refused = settled.flatMap((one) => (one.status === 'rejected' ? [(one.reason as Error).name] : []));
  assert.deepEqual(refused, Array(3).fill('StorageBusy'));
  assert.deepEqual(await queries.rows(quick, ['greedy']), [{ id: 'greedy' }]);
});

test('fair share: a wait has a time-out, and a connection is free again after an error', async (t) => {
  const queries = fairShare(await openPool(t), { ...share, atOnce: 1, waitMs: 50 });
  const first = queries.rows(slow, ['greedy']);
  await assert.rejects(queries.rows(quick, ['greedy']), { name: 'StorageBusy' });
  await first;
  await assert.rejects(queries.rows({ name: '', text: 'select $1::text / 0' }, ['greedy']));
  assert.deepEqual(await queries.rows(quick, ['greedy']), [{ id: 'greedy' }]);
});

test('fair share: queries without an instance have no share', async (t) => {
  const queries = fairShare(await openPool(t), { ...share, waiting: 0 });
  const text = 'select pg_sleep(0.05), $1::int as n';
  assert.equal((await Promise.all([1, 2, 3, 4, 5].map((n) => queries.rows({ name: '', text }, [n])))).length, 5);
});

test('fair share: look-ups of deliveries use the share of their instance, and none of the connections of sweeps', async () => {
  const running = Promise.withResolvers<void>();
  const [asked, swept]: [string[], string[]] = [[], []];
  const poolOf = (names: string[]): Database => ({
    rows: async ({ name }: Statement) => {
      names.push(name);
      await running.promise;
      return [];
    },
    transaction: () => Promise.reject(new Error('a look-up has no transaction')),
    healthy: () => true,
    usage: () => ({ most: 4, open: 0, free: 0, waiting: 0 }),
    close: async () => undefined,
  });
  const queries = fairShare(poolOf(asked), { atOnce: 1, waiting: 0, waitMs: 60_000 });
  const deliveries = createDeliveryStore(poolOf(swept), queries);
  const query = { webhooks: ['w'], state: null, limit: 1, offset: 0 };
  const first = deliveries.list({ ...query, owner: 'greedy' });
  await assert.rejects(deliveries.list({ ...query, owner: 'greedy' }), { name: 'StorageBusy' });
  await assert.rejects(deliveries.find(['w'], 'e', 'greedy'), { name: 'StorageBusy' });
  await assert.rejects(async () => deliveries.tally(['w'], 'greedy'), { name: 'StorageBusy' });
  const others = [deliveries.find(['w'], 'e', 'other'), deliveries.tally(['g'], null)];
  running.resolve();
  await Promise.all([first, ...others]);
  assert.deepEqual([asked.toSorted(), swept], [['deliveries-find', 'deliveries-list-all', 'tally-of'], []]);
});

test('fair queue: one transaction runs at a time, owners take turns, and too many of one owner are refused', async () => {
  const queue = new FairQueue({ waiting: 2, waitMs: 60_000 });
  const order: string[] = [];
  let running = 0;
  const run = (owner: string) =>
    queue.run(owner, 'test', async () => {
      running += 1;
      assert.equal(running, 1);
      order.push(owner);
      await new Promise(setImmediate);
      running -= 1;
    });
  const settled = await Promise.allSettled(['greedy', 'greedy', 'greedy', 'greedy', 'other', 'third'].map(run));
  assert.deepEqual(order, ['greedy', 'other', 'third', 'greedy', 'greedy']);
  assert.deepEqual(
    settled.flatMap((one) => (one.status === 'rejected' ? [(one.reason as Error).name] : [])),
    ['StorageBusy'],
  );
});

test('fair queue: a failed transaction and a time-out of a wait leave the next turn free', async () => {
  const queue = new FairQueue({ waiting: 2, waitMs: 50 });
  const { promise, reject } = Promise.withResolvers<never>();
  const first = queue.run('greedy', 'test', () => promise);
  await assert.rejects(
    queue.run('other', 'test', async () => 'late'),
    { name: 'StorageBusy' },
  );
  reject(new Error('no such row'));
  await assert.rejects(first, /no such row/);
  assert.equal(await queue.run('other', 'test', async () => 'done'), 'done');
});
