/** Tests the pace of sessions that leave a node, and the number on their way at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Departure, Departures } from '#actors/cluster/placement.ts';
import { FakeTime } from '#test/fakes/time.ts';

const ids = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => `r${n}`);

const to = 'b';
const departures = (count: number): readonly Departure[] => ids(count).map((id) => ({ id, to }));

const setUp = (atOnce: number) => {
  const time = new FakeTime();
  const left: string[] = [];
  const arrive: (() => void)[] = [];
  const leave = ({ id }: Departure): Promise<void> => {
    left.push(id);
    return new Promise((resolve) => void arrive.push(resolve));
  };
  const arrived = async (): Promise<void> => {
    arrive.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { time, left, arrived, leaving: new Departures({ time, atOnce, leave }) };
};

test('departures: the sessions of one second are spread over the second', async () => {
  const { time, left, leaving } = setUp(100);
  leaving.plan(departures(4), 4);
  for (const expected of [1, 2, 3, 4, 4]) {
    assert.equal(left.length, expected);
    await time.pass(250);
  }
});

test('departures: none leaves while the maximum number of sessions is on its way', async () => {
  const { time, left, arrived, leaving } = setUp(2);
  leaving.plan(departures(4), 10);
  await time.pass(1_000);
  assert.deepEqual(left, ['r0', 'r1']);
  await arrived();
  assert.deepEqual(left, ['r0', 'r1', 'r2']);
  await arrived();
  await time.pass(100);
  assert.deepEqual(left, ids(4));
});

test('departures: a new plan replaces the sessions that have not begun to leave, and keeps the pace', async () => {
  const { time, left, leaving } = setUp(100);
  leaving.plan(departures(3), 10);
  leaving.plan([{ id: 'other', to }], 10);
  assert.deepEqual(left, ['r0']);
  await time.pass(100);
  assert.deepEqual(left, ['r0', 'other']);
  leaving.plan([], 10);
  await time.pass(1_000);
  assert.deepEqual(left, ['r0', 'other']);
});
