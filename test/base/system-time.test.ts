/** Tests that the timers of the system also support delays beyond the limit of Node. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemTime } from '#src/base/system-time.ts';

/** The longest delay of a Node timer, in milliseconds. A timer with a longer delay fires after 1 ms. */
const longest = 2 ** 31 - 1;

test('timers: one beyond the limit of Node does not fire at once', async () => {
  const rings: string[] = [];
  const timers = [longest + 1, longest * 3, Infinity].map((ms) => systemTime.setTimeout(() => rings.push(`${ms}`), ms));
  await new Promise<void>((resolve) => void systemTime.setTimeout(resolve, 5));
  assert.deepEqual(rings, []);
  for (const timer of timers) systemTime.clearTimeout(timer);
});

test('timers: a long one fires once, after its whole delay', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  let rings = 0;
  systemTime.setTimeout(() => (rings += 1), longest * 2 + 10);
  for (const ms of [longest, longest, 9]) context.mock.timers.tick(ms);
  assert.equal(rings, 0);
  context.mock.timers.tick(1);
  assert.equal(rings, 1);
  context.mock.timers.tick(longest);
  assert.equal(rings, 1);
});

test('timers: a long one that is cleared at any time never fires', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  let rings = 0;
  for (const ms of [10, longest + 10]) {
    const timer = systemTime.setTimeout(() => (rings += 1), longest * 2);
    context.mock.timers.tick(ms);
    systemTime.clearTimeout(timer);
  }
  context.mock.timers.tick(longest * 3);
  assert.equal(rings, 0);
});
