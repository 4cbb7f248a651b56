/** Tests the metrics per minute on simulated time: the content of a row, and the effect of an outage, a clock jump and a stop. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { figureCommands, FigureLog } from '#actors/inspection/figures.ts';
import { supervisedWorkers } from '#actors/policy/supervised-workers.ts';
import { StorageUnavailable } from '#actors/ports.ts';
import { FakeFigures } from '#test/fakes/figures.ts';
import { testPolicy, World } from '#test/fakes/world.ts';

const minute = 60_000;

const stage = (start = true) => {
  const { ports, time, log } = new World();
  const store = new FakeFigures();
  const totals = { received: 100, sent: 50, delivered: 10, failed: 0, reconnects: 0 };
  const usage = { memory: 7, lag: 3 };
  const figures = new FigureLog({
    store,
    node: 'a',
    meter: {
      get totals() {
        return { ...totals };
      },
    },
    memoryBytes: () => usage.memory,
    loopLagMs: () => usage.lag,
    time,
    log,
    workers: supervisedWorkers(ports, testPolicy, {}),
  });
  if (start) figures.start();
  const rows = () => [...store.rows.values()].toSorted((a, b) => a.minute - b.minute);
  const received = () => rows().map((row) => row.received);
  return { time, store, totals, usage, figures, rows, received, first: Math.floor(time.now() / minute) };
};

test('figures: a row per minute holds the changes since the last row, not the totals', async () => {
  const { time, totals, rows, first } = stage();
  totals.received += 5;
  totals.failed += 2;
  await time.pass(minute);
  totals.received += 1;
  totals.reconnects += 1;
  await time.pass(minute);
  const common = { node: 'a', spanMs: minute, sent: 0, delivered: 0, memoryBytes: 7, loopMs: 3 };
  assert.deepEqual(rows(), [
    { ...common, minute: first + 1, received: 5, failed: 2, reconnects: 0 },
    { ...common, minute: first + 2, received: 1, failed: 0, reconnects: 1 },
  ]);
});

test('figures: rows of an outage are stored when storage is back, each for its own minute', async () => {
  const { time, store, totals, rows, received, first } = stage();
  for (const isLost of [false, false]) {
    store.failNext = { error: new StorageUnavailable('away'), isLost };
    totals.received += 3;
    await time.pass(minute);
  }
  assert.deepEqual(received(), []);
  totals.received += 4;
  await time.pass(minute);
  assert.deepEqual(received(), [3, 3, 4]);
  assert.deepEqual(
    rows().map((row) => row.minute - first),
    [1, 2, 3],
  );
});

test('figures: a write whose reply is lost counts nothing twice', async () => {
  const { time, store, totals, received } = stage();
  store.failNext = { error: new StorageUnavailable('no answer'), isLost: true };
  totals.received += 3;
  await time.pass(minute);
  await time.pass(minute);
  assert.deepEqual(received(), [3, 0]);
});

test('figures: an outage of several days keeps the rows of one day', async () => {
  const { time, store, received } = stage();
  for (let passed = 0; passed < 1_500; passed += 1) {
    store.failNext = { error: new StorageUnavailable('away'), isLost: false };
    await time.pass(minute);
  }
  store.failNext = null;
  await time.pass(minute);
  assert.equal(received().length, 1_440);
});

test('figures: a clock jump moves the time of the rows, and each row still covers a minute', async () => {
  for (const jump of [3 * 3_600_000, -3 * 3_600_000]) {
    const { time, totals, rows, first } = stage();
    await time.pass(minute);
    time.stepWall(jump);
    totals.received += 2;
    await time.pass(minute);
    const row = rows().find(({ received }) => received === 2);
    assert.deepEqual([row?.minute, row?.spanMs], [first + 2 + jump / minute, minute]);
  }
});

test('figures: a clock that jumps back into the minute of the last row adds to that row', async () => {
  const { time, totals, usage, rows } = stage();
  totals.received += 2;
  usage.lag = 90;
  await time.pass(minute);
  time.stepWall(-minute);
  totals.received += 3;
  usage.lag = 5;
  await time.pass(minute);
  assert.deepEqual(
    rows().map(({ received, spanMs, loopMs }) => [received, spanMs, loopMs]),
    [[5, 2 * minute, 90]],
  );
});

test('figures: a stop stores the last part of a minute', async () => {
  const { time, totals, figures, rows } = stage();
  totals.sent += 1;
  await time.pass(20_000);
  await figures.stop();
  assert.deepEqual(
    rows().map(({ sent, spanMs }) => [sent, spanMs]),
    [[1, 20_000]],
  );
  await time.pass(5 * minute);
  assert.equal(rows().length, 1, 'nothing runs after the stop');
});

test('figures: a stop ends within two seconds although storage does not reply', async () => {
  const { time, store, totals, figures } = stage();
  totals.sent += 1;
  await time.pass(20_000);
  store.put = () => new Promise(() => undefined);
  let isOver = false;
  void figures.stop().then(() => (isOver = true));
  await time.pass(2_000);
  assert.ok(isOver);
});

test('figures: the answer has a value for each step and node, and null where a node has none', async () => {
  const { time, store, first } = stage(false);
  const row = { spanMs: minute, received: 1, sent: 2, delivered: 3, failed: 4, reconnects: 5, memoryBytes: 6, loopMs: 7 };
  await store.put('a', [
    { ...row, minute: first - 1 },
    { ...row, minute: first, spanMs: 30_400 },
  ]);
  await store.put('b', [
    { ...row, minute: first - 59 },
    { ...row, minute: first - 60 },
  ]);
  const answer = await figureCommands({ figureRows: store, time }).figureHistory(1);
  assert.deepEqual([answer.from, answer.step, answer.steps], [(first - 59) * minute, 1, 60]);
  const [a, b] = answer.nodes;
  assert.deepEqual([a?.name, a?.received.slice(-3), a?.seconds.slice(-3)], ['a', [null, 1, 1], [null, 60, 30]]);
  assert.deepEqual([b?.name, b?.loopMs[0], b?.loopMs.filter((value) => value !== null).length], ['b', 7, 1]);
  assert.equal(b?.memoryBytes.length, 60);
});
