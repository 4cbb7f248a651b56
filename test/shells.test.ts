/** Tests that no shell reads input of users, because programs are started with lists of arguments. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from './source-tree.ts';

test('programs: none is started through a shell', () => {
  const files = globSync('{actors,config,src}/**/*.{ts,cjs}', { cwd: root });
  assert.ok(files.length > 300);
  const found = files.filter((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const imported = /import \{([^}]*)\} from 'node:child_process'/.exec(text)?.[1] ?? '';
    return /\bexec(Sync)?\b/.test(imported) || /child_process['"]\)/.test(text) || /\bshell:\s/.test(text);
  });
  assert.deepEqual(found, []);
});
