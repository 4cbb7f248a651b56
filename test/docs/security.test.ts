/** Tests that each promise of docs/security.md names an existing test. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '#test/source-tree.ts';

const page = readFileSync(join(root, 'docs/security.md'), 'utf8');
const named = [...page.matchAll(/`(test\/[\w/.-]+\.test\.ts)`: ([^|\n]+?) \|/g)].map(([, file = '', title = '']) => ({ file, title }));

test('docs: the page of security names a test for each promise', () => {
  const promises = page.slice(page.indexOf('## Promises'), page.indexOf('## Known attacks')).match(/^\| (?!Promise |---)/gm) ?? [];
  assert.ok(promises.length > 20);
  assert.ok(named.length >= promises.length, `${named.length} tests for ${promises.length} promises`);
});

for (const { file, title } of named)
  test(`docs: the page of security names ${file}: ${title}`, () =>
    assert.ok(readFileSync(join(root, file), 'utf8').includes(title), 'the file has no such test'));
