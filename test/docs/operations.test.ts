/** The page of all operations is the one that the interface's own document makes. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { bodiesPage, bodiesPath } from './event-bodies.ts';
import { operationsPage, pagePath } from './operations.ts';

test('docs: the page of operations is the one of the program', async () => {
  assert.ok(readFileSync(pagePath, 'utf8') === (await operationsPage()), 'run: node test/docs/operations.ts');
});

test('docs: the page of bodies of events is the one of the program', async () => {
  assert.ok(readFileSync(bodiesPath, 'utf8') === (await bodiesPage()), 'run: node test/docs/event-bodies.ts');
});
