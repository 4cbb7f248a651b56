/** Tests sweeps over many idle webhooks. They write nothing, and read no rows that stay. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Sweeper } from '#actors/delivery/sweeper.ts';
import { SupervisedWorkers } from '#actors/policy/supervised-workers.ts';
import { systemTime } from '#src/base/system-time.ts';
import { deliveryStatements } from '#src/storage/stores/deliveries.ts';
import { instance } from '#test/contract/samples.ts';
import { testPolicy } from '#test/fakes/world.ts';
import { quietLog, testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const storage = await database.storage();
const run = (text: string, values: readonly unknown[] = []) => database.admin.rows<Record<string, number>>({ name: '', text }, values);
await storage.instances.insert({ ...instance.record, id: 'r1', token: 'r1' });
const webhooks = 10_000;
await run(
  `insert into webhook (id, instance_id, enabled, url, events, exclude_messages, add_url_events, add_url_types_messages, managed, removed, created)
    select 'w' || n, 'r1', true, 'https://example.com', '{}', '{}', false, false, false, false, 1 from generate_series(1, ${webhooks}) as n`,
);
await run(
  `insert into outbox_tally (webhook_id, waiting, parked, bytes, delivered, dead) select 'w' || n, 1, 0, 5, 2, 1 from generate_series(1, ${webhooks}) as n, generate_series(1, 2)`,
);
const rows = () => run('select count(*)::int as count, max(id)::int as newest from outbox_tally');

test(`sweeps: the tallies of ${webhooks} idle webhooks are folded once, and the next fold writes nothing`, async (t) => {
  await storage.deliveries.foldTallies();
  const [folded] = await rows();
  // A webhook at the end of a piece may keep two rows.
  assert.ok((folded?.['count'] ?? 0) <= webhooks + 2, JSON.stringify(folded));
  const begun = performance.now();
  await storage.deliveries.foldTallies();
  t.diagnostic(`${(performance.now() - begun).toFixed(1)} ms`);
  assert.deepEqual(await rows(), [folded]);
  await run(`insert into outbox_tally (webhook_id, waiting, parked, bytes, delivered, dead) values ('w7', 3, 0, 1, 0, 0)`);
  await storage.deliveries.foldTallies();
  const [after] = await rows();
  assert.deepEqual(
    [after?.['count'], (after?.['newest'] ?? 0) - (folded?.['newest'] ?? 0)],
    [folded?.['count'], 2],
    'one webhook is folded',
  );
  const [tally] = await storage.deliveries.tally(['w7']);
  assert.partialDeepStrictEqual(tally, { waiting: 5, bytes: 11, delivered: 4, dead: 2 });
});

test('sweeps: past deliveries that stay are not read, and the oldest ones are removed', async () => {
  await run(
    `insert into archive (webhook_id, instance_id, event_id, type, message_type, lane, body, attempts, status, error, at, seq, ended_at, dead)
      select 'w1', 'r1', 'e' || n, 'messages', '', '', '{}', 1, 200, '', n, n, n, false from generate_series(1, 5000) as n`,
  );
  assert.equal(await storage.deliveries.forget('w1', false, { rows: 0, before: 1 }), 0);
  const { text } = deliveryStatements.forget;
  await run(`prepare forget (text, boolean, bigint, bigint, bigint) as ${text}`);
  const plan = (
    await database.admin.rows<Record<string, string>>(
      { name: '', text: `explain (analyze, costs off, timing off, summary off) execute forget ('w1', false, 0, 1, 2000)` },
      [],
    )
  ).map((line) => Object.values(line)[0] ?? '');
  for (const line of plan.filter((one) => /Index Scan|Index Only Scan/.test(one) && / on archive/.test(one)))
    assert.match(line, /rows=0|never executed/, line);
  assert.equal(await storage.deliveries.forget('w1', false, { rows: 10, before: 5 }), 10);
  assert.equal(await storage.deliveries.forget('w1', false, { rows: 0, before: 21 }), 10);
  assert.deepEqual(await run('select min(seq)::int as first from archive'), [{ first: 21 }]);
});

test(`sweeps: rounds over ${webhooks} idle webhooks run a few statements, and none for a single webhook`, async (t) => {
  const counts = new Map<string, number>();
  const counting = Object.fromEntries(
    Object.entries(storage.deliveries).map(([name, work]) => [
      name,
      (...args: readonly never[]) => {
        counts.set(name, (counts.get(name) ?? 0) + 1);
        return (work as (...given: readonly never[]) => unknown)(...args);
      },
    ]),
  ) as unknown as typeof storage.deliveries;
  const day = 86_400_000;
  const bounds = { rows: 1_000_000, bytes: 1e12, age: day };
  const time = { ...systemTime, now: () => 1_000 };
  const workers = new SupervisedWorkers({ time, log: quietLog, policy: testPolicy, random: () => 1, fields: {} });
  const policy = { bounds, kept: { rows: 1_000_000, delivered: day, dead: day }, sweepEvery: 1_000 };
  const sweeper = new Sweeper({ deliveries: counting, time, log: quietLog, policy, trimmed: () => undefined, workers });
  const roundsOf = async (rounds: number): Promise<string> => {
    counts.clear();
    const begun = performance.now();
    for (let round = 0; round < rounds; round += 1) await sweeper.sweep();
    t.diagnostic(`${rounds} rounds: ${(performance.now() - begun).toFixed(0)} ms`);
    return [...counts].map(([name, count]) => `${name} ${count}`).join(', ');
  };
  assert.equal(await roundsOf(6), 'foldTallies 6, tally 6, oldest 6, oldestOf 10');
  assert.equal(await roundsOf(6), 'foldTallies 6, tally 6, oldest 6');
});
