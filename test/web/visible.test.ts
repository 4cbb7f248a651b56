/** Tests names with characters that change the direction of a text, as the dashboard shows them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { visible } from '#src/web/page/texts/visible.js';
import { root } from '../source-tree.ts';

test('direction marks: each character that changes the direction of a text is shown as its code, and no other is changed', () => {
  assert.equal(visible('shop \u202Egnp.exe\u202C'), 'shop [U+202E]gnp.exe[U+202C]');
  for (let code = 0x2066; code <= 0x2069; code += 1) assert.equal(visible(String.fromCharCode(code)), `[U+${code.toString(16)}]`);
  assert.equal(visible('a\u200Eb\u200Fc\u061Cd'), 'a[U+200E]b[U+200F]c[U+061C]d');
  for (const name of ['متجر', 'חנות 1', 'Loja Olá', '👩\u200D💻']) assert.equal(visible(name), name);
});

test('direction marks: elements that the page draws without Preact show them as codes too', () => {
  for (const [file, use] of [
    ['main.js', 'showSigns();'],
    ['list/row.js', 'textContent = visible(row.name)'],
    ['texts/fill.js', 'visible(String(values[key]'],
    ['texts.js', 'fill(table[name], values)'],
  ] as const)
    assert.ok(readFileSync(join(root, 'src/web/page', file), 'utf8').includes(use), file);
});
