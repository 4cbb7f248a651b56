/** As many simulated clusters as SOAK_SEEDS says, from the seed SOAK_SEED on. A failure prints its seed and the steps that led to it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explore } from '#test/actors/cluster/exploration.ts';

const first = Number(process.env['SOAK_SEED']);
const count = Number(process.env['SOAK_SEEDS']);

test(`cluster: no seed from ${first} to ${first + count - 1} leads to a violation`, async () => {
  const failed: number[] = [];
  for (let seed = first; seed < first + count; seed += 1) {
    const found = await explore(seed);
    if (found === null) continue;
    if (failed.length === 0) process.stdout.write(`${found.trace.join('\n')}\n`);
    process.stdout.write(`seed ${seed}: ${found.what}; --seeds 1 --seed ${seed} repeats it\n`);
    failed.push(seed);
    if (failed.length === 10) break;
  }
  assert.deepEqual(failed, []);
});
