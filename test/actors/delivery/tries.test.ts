/** Tests the attempts that are stored with a delivery. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withTry } from '#actors/delivery/tries.ts';
import type { Try } from '#actors/model.ts';

test('tries: the last twelve attempts are kept, with the answer of the latest one only', () => {
  let tries: readonly Try[] = [];
  for (let n = 1; n <= 20; n += 1) tries = withTry(tries, { ok: false, status: 503, error: 'e'.repeat(999), answer: `answer ${n}` }, n, 5);
  assert.deepEqual(
    tries.map(({ at }) => at),
    [9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20],
  );
  assert.deepEqual(
    tries.map(({ answer }) => answer).filter((answer) => answer !== undefined),
    ['answer 20'],
  );
  assert.ok(tries.every(({ error }) => error.length === 200));
});

test('tries: an attempt without an answer has no status, and a success ends the list', () => {
  const refused = withTry(undefined, { ok: false, error: 'no answer in time' }, 1, 10_000);
  assert.deepEqual(refused, [{ at: 1, ms: 10_000, status: 0, error: 'no answer in time' }]);
  assert.deepEqual(withTry(refused, { ok: true, status: 204 }, 20_000, 3).at(-1), { at: 20_000, ms: 3, status: 204, error: '' });
});
