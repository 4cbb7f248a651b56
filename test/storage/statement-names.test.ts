/** Tests the names of statements. A connection prepares a statement once by its name, so a second text with the same name is refused. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { storageFiles, storageStatements } from '#test/support/upgrade.ts';
import { root } from '../source-tree.ts';

test('statements: every name has one text', async () => {
  const texts = new Map<string, string>();
  const twice: string[] = [];
  for (const [file, { name, text }] of await storageStatements()) {
    if (name !== '' && texts.has(name) && texts.get(name) !== text) twice.push(`${file}: ${name}`);
    texts.set(name, text);
  }
  assert.ok(texts.size > 100, `only ${texts.size} were found`);
  assert.deepEqual(twice, []);
});

test('statements: every name appears in one place, also if no module exports it', () => {
  // Two kinds of pools execute these statements, with the same text.
  const shared = new Set(['probe']);
  const places = new Map<string, string[]>();
  for (const file of storageFiles)
    for (const [, quoted, name] of readFileSync(join(root, file), 'utf8').matchAll(
      /(?:\bname:\s*(?=(?:'[^']+'|`[^`$]+`),\s*text\b)|\bwhileOwned\(\s*)(['`])([^'`]+)\1/g,
    ))
      if (quoted && name && !shared.has(name)) places.set(name, [...(places.get(name) ?? []), file]);
  assert.ok(places.size > 80, `only ${places.size} were found`);
  assert.deepEqual(
    [...places].filter(([, found]) => found.length > 1),
    [],
  );
});
