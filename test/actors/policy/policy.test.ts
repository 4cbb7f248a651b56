/** Tests delays and time windows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { addTime, backOff, between } from '#actors/policy/policy.ts';

const reconnect = { min: 1000, max: 300_000, stable: 0 };

for (const [n, least, most] of [
  [0, 500, 1000],
  [1, 1000, 2000],
  [5, 16_000, 32_000],
  [8, 128_000, 256_000],
  [9, 150_000, 300_000],
  [5000, 150_000, 300_000],
] as const) {
  test(`backOff: attempt ${n} waits from ${least} to ${most} ms`, () => {
    assert.equal(backOff(reconnect, n, 0), least);
    assert.ok(backOff(reconnect, n, 0.999_999) <= most);
    assert.ok(backOff(reconnect, n, 0.999_999) > most * 0.99);
  });
}

test('backOff: it stays within its bounds for every attempt and every random value', () => {
  fc.assert(
    fc.property(fc.nat(10_000), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (n, random) => {
      const delay = backOff(reconnect, n, random);
      assert.ok(delay >= reconnect.min / 2 && delay <= reconnect.max);
    }),
    { seed: 1 },
  );
});

test('between: it stays within its bounds', () => {
  assert.equal(between(60, 120, 0), 60);
  assert.equal(between(60, 120, 0.5), 90);
  assert.equal(between(60, 120, 1), 120);
  assert.equal(between(7, 7, 0.3), 7);
});

test('addTime: it keeps the times within the window and the new one', () => {
  assert.deepEqual(addTime([], 100, 60), [100]);
  assert.deepEqual(addTime([30, 40, 41, 90], 100, 60), [41, 90, 100]);
  assert.deepEqual(addTime([100], 100, 60), [100, 100]);
});

test('addTime: it never keeps a time that is older than the window', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1000), { maxLength: 50 }), fc.integer({ min: 1, max: 200 }), (steps, window) => {
      let now = 0;
      let times: readonly number[] = [];
      for (const step of steps) {
        now += step;
        times = addTime(times, now, window);
        assert.ok(times.every((time) => time > now - window && time <= now));
        assert.equal(times.at(-1), now);
      }
    }),
    { seed: 1 },
  );
});
