/** Tests the batching of small tasks of many callers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MicroBatch } from '#actors/delivery/tracked-ports.ts';
import { StorageSlow, StorageUnavailable } from '#actors/ports.ts';
import { Pause } from '#actors/waiting.ts';
import { FakeTime, settle } from '#test/fakes/time.ts';

test('micro batch: tasks that arrive during a batch form the next batch, in order', async () => {
  const done: number[][] = [];
  const first = Promise.withResolvers<void>();
  const batch = new MicroBatch<number>(async (items) => {
    done.push([...items]);
    if (done.length === 1) await first.promise;
  });
  const all = [batch.add([1]), batch.add([2, 3]), batch.add([]), batch.add([4])];
  await settle();
  assert.deepEqual(done, [[1]]);
  first.resolve();
  await Promise.all(all);
  assert.deepEqual(done, [[1], [2, 3, 4]]);
});

test('micro batch: an idle one begins at once, and tasks that arrive during its pause form one batch', async () => {
  const done: number[][] = [];
  const clock = new FakeTime();
  const pause = new Pause(clock);
  const batch = new MicroBatch<number>(async (items) => void done.push([...items]), { pause, ms: 200, enough: 4 });
  await batch.add([1]);
  const all = [batch.add([2]), batch.add([3])];
  await settle();
  await clock.pass(199);
  await settle();
  assert.deepEqual(done, [[1]]);
  await clock.pass(1);
  await Promise.all(all);
  assert.deepEqual(done, [[1], [2, 3]]);
  await clock.pass(200);
  await settle();
  await batch.add([4]);
  assert.deepEqual(done, [[1], [2, 3], [4]]);
});

test('micro batch: a full batch ends the pause', async () => {
  const done: number[][] = [];
  const first = Promise.withResolvers<void>();
  const pause = new Pause(new FakeTime());
  const work = async (items: readonly number[]): Promise<void> => {
    done.push([...items]);
    if (done.length === 1) await first.promise;
  };
  const batch = new MicroBatch<number>(work, { pause, ms: 200, enough: 3 });
  const all = [batch.add([1]), batch.add([2, 3, 4])];
  first.resolve();
  await Promise.all(all);
  assert.deepEqual(done, [[1], [2, 3, 4]], 'the rest does not begin');
  const later = [batch.add([5]), batch.add([6])];
  await settle();
  assert.equal(done.length, 2);
  await Promise.all([...later, batch.add([7])]);
  assert.deepEqual(done[2], [5, 6, 7], 'the rest ends');
});

test('micro batch: a task that fails fails only for its caller', async () => {
  const batch = new MicroBatch<number>(async (items) => {
    await settle();
    if (items.includes(13)) throw new Error('bad');
  });
  const all = await Promise.allSettled([batch.add([1]), batch.add([2]), batch.add([13]), batch.add([4])]);
  assert.deepEqual(
    all.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  );
});

test('micro batch: a batch that takes too long is done task by task', async () => {
  const batch = new MicroBatch<number>(async (items) => {
    await settle();
    if (items.length > 1) throw new StorageSlow('57014');
  });
  const all = await Promise.allSettled([batch.add([1]), batch.add([2]), batch.add([3])]);
  assert.ok(all.every(({ status }) => status === 'fulfilled'));
});

test('micro batch: a storage outage fails all callers after one attempt', async () => {
  let asked = 0;
  const batch = new MicroBatch<number>(async () => {
    asked += 1;
    await settle();
    throw new StorageUnavailable('away');
  });
  const all = await Promise.allSettled([batch.add([1]), batch.add([2]), batch.add([3])]);
  assert.ok(all.every(({ status }) => status === 'rejected'));
  assert.equal(asked, 2);
});
