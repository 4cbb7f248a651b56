/** Tests that the test command runs every file once, alone or with the files of its folder. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from './source-tree.ts';
import { filesOf } from './support/together.ts';

const found = (pattern: string): readonly string[] => globSync(pattern, { cwd: root });
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly scripts: { readonly test: string } };

/** Returns a test file, and the files that it runs in its own process. */
const runBy = (file: string): readonly string[] => {
  const calls = [...readFileSync(join(root, file), 'utf8').matchAll(/^(?:runTogether|await runInTurn)\(([^;]+)\);$/gm)];
  const folders = calls.flatMap(([, given = '']) => [...given.matchAll(/'([^']+)'/g)]);
  return [file, ...folders.flatMap(([, folder = '']) => filesOf(folder))];
};

test('suite: the test command runs each test file once', () => {
  const patterns = [...scripts.test.matchAll(/'([^']+)'/g)].map(([, pattern = '']) => pattern);
  assert.deepEqual(patterns.flatMap(found).flatMap(runBy).toSorted(), found('test/**/*.test.ts').toSorted());
});
