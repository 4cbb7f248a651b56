/** A short run of the fuzzer; `npm run fuzz` is the long one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzzRun } from '#test/support/fuzz-run.ts';

test('fuzzing: no route crashes, stalls or answers what its document does not name', async () => {
  const seed = 1;
  const { found, requests, routes } = await fuzzRun({ seed, perRoute: 2, mostMs: 20_000 });
  assert.deepEqual(found, [], `seed ${seed}`);
  assert.ok(requests >= routes, `${requests} requests to ${routes} routes`);
});
