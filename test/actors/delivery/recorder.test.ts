/** Tests the recorder with storage that comes and goes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry } from '#actors/model.ts';
import { EpochLost, StorageUnavailable } from '#actors/ports.ts';
import { settle } from '#test/fakes/world.ts';
import { Bench, entry } from './recorder-bench.ts';

const past = (n: number, items: number): Entry => ({
  kind: 'history',
  past: { of: 'labels', items: Array.from({ length: items }, () => ({ id: '1', name: 'New', color: 0, deleted: false })) },
  number: n,
  total: 9,
});
const receipt = (n: number, items: number): Entry => ({
  kind: 'status',
  messageIds: Array.from({ length: items }, (_, id) => `M${id}`),
  chatId: '',
  status: 'Read',
  sender: '',
  senderPn: '',
  senderLid: '',
  fromMe: false,
  at: n,
});

test('recorder: an idle one commits at once, and entries of one turn form one group', async () => {
  const bench = new Bench();
  bench.recorder.record([entry(1)]);
  bench.recorder.record([entry(2), entry(3)]);
  await settle();
  assert.deepEqual(bench.groups, [[1, 2, 3]]);
  assert.equal(bench.world.time.armed, 0);
});

test('recorder: a busy one gathers entries in order, in groups of a limited size', async () => {
  const bench = new Bench();
  const { promise, resolve } = Promise.withResolvers<void>();
  bench.hold = promise;
  bench.recorder.record([entry(0)]);
  await settle();
  bench.recorder.record(Array.from({ length: 10 }, (_, n) => entry(n + 1)));
  resolve();
  await bench.world.time.pass(100);
  assert.deepEqual(bench.groups, [[0], [1, 2, 3, 4], [5, 6, 7, 8], [9, 10]]);
  assert.equal(bench.recorder.waiting, 0);
});

test('recorder: history and receipts count by the size of their content, and one beyond the limit is a group by itself', async () => {
  const bench = new Bench();
  bench.recorder.record([past(1, 3), entry(2), entry(3), past(4, 4), past(5, 9), entry(6), past(7, 2), receipt(8, 2), past(9, 0)]);
  await bench.world.time.pass(100);
  assert.deepEqual(bench.groups, [[1, 2], [3], [4], [5], [6, 7], [8, 9]]);
});

for (const [title, first, groups] of [
  ['an entry that arrives during a commit is in the next one', 'append', [[0], [1], [2]]],
  ['an entry with a waiting caller ends the pause', 'record', [[0], [1, 2]]],
] as const) {
  test(`recorder: a waiting caller does not wait for others to be gathered: ${title}`, async () => {
    const bench = new Bench();
    const { promise, resolve } = Promise.withResolvers<void>();
    bench.hold = promise;
    bench.recorder.record([entry(0)]);
    await settle();
    const asked = first === 'append' ? bench.recorder.append(entry(1)) : bench.recorder.record([entry(1)]);
    resolve();
    await settle();
    await asked;
    await bench.recorder.append(entry(2));
    assert.deepEqual(bench.groups, groups);
    assert.equal(bench.world.time.armed, 0);
  });
}

test('recorder: it waits for a database that is away, loses nothing and keeps the order', async () => {
  const bench = new Bench();
  bench.away = true;
  bench.recorder.record([entry(1), entry(2)]);
  const told = bench.recorder.tell(entry(3));
  await settle();
  await told; // The caller of this entry does not wait for storage.
  await bench.world.time.pass(10_000);
  bench.recorder.record([entry(4)]);
  await bench.recorder.tell(entry(5));
  assert.deepEqual(bench.groups, []);
  bench.away = false;
  await bench.world.time.pass(1000);
  assert.deepEqual(bench.groups.flat(), [1, 2, 3, 4, 5]);
  assert.equal(bench.told[0], true, 'it is told that the group was tried before');
});

test('recorder: an entry with a waiting caller fails at once while the database is away, and is not stored later', async () => {
  const bench = new Bench();
  bench.away = true;
  await assert.rejects(bench.recorder.append(entry(1)), StorageUnavailable);
  bench.recorder.record([2, 2, 2, 2, 2].map((n) => entry(n)));
  const early = bench.recorder.append(entry(3));
  await assert.rejects(early, StorageUnavailable);
  await bench.world.time.pass(700);
  await assert.rejects(bench.recorder.append(entry(4)), StorageUnavailable);
  bench.away = false;
  await bench.world.time.pass(1000);
  await bench.recorder.append(entry(5));
  assert.deepEqual(bench.groups.flat(), [2, 2, 2, 2, 2, 5]);
  assert.equal(bench.world.time.armed, 0);
});

test('recorder: a stop gives up the unstored entries, reports their number, and accepts no more', async () => {
  const bench = new Bench();
  bench.away = true;
  bench.recorder.record([entry(1), entry(2)]);
  await bench.world.time.pass(700);
  bench.recorder.record([entry(3)]);
  bench.recorder.stop();
  await bench.recorder.drained();
  bench.recorder.record([entry(4)]);
  await bench.recorder.tell(entry(5));
  assert.deepEqual([bench.world.log.of('entries.lost')[0]?.fields['entries'], bench.recorder.waiting, bench.world.time.armed], [3, 0, 0]);
});

test('recorder: a bad entry affects no other entry', async () => {
  const bench = new Bench();
  bench.bad = 2;
  bench.recorder.record([entry(1)]);
  const bad = bench.recorder.append(entry(2));
  const good = bench.recorder.append(entry(3));
  await assert.rejects(bad, /value out of range/);
  await good;
  assert.deepEqual(bench.groups, [[1], [3]]);
  assert.equal(bench.world.log.of('entry.refused').length, 1);
  assert.deepEqual(bench.unstored, { lost: 0, refused: 1 });
});

test('recorder: an entry that storage refuses is kept, unless a caller gets the error', async () => {
  const bench = new Bench();
  bench.bad = 2;
  bench.recorder.record([entry(1), entry(2), entry(3)]);
  await assert.rejects(bench.recorder.append(entry(2)), /value out of range/);
  await settle();
  assert.deepEqual([bench.groups.flat(), bench.kept], [[1, 3], [[2, 'value out of range']]]);
  assert.equal(await bench.recorder.recorded(), true);
});

test('recorder: an entry that cannot be kept now waits, and so do the entries behind it', async () => {
  const bench = new Bench();
  bench.bad = 1;
  bench.full = true;
  bench.recorder.record([entry(1), entry(2)]);
  await bench.world.time.pass(10_000);
  assert.deepEqual([bench.kept, bench.recorder.waiting, bench.recorder.trouble], [[], 2, 'no more']);
  bench.full = false;
  await bench.world.time.pass(1_000);
  assert.deepEqual([bench.kept.length, bench.groups, bench.recorder.waiting], [1, [[2]], 0]);
});

test('recorder: an entry that can never be kept is lost, and counted', async () => {
  const bench = new Bench();
  bench.bad = 1;
  bench.unkeepable = true;
  bench.recorder.record([entry(1), entry(2)]);
  await settle();
  assert.deepEqual([bench.groups, bench.unstored], [[[2]], { lost: 1, refused: 1 }]);
});

test('recorder: it waits for a database that fails with an error of its own, and shows the reason', async () => {
  const bench = new Bench();
  bench.broken = true;
  bench.recorder.record([entry(1), entry(2)]);
  await bench.world.time.pass(60_000);
  assert.deepEqual([bench.groups, bench.recorder.waiting], [[], 2]);
  assert.equal(bench.recorder.trouble, 'relation "chat" does not exist (42P01)');
  bench.broken = false;
  await bench.world.time.pass(1000);
  assert.deepEqual([bench.groups.flat(), bench.recorder.trouble, bench.unstored], [[1, 2], '', { lost: 0, refused: 0 }]);
});

test('recorder: a group that takes too long is committed entry by entry', async () => {
  const bench = new Bench();
  bench.mostInTime = 1;
  bench.recorder.record([entry(1), entry(2), entry(3)]);
  await bench.world.time.pass(500);
  assert.deepEqual(bench.groups, [[1], [2], [3]]);
  assert.equal(bench.recorder.waiting, 0);
});

test('recorder: an entry that alone takes too long is set aside when the next entry is stored', async () => {
  const bench = new Bench();
  bench.endless = 1;
  bench.recorder.record([entry(1), entry(2), entry(3)]);
  await bench.world.time.pass(2_000);
  assert.match(bench.recorder.trouble, /too long/);
  await bench.world.time.pass(120_000);
  assert.deepEqual([bench.groups.flat(), bench.kept, bench.recorder.waiting], [[2, 3], [[1, '57014']], 0]);
  assert.deepEqual([bench.unstored, bench.recorder.trouble], [{ lost: 0, refused: 1 }, '']);
});

test('recorder: it waits for a database that is too slow for every entry, and sets nothing aside', async () => {
  const bench = new Bench();
  bench.mostInTime = 0;
  bench.recorder.record([entry(1), entry(2), entry(3)]);
  await bench.world.time.pass(30 * 60_000);
  assert.deepEqual([bench.groups, bench.kept, bench.recorder.waiting], [[], [], 3]);
  bench.mostInTime = 4;
  await bench.world.time.pass(60_000);
  assert.deepEqual([bench.groups.flat(), bench.kept], [[1, 2, 3], []]);
});

test('recorder: an entry that takes too long with none behind it is set aside after an hour', async () => {
  const bench = new Bench();
  bench.endless = 1;
  bench.recorder.record([entry(1)]);
  await bench.world.time.pass(30 * 60_000);
  assert.deepEqual(bench.kept, []);
  await bench.world.time.pass(60 * 60_000);
  assert.deepEqual([bench.kept, bench.recorder.waiting, bench.world.time.armed], [[[1, '57014']], 0, 0]);
});

test('recorder: a listener that throws affects neither the group nor later groups', async () => {
  const bench = new Bench();
  bench.deaf = true;
  await bench.recorder.append(entry(1));
  await bench.recorder.append(entry(2));
  assert.deepEqual(bench.groups, [[1], [2]], 'and nothing is committed twice');
});

test('recorder: while the database is away the number of presences is bounded, and that of messages is not', async () => {
  const bench = new Bench();
  bench.away = true;
  bench.recorder.record(Array.from({ length: 1500 }, (_, n) => entry(n, 'presence')));
  bench.recorder.record(Array.from({ length: 50 }, (_, n) => entry(n)));
  assert.equal(bench.recorder.waiting, 1050);
});

test('recorder: recorded resolves when all earlier entries are committed, and never with true for lost ones', async () => {
  const bench = new Bench();
  assert.equal(await bench.recorder.recorded(), true);
  bench.recorder.record([entry(1), entry(2)]);
  const first = bench.recorder.recorded();
  bench.away = true;
  bench.recorder.record([entry(3)]);
  const later = bench.recorder.recorded();
  bench.bad = 2;
  bench.away = false;
  assert.equal(await first, true, 'a bad entry is refused, not lost');
  assert.equal(await later, true);
  bench.away = true;
  bench.recorder.record([entry(4)]);
  const lost = bench.recorder.recorded();
  await settle();
  bench.recorder.stop();
  assert.equal(await lost, false);
  assert.equal(await bench.recorder.recorded(), false);
});

test('recorder: a crash is counted and the worker restarts, and entries that were taken are committed in order', async () => {
  const bench = new Bench();
  const { time } = bench.world;
  const turn = time.turn.bind(time);
  time.turn = () => Promise.reject(new Error('no turn'));
  bench.recorder.record([entry(1)]);
  const recorded = bench.recorder.recorded();
  const drained = bench.recorder.drained();
  await settle();
  bench.recorder.record([entry(2)]);
  assert.deepEqual(bench.workers.crashes, { recorder: 1 });
  time.turn = turn;
  await time.pass(2000);
  assert.deepEqual(bench.groups, [[1, 2]]);
  assert.equal(await recorded, true);
  await drained;
  await bench.recorder.append(entry(3));
  assert.equal(time.armed, 0);
});

test('recorder: a crash during the retry of a group loses no entry of it', async () => {
  const bench = new Bench();
  const { time } = bench.world;
  const { setTimeout } = time;
  bench.away = true;
  time.setTimeout = (fn, ms) => {
    time.setTimeout = setTimeout;
    return (setTimeout.call(time, fn, ms), assert.fail('no timer'));
  };
  bench.recorder.record([entry(1), entry(2)]);
  await settle();
  assert.deepEqual(bench.workers.crashes, { recorder: 1 });
  bench.away = false;
  await time.pass(2000);
  assert.deepEqual(bench.groups, [[1, 2]]);
  assert.deepEqual(bench.told, [true], 'whether the group had been stored was not known');
});

test('recorder: an entry that cannot be measured is refused at once, and the entries beside it are committed', async () => {
  const bench = new Bench();
  const bad = { kind: 'history', past: undefined, number: 1, total: 1 } as unknown as Entry;
  bench.recorder.record([entry(1), bad, entry(2)]);
  await assert.rejects(bench.recorder.append(bad), TypeError);
  await bench.world.time.pass(10);
  assert.deepEqual(bench.groups.flat(), [1, 2]);
  assert.deepEqual([bench.world.log.of('entry.refused').length, bench.workers.crashes], [2, {}]);
});

test('recorder: a refused entry is not retried, even when refusing it crashes', async () => {
  const bench = new Bench();
  bench.bad = 2;
  const { log, time } = bench.world;
  const { error } = log;
  log.error = (fields, event) => {
    error.call(log, fields, event);
    if (event === 'entry.refused') throw new Error('no log');
  };
  bench.recorder.record([entry(1), entry(2), entry(3)]);
  await time.pass(10_000);
  assert.deepEqual([bench.groups.flat(), bench.workers.crashes], [[1, 3], { recorder: 1 }]);
});

test('recorder: a listener that throws is a crash, and is asked later to look for missed entries', async () => {
  const bench = new Bench();
  bench.deaf = true;
  await bench.recorder.append(entry(1));
  bench.deaf = false;
  assert.deepEqual(bench.workers.crashes, { recorderListener: 1 });
  await bench.recorder.append(entry(2));
  assert.deepEqual(bench.told, [false], 'commits do not wait for it');
  await bench.world.time.pass(2000);
  assert.deepEqual(bench.told, [false, true]);
});

test('recorder: entries that are left to the next owner of the instance count as lost', async () => {
  const bench = new Bench();
  bench.fenced = true;
  bench.recorder.record([entry(1), entry(2)]);
  assert.equal(await bench.recorder.recorded(), false);
  await assert.rejects(bench.recorder.append(entry(3)), EpochLost);
  assert.deepEqual(
    bench.world.log.of('entries.lost').map(({ fields }) => fields['entries']),
    [2, 1],
  );
});

test('recorder: a stop during the wait for a restart leaves no caller waiting', async () => {
  const bench = new Bench();
  bench.world.time.turn = () => Promise.reject(new Error('no turn'));
  const appended = assert.rejects(bench.recorder.append(entry(1)), StorageUnavailable);
  await settle();
  bench.recorder.stop();
  bench.workers.stop();
  await bench.recorder.drained();
  await appended;
  await assert.rejects(bench.recorder.append(entry(2)), StorageUnavailable);
  assert.equal(bench.world.time.armed, 0);
});

test('recorder: it is drained when no entry waits', async () => {
  const bench = new Bench();
  await bench.recorder.drained();
  bench.recorder.record(Array.from({ length: 9 }, (_, n) => entry(n)));
  const drained = bench.recorder.drained().then(() => bench.groups.flat().length);
  await bench.world.time.pass(100);
  assert.equal(await drained, 9);
});

const step = (n: number): Entry =>
  ({ kind: 'status', messageIds: ['m'], chatId: 'c', state: 'Sent', type: '', at: n, by: '', fromMe: true }) as unknown as Entry;

test('recorder: the steps of a send overtake the history, which progresses in between', async () => {
  const bench = new Bench();
  bench.recorder.record([past(1, 4), past(2, 4), past(3, 4), entry(4)]);
  const told = [5, 6].map((n) => bench.recorder.tell(step(n)));
  await bench.world.answerOf(Promise.all(told));
  void bench.recorder.tell(step(7));
  await bench.world.answerOf(bench.recorder.drained());
  assert.deepEqual(bench.groups.flat().toSorted(), [1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(bench.groups.slice(0, 2), [[5, 6], [1]]);
});

test('recorder: a receipt stays behind the history, which may contain its message', async () => {
  const bench = new Bench();
  bench.recorder.record([past(1, 4), past(2, 4), step(3)]);
  await bench.world.answerOf(bench.recorder.drained());
  assert.deepEqual(bench.groups, [[1], [2], [3]]);
});

test('recorder: without history no entry changes its place', async () => {
  const bench = new Bench();
  bench.recorder.record([entry(1), entry(2)]);
  await bench.world.answerOf(bench.recorder.tell(step(3)));
  assert.deepEqual(bench.groups.flat(), [1, 2, 3]);
});

test('recorder: an earlier entry counts as recorded only when the history in it is stored', async () => {
  const bench = new Bench();
  bench.recorder.record([past(1, 4), past(2, 4)]);
  void bench.recorder.tell(step(3));
  assert.ok(await bench.world.answerOf(bench.recorder.recorded()));
  assert.deepEqual(bench.groups.flat().toSorted(), [1, 2, 3]);
});
