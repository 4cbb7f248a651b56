/** Tests that the page of limits names existing settings, with their defaults. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { describeSettings } from '#config/describe.ts';
import { root } from '#test/source-tree.ts';

const defaultsIn = (text: string, pattern: RegExp): ReadonlyMap<string, string> =>
  new Map([...text.matchAll(pattern)].map(([, name = '', value = '']) => [name, value]));

test('docs: the page of limits has the settings and the defaults of the program', () => {
  const settings = defaultsIn(describeSettings(), /^\| `([A-Z0-9_]+)` \| (`[^`]*`|none) \|/gm);
  const limits = defaultsIn(readFileSync(join(root, 'docs/limits.md'), 'utf8'), /\| `([A-Z0-9_]+)` \| (`[^`]*`|none) \|/g);
  assert.ok(limits.size > 15);
  for (const [name, value] of limits) assert.equal(settings.get(name), value, name);
});
