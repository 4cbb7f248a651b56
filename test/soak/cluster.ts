/** Runs SOAK_SEEDS simulated clusters from the seed SOAK_SEED on, on all cores. A failure prints its seed and the steps that led to it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import type { Failure, Share } from './seeds.ts';

const first = Number(process.env['SOAK_SEED']);
const count = Number(process.env['SOAK_SEEDS']);
/** The number of failures after which no more seeds are run. */
const enough = 10;

test(`cluster: no seed from ${first} to ${first + count - 1} leads to a violation`, async () => {
  const failed: number[] = [];
  const threads = Math.min(count, availableParallelism());
  const workers = Array.from({ length: threads }, (_, at) => {
    const share: Share = { first: first + at, end: first + count, step: threads };
    return new Worker(new URL('./seeds.ts', import.meta.url), { workerData: share });
  });
  const tell = ({ seed, what, trace }: Failure): void => {
    if (failed.length === 0) process.stdout.write(`${trace.join('\n')}\n`);
    process.stdout.write(`seed ${seed}: ${what}; --seeds 1 --seed ${seed} repeats it\n`);
    failed.push(seed);
    if (failed.length >= enough) for (const worker of workers) void worker.terminate();
  };
  for (const worker of workers) worker.on('message', tell);
  // An error in a worker rejects the promise.
  await Promise.all(workers.map((worker) => once(worker, 'exit')));
  assert.deepEqual(failed, []);
});
