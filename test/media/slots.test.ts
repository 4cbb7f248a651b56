/** Tests the slots for expensive work. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { BoundedWork, MediaFailure, Slots } from '#src/media/bounded-work.ts';
import { refusalOf, valueOf } from './media-files.ts';

const forEver = new AbortController().signal;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Starts tasks with these keys. Returns the tasks that began, and the function that ends a task. */
const started = (slots: Slots, keys: string) => {
  const began: string[] = [];
  const ends = new Map<string, () => void>();
  for (const [at, key] of [...keys].entries()) {
    const { promise, resolve } = Promise.withResolvers<void>();
    ends.set(`${key}${at}`, resolve);
    void slots.run(key, forEver, () => (began.push(`${key}${at}`), promise));
  }
  const end = async (task: string): Promise<void> => {
    ends.get(task)?.();
    await turn();
  };
  return { began, end };
};

test('slots: the limit runs at once, others in their order, and a failed one frees its slot', async () => {
  const slots = new Slots(2, { perKey: 2 });
  const began: number[] = [];
  const ends = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const all = ends.map(({ promise }, index) => slots.run('a', forEver, () => (began.push(index), promise)));
  await turn();
  assert.deepEqual(began, [0, 1]);
  ends[1]?.reject(new Error('broken'));
  await assert.rejects(all[1] ?? Promise.resolve(), /broken/);
  assert.deepEqual(began, [0, 1, 2]);
  for (const { resolve } of ends) resolve();
  await Promise.allSettled(all);
  assert.deepEqual(began, [0, 1, 2, 3]);
});

test('slots: a task that gives up while it waits takes no slot', async () => {
  const slots = new Slots(1);
  const end = Promise.withResolvers<void>();
  const first = slots.run('a', forEver, () => end.promise);
  const controller = new AbortController();
  const given = slots.run('a', controller.signal, async () => assert.fail('it began'));
  const last = slots.run('a', forEver, async () => 'last');
  controller.abort(new Error('gone'));
  await assert.rejects(given, /gone/);
  end.resolve();
  await first;
  assert.equal(await last, 'last');
  await assert.rejects(
    slots.run('a', controller.signal, async () => 'never'),
    /gone/,
  );
  assert.equal(await slots.run('a', forEver, async () => 'after'), 'after');
});

test('slots: one key holds at most half of the slots', async () => {
  const { began, end } = started(new Slots(4), 'aaaabcc');
  await turn();
  assert.deepEqual(began, ['a0', 'a1', 'b4', 'c5']);
  await end('b4');
  assert.deepEqual(began.slice(4), ['c6'], 'a holds its half');
  await end('c5');
  assert.equal(began.length, 5, 'the free slot waits for another key');
  await end('a0');
  assert.deepEqual(began.slice(5), ['a2']);
  await end('a1');
  assert.deepEqual(began.slice(6), ['a3']);
});

test('slots: keys with waiting tasks take turns', async () => {
  const { began, end } = started(new Slots(1), 'aaaabbc');
  for (const task of ['a0', 'a1', 'b4', 'c6', 'a2', 'b5']) {
    await turn();
    assert.equal(began.at(-1), task);
    await end(task);
  }
  assert.deepEqual(began, ['a0', 'a1', 'b4', 'c6', 'a2', 'b5', 'a3']);
});

test('slots: a key whose only waiting task gives up has no turn', async () => {
  const slots = new Slots(1);
  const { began, end } = started(slots, 'aa');
  const controller = new AbortController();
  const given = slots.run('b', controller.signal, async () => assert.fail('it began'));
  controller.abort(new Error('gone'));
  await assert.rejects(given, /gone/);
  await end('a0');
  assert.deepEqual(began, ['a0', 'a1']);
  await end('a1');
  assert.equal(await slots.run('b', forEver, async () => 'after'), 'after');
});

const late = (): MediaFailure => new MediaFailure('limited', 'too late');

test('bounded work: the wait for a turn does not count into the time of the work', async () => {
  const slots = new Slots(1);
  const held = slots.run('a', forEver, () => delay(400));
  const bounded = new BoundedWork(200, late, 60_000);
  const work = bounded.run((task) => task.run(slots, async () => 'made'), forEver, 'b');
  assert.equal(valueOf(await work), 'made');
  await held;
  const slow = bounded.run((task) => task.run(slots, () => delay(60_000, '', { signal: task.signal })), forEver, 'b');
  assert.equal(refusalOf(await slow), 'limited: too late');
});

test('bounded work: the waits have a bound of their own, and a late task leaves its line', async () => {
  const slots = new Slots(1);
  const { promise, resolve } = Promise.withResolvers<void>();
  const held = slots.run('a', forEver, () => promise);
  const bounded = new BoundedWork(60_000, late, 20);
  const work = bounded.run((task) => task.run(slots, async () => assert.fail('it began')), forEver, 'b');
  assert.equal(refusalOf(await work), 'limited: too late');
  const next = slots.run('c', forEver, async () => 'next');
  resolve();
  assert.equal(await next, 'next');
  await held;
});

test('slots: a key may hold more than its half while no other key waits, if the slots are not strict', async () => {
  const { began, end } = started(new Slots(3, { isStrict: false }), 'aaaaab');
  await turn();
  assert.deepEqual(began, ['a0', 'a1', 'a2']);
  await end('a0');
  assert.deepEqual(began.slice(3), ['b5'], 'the other key comes first');
  await end('a1');
  assert.deepEqual(began.slice(4), ['a3']);
  await end('b5');
  assert.deepEqual(began.slice(5), ['a4']);
});
