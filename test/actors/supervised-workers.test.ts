/** Tests background workers. Every crash is counted, logged and followed by a restart, whatever was thrown. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PeriodicWorker, SupervisedWorkers } from '#actors/policy/supervised-workers.ts';
import { EpochLost, StorageUnavailable } from '#actors/ports.ts';
import { FakeLog, FakeTime, settle } from '#test/fakes/time.ts';

function bench(run: () => Promise<void> | void) {
  const [time, log] = [new FakeTime(), new FakeLog()];
  const begun = time.now();
  const runs: number[] = [];
  const workers = new SupervisedWorkers({
    time,
    log,
    policy: { reconnect: { min: 1000, max: 300_000, cutEvery: 0, stable: 0 }, crash: { limit: 3, window: 60_000, cooldown: 900_000 } },
    random: () => 1,
    fields: { instance: 'r1' },
  });
  const worker = workers.supervise({
    name: 'sorter',
    fields: { webhook: 'w1' },
    run: () => {
      runs.push(time.now() - begun);
      return run();
    },
  });
  return { time, log, workers, worker, runs };
}

const throwing = [
  ['throws', () => assert.fail('broken')],
  ['rejects', () => Promise.reject(new Error('broken'))],
] as const;

for (const [title, run] of throwing)
  test(`workers: one that ${title} is counted, logged and restarted with growing pauses up to the crash window`, async () => {
    const { time, log, workers, worker, runs } = bench(run);
    worker.wake();
    await time.pass(63_000);
    assert.deepEqual(runs, [0, 1000, 3000, 7000, 15_000, 31_000, 63_000]);
    assert.deepEqual(workers.crashes, { sorter: 7 });
    const [line] = log.of('worker.crashed');
    assert.partialDeepStrictEqual(line, { level: 'error', fields: { instance: 'r1', worker: 'sorter', webhook: 'w1', retryInMs: 1000 } });
    await time.pass(600_000);
    assert.ok(runs.length >= 7 + 10, 'it is tried about once a window for ever');
  });

test('workers: crashes that are far apart do not lengthen the pause', async () => {
  const { time, worker, runs } = bench(() => undefined);
  for (const _ of [1, 2, 3]) {
    worker.crashed(new Error('in a timer'));
    await time.pass(100_000);
  }
  assert.deepEqual(runs, [1000, 101_000, 201_000]);
});

test('workers: two crashes at once count twice and cause one restart', async () => {
  const { time, workers, worker, runs } = bench(() => undefined);
  worker.crashed(new Error('in a timer'));
  worker.crashed(new Error('in a callback'));
  await time.pass(60_000);
  assert.deepEqual([runs, workers.crashes], [[1000], { sorter: 2 }]);
});

test('workers: a wake during a run causes one further run, never two at a time, and none before a restart', async () => {
  let free = (): void => undefined;
  const { time, worker, runs } = bench(() => new Promise((resolve) => (free = resolve)));
  worker.wake();
  worker.wake();
  worker.wake();
  assert.equal(runs.length, 1);
  free();
  await settle();
  assert.equal(runs.length, 2);
  worker.crashed(new Error('in a callback'));
  free();
  await settle();
  worker.wake();
  assert.equal(runs.length, 2);
  await time.pass(1000);
  assert.equal(runs.length, 3);
});

test('workers: no timer is left armed after a stop', async () => {
  const { time, workers, worker, runs } = bench(() => assert.fail('broken'));
  worker.wake();
  await settle();
  assert.equal(time.armed, 1);
  workers.stop();
  assert.equal(time.armed, 0);
  worker.wake();
  worker.crashed(new Error('late'));
  await time.pass(60_000);
  assert.deepEqual([runs.length, workers.crashes], [1, { sorter: 1 }]);
});

for (const [title, error, crashes] of [
  ['storage that does not answer is', new StorageUnavailable('away'), {}],
  ['a database that belongs to another process is', new EpochLost('taken'), {}],
  ['anything else is a crash, not', new Error('broken'), { keeper: 1 }],
] as const)
  test(`periodic workers: ${title} left to the next round`, async () => {
    const { time, log, workers } = bench(() => undefined);
    const run = (): Promise<void> => Promise.reject(error);
    const worker = new PeriodicWorker({ time, log, workers, name: 'keeper', everyMs: 10_000, unanswered: 'keeper.unanswered', run });
    worker.start();
    await time.pass(10_000);
    assert.deepEqual(workers.crashes, crashes);
    assert.equal(log.of('keeper.unanswered').length, Object.keys(crashes).length === 0 ? 1 : 0);
    worker.stop();
  });
