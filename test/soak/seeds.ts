/** Runs a share of the seeds of simulated clusters in a worker thread, and posts each failure. */
import { parentPort, workerData } from 'node:worker_threads';
import { explore } from '#test/actors/cluster/exploration.ts';

/** Every `step`-th seed from `first` on, below `end`. */
export interface Share {
  readonly first: number;
  readonly end: number;
  readonly step: number;
}

export interface Failure {
  readonly seed: number;
  readonly what: string;
  readonly trace: readonly string[];
}

const { first, end, step } = workerData as Share;
for (let seed = first; seed < end; seed += step) {
  const found = await explore(seed);
  // The rule applies to windows of a browser only.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  if (found !== null) parentPort?.postMessage({ seed, ...found } satisfies Failure);
}
