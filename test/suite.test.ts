/** The test command runs every file once. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { root } from './source-tree.ts';

const found = (pattern: string): readonly string[] => globSync(pattern, { cwd: root }).toSorted();
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly scripts: { readonly test: string } };
const patterns = [...scripts.test.matchAll(/'([^']+)'/g)].map(([, pattern = '']) => pattern);
const shared = found('test/e2e/together/*/*.test.ts');

test('suite: the command takes each test file once, or the file that runs its folder', () => {
  const taken = patterns.flatMap(found);
  assert.equal(new Set(taken).size, taken.length);
  assert.deepEqual([...taken, ...shared].toSorted(), found('test/**/*.test.ts'));
});

test('suite: each folder of files that share a gateway is run by a file', () => {
  const folders = [...new Set(shared.map(dirname))];
  assert.ok(folders.length > 0);
  for (const folder of folders)
    assert.ok(readFileSync(join(root, `test/e2e/together-${basename(folder)}.test.ts`), 'utf8').includes(`runTogether('${folder}')`));
});
