/**
 * `npm run fuzz [-- --seed 1 --runs 40 --minutes 10]`: calls all routes with random values of all types. Prints each answer that is a fault, and then exits
 * with code 1.
 */
import { commandLine } from '#src/base/command-line.ts';

const config = {
  options: { seed: { type: 'string' }, runs: { type: 'string', default: '40' }, minutes: { type: 'string', default: '10' } },
} as const;
const { values } = commandLine(config, 'Options: --seed <number>, --runs 40 (of each route), --minutes 10 (at most)');
// The import is slow, so it follows the check of the options.
const { fuzzRun } = await import('#test/support/fuzz-run.ts');
const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed);
const print = (text: string): void => void process.stdout.write(`${text}\n`);
print(`seed ${seed}`);
const { found, requests, routes } = await fuzzRun({ seed, perRoute: Number(values.runs), mostMs: Number(values.minutes) * 60_000 });
for (const sentence of found) print(sentence);
print(`${requests} requests to ${routes} routes, ${found.length} findings (seed ${seed})`);
process.exit(found.length > 0 ? 1 : 0);
