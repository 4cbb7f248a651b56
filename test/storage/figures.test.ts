/** Tests metrics per minute in the database: repeated writes, steps, several nodes, and the removal of old rows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { figureCommands } from '#actors/inspection/figures.ts';
import { figureStatements } from '#src/storage/stores/monitoring.ts';
import { testDatabase } from '#test/support/database.ts';
import { planOf } from '#test/support/plans.ts';

const database = await testDatabase();
const { figureRows } = await database.storage();
const sample = { spanMs: 60_000, received: 1, sent: 2, delivered: 3, failed: 4, reconnects: 5, memoryBytes: 5e9, loopMs: 6 };
const find = (from: number, to: number, step = 1, limit = 1_000) => figureRows.find({ from, to, step, limit });
const clear = () => database.admin.rows({ name: '', text: 'delete from node_figure' }, []);

test('figure rows: a second write of a minute replaces the first, and other nodes keep theirs', async () => {
  await clear();
  await figureRows.put('a', [
    { ...sample, minute: 100 },
    { ...sample, minute: 101 },
  ]);
  await figureRows.put('b', [{ ...sample, minute: 101, received: 9 }]);
  await figureRows.put('a', [
    { ...sample, minute: 101, received: 7 },
    { ...sample, minute: 102 },
  ]);
  assert.deepEqual(
    (await find(100, 103)).map(({ node, minute, received }) => [node, minute, received]),
    [
      ['a', 100, 1],
      ['a', 101, 7],
      ['a', 102, 1],
      ['b', 101, 9],
    ],
  );
});

test('figure rows: a step has the sums of its counters and the maximum of its other values', async () => {
  await clear();
  await figureRows.put('a', [
    { ...sample, minute: 104, memoryBytes: 1e12, loopMs: 1 },
    { ...sample, minute: 105, memoryBytes: 2, loopMs: 9 },
    { ...sample, minute: 109, memoryBytes: 3, loopMs: 8 },
  ]);
  assert.deepEqual(await find(100, 110, 5), [
    { ...sample, node: 'a', minute: 100, memoryBytes: 1e12, loopMs: 1 },
    { node: 'a', minute: 105, spanMs: 120_000, received: 2, sent: 4, delivered: 6, failed: 8, reconnects: 10, memoryBytes: 3, loopMs: 9 },
  ]);
  assert.equal((await find(100, 110, 1, 2)).length, 2);
});

test('figure rows: old rows and rows of a clock that was days ahead are removed in pieces, and no others', async () => {
  await clear();
  const [minutes, hour] = [60_000, 60];
  const now = 30_000_000;
  for (const minute of [now - 2_000, now - 1_441, now - 1_439, now - hour, now + hour, now + 5_000])
    await figureRows.put('a', [{ ...sample, minute }]);
  const before = (now - 1_440) * minutes;
  assert.equal(await figureRows.expire(before, 2), 2);
  assert.equal(await figureRows.expire(before, 2), 1);
  assert.equal(await figureRows.expire(before, 2), 0);
  assert.deepEqual(
    (await find(0, 100_000_000)).map(({ minute }) => minute - now),
    [-1_439, -60, 60],
  );
});

test('figure rows: a day of ten nodes has an answer of bounded size', async () => {
  await clear();
  const now = 30_000_000;
  const rows = Array.from({ length: 1_500 }, (_, back) => ({ ...sample, minute: now - back }));
  for (let node = 0; node < 10; node += 1) await figureRows.put(`node-${node}`, rows);
  const time = { now: () => now * 60_000 } as never;
  const answer = await figureCommands({ figureRows, time }).figureHistory(24);
  assert.deepEqual([answer.step, answer.steps, answer.nodes.length], [5, 288, 10]);
  const bytes = JSON.stringify(answer).length;
  assert.ok(bytes < 120_000, `${bytes} bytes`);
  assert.equal(answer.nodes[9]?.received.at(-2), 5);
});

test('figure rows: reading and removing use the index', async () => {
  for (const statement of [figureStatements.find, figureStatements.expire]) {
    const scans = (await planOf(database.admin, statement)).filter((node) => node['Relation Name'] === 'node_figure');
    assert.ok(scans.length > 0 && scans.every((node) => node['Index Name'] !== undefined || node['Node Type'] !== 'Seq Scan'));
  }
});
