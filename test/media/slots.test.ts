/** Tests the slots for expensive work. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Slots } from '#src/media/bounded-work.ts';

const forEver = new AbortController().signal;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('slots: the limit runs at once, others in their order, and a failed one frees its slot', async () => {
  const slots = new Slots(2);
  const began: number[] = [];
  const ends = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const all = ends.map(({ promise }, index) => slots.run(forEver, () => (began.push(index), promise)));
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
  const first = slots.run(forEver, () => end.promise);
  const controller = new AbortController();
  const given = slots.run(controller.signal, async () => assert.fail('it began'));
  const last = slots.run(forEver, async () => 'last');
  controller.abort(new Error('gone'));
  await assert.rejects(given, /gone/);
  end.resolve();
  await first;
  assert.equal(await last, 'last');
  await assert.rejects(
    slots.run(controller.signal, async () => 'never'),
    /gone/,
  );
  assert.equal(await slots.run(forEver, async () => 'after'), 'after');
});
