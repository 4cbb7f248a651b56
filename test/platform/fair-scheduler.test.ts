/** Tests the scheduler of many tasks. It runs a few of them in each turn of the event loop, in the order of their arrival. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { FairScheduler } from '#src/platform/wire/frames.ts';
import { until } from '#test/support/until.ts';

/** Counts the turns of the event loop. */
const counted = (t: TestContext) => {
  const loop = { turn: 0, over: false };
  const count = (): void => {
    loop.turn += 1;
    if (!loop.over) setImmediate(count);
  };
  count();
  t.after(() => void (loop.over = true));
  return loop;
};

test('scheduler: a single task runs at once', () => {
  const scheduler = new FairScheduler({ least: 1, cost: 1000 });
  let done = false;
  scheduler.take(() => void (done = true));
  assert.ok(done);
});

test('scheduler: many tasks at once run a few at a time, in the order of their arrival, whatever their session', async (t) => {
  const scheduler = new FairScheduler({ least: 2, cost: 1000 });
  const loop = counted(t);
  const done: { name: string; turn: number }[] = [];
  for (let n = 0; n < 20; n += 1) for (const who of ['a', 'b']) scheduler.take(() => done.push({ name: `${who}${n}`, turn: loop.turn }));
  await until(() => done.length === 40, 'everything is done');
  assert.deepEqual(
    done.map(({ name }) => name),
    Array.from({ length: 20 }, (_, n) => [`a${n}`, `b${n}`]).flat(),
  );
  const inTurn = Map.groupBy(done, ({ turn }) => turn);
  for (const [turn, pieces] of inTurn) assert.ok(pieces.length <= 2, `${pieces.length} in turn ${turn}`);
  assert.ok(inTurn.size >= 19);
});

test('scheduler: if other work keeps the loop busy, a turn takes more tasks, for a quarter of the time of that work', async (t) => {
  const scheduler = new FairScheduler({ least: 1, cost: 1 });
  const loop = counted(t);
  const keptBusy = Promise.withResolvers<void>();
  const busy = setInterval(() => {
    const until = performance.now() + 40;
    while (performance.now() < until);
    keptBusy.resolve();
  }, 1);
  t.after(() => clearInterval(busy));
  // Otherwise all tasks may be done before the other work begins.
  await keptBusy.promise;
  const inTurn = new Map<number, number>();
  let left = 200;
  for (let n = left; n > 0; n -= 1)
    scheduler.take(() => {
      inTurn.set(loop.turn, (inTurn.get(loop.turn) ?? 0) + 1);
      left -= 1;
    });
  await until(() => left === 0, 'everything is done');
  assert.ok(Math.max(...inTurn.values()) >= 8, `at most ${Math.max(...inTurn.values())} in a turn`);
});
