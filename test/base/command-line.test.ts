/** Tests the options that the programs print in a shell. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../source-tree.ts';

const programs = ['src/sandbox/main.ts', 'test/bench/main.ts', 'test/bench/compare.ts', 'test/fuzz/main.ts', 'test/soak/main.ts'];
const run = (program: string, option: string) => spawnSync(process.execPath, [join(root, program), option], { encoding: 'utf8' });

for (const program of programs)
  test(`command line: ${program} answers --help with its options, and an unknown option with an error without a stack`, () => {
    const helped = run(program, '--help');
    assert.deepEqual([helped.status, helped.stderr], [0, '']);
    assert.match(helped.stdout, /^Options: .*--seed|^Options: --scale|^Options: --times/m);
    const refused = run(program, '--wrong');
    assert.equal(refused.status, 2);
    const lines = refused.stderr.trim().split('\n');
    assert.equal(lines[0], helped.stdout.split('\n')[0]);
    assert.match(lines.at(-1) ?? '', /^Unknown option '--wrong'/);
    assert.equal(lines.length, 3);
    assert.doesNotMatch(refused.stderr, /^\s+at /m);
  });
