/** Tests the token bucket: the size of a burst, and the wait of the next request. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fullBucket, takeToken } from '#actors/policy/pacing.ts';

const pace = { burst: 2, every: 1_000 };

const rows: readonly (readonly [title: string, times: readonly number[], waits: readonly number[]])[] = [
  ['a burst, then a wait', [0, 0, 0], [0, 0, 1_000]],
  ['one more for each period', [0, 0, 1_000, 1_000], [0, 0, 0, 1_000]],
  ['half a period is half of one', [0, 0, 500, 1_000], [0, 0, 500, 0]],
  ['a long pause gives no more than the burst', [0, 0, 60_000, 60_000, 60_000], [0, 0, 0, 0, 1_000]],
  ['a clock that goes back gives nothing', [5_000, 5_000, 1_000], [0, 0, 1_000]],
];

for (const [title, times, waits] of rows)
  test(`token bucket: ${title}`, () => {
    let bucket = fullBucket(pace, times[0] ?? 0);
    const found = times.map((now) => {
      const taken = takeToken(bucket, pace, now);
      bucket = taken.bucket;
      return taken.wait;
    });
    assert.deepEqual(found, waits);
  });

test('token bucket: an action is allowed exactly at the end of its wait', () => {
  for (let seed = 1; seed < 2_000; seed += 1) {
    let [bucket, now] = [fullBucket(pace, 0), 0];
    for (let n = 1; n <= 12; n += 1) {
      now += (seed * 7_919 * n) % 997;
      const first = takeToken(bucket, pace, now);
      now += first.wait;
      const second = first.wait === 0 ? first : takeToken(first.bucket, pace, now);
      assert.equal(second.wait, 0, `seed ${seed}, action ${n}`);
      bucket = second.bucket;
    }
  }
});
