/**
 * Runs `npm run soak`: one gateway through storms of faults. With `--nodes 3`, several nodes go through every fault of a machine and its cables. With
 * `--seeds 10000`, that number of simulated clusters runs from `--seed` on, each with the faults of its own seed. `--seed n` repeats a run. `--sessions n`
 * and `--rounds n` set the size. `--fault text` takes only faults with the text in their name. `--logs folder` keeps the output of nodes if the run fails.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { commandLine } from '#src/base/command-line.ts';
import { root } from '#test/source-tree.ts';

const text = { type: 'string' } as const;
const usage = `Options: --nodes 3 (several nodes; one gateway without it), --seeds <simulated clusters>, --seed <number>, --sessions <number>, --rounds <number>,
  --fault <part of its name>, --logs <folder>`;
const config = { options: { nodes: text, seeds: text, seed: text, sessions: text, rounds: text, fault: text, logs: text } };
const { values } = commandLine(config, usage);
const seed = values.seed ?? String(Date.now() % 100_000);
const env = Object.fromEntries(Object.entries({ ...values, seed }).map(([name, value]) => [`SOAK_${name.toUpperCase()}`, value]));

process.stdout.write(`seed ${seed}\n`);
const kind = values.seeds !== undefined ? 'cluster.ts' : values.nodes !== undefined ? 'nodes.ts' : 'soak.ts';
const file = join(root, 'test/soak', kind);
const child = spawn(process.execPath, ['--test', '--test-reporter=spec', file], { stdio: 'inherit', env: { ...process.env, ...env } });
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => child.kill(signal));
child.once('exit', (code) => (process.exitCode = code ?? 1));
