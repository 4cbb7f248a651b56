/** Tests the search for programs of the machine. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { findProgram } from '#config/programs.ts';

const folder = mkdtempSync(join(tmpdir(), 'dormouse-programs-'));
after(() => rmSync(folder, { recursive: true }));
const [first, second] = [join(folder, 'first'), join(folder, 'second')];
for (const path of [first, second, join(first, 'folder')]) mkdirSync(path);
for (const path of [join(first, 'data'), join(first, 'tool'), join(second, 'tool'), join(second, 'data')]) writeFileSync(path, '');
for (const path of [join(first, 'tool'), join(second, 'tool'), join(second, 'data')]) chmodSync(path, 0o755);

const rows: readonly (readonly [what: string, name: string, found: string | null])[] = [
  ['a name, in the first folder that has it', 'tool', join(first, 'tool')],
  ['a name, past a file that is no program', 'data', join(second, 'data')],
  ['a path', join(second, 'tool'), join(second, 'tool')],
  ['a path without a file', join(folder, 'tool'), null],
  ['a name that no folder has', 'nothing', null],
  ['a folder', 'folder', null],
];
for (const [what, name, found] of rows)
  test(`findProgram: ${what}`, () => assert.equal(findProgram(name, `relative:${first}:${second}`), found));
