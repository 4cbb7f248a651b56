/** Tests that the generated pages match the OpenAPI document. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { bodiesPage, bodiesPath } from './event-bodies.ts';
import { operationsPage, pagePath } from './operations.ts';

test('docs: the page of operations is up to date', async () => {
  assert.ok(readFileSync(pagePath, 'utf8') === (await operationsPage()), 'run: node test/docs/operations.ts');
});

test('docs: the page of event bodies is up to date', async () => {
  assert.ok(readFileSync(bodiesPath, 'utf8') === (await bodiesPage()), 'run: node test/docs/event-bodies.ts');
});
