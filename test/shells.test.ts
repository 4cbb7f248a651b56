/** Tests that the source starts other programs with lists of arguments and never through a shell. A shell would interpret the input of users. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from './source-tree.ts';

test('programs: the source starts no program through a shell', () => {
  const files = globSync('{actors,config,src}/**/*.{ts,cjs}', { cwd: root });
  assert.ok(files.length > 300);
  const found = files.filter((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const imported = /import \{([^}]*)\} from 'node:child_process'/.exec(text)?.[1] ?? '';
    return /\bexec(Sync)?\b/.test(imported) || /child_process['"]\)/.test(text) || /\bshell:\s/.test(text);
  });
  assert.deepEqual(found, []);
});
