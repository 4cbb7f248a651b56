/** Tests the dashboard's advice about sessions against the runbook. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { todo } from '#src/web/page/texts/en-todo.js';

const runbook = readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8');

/** Returns the last column of the row that begins with the text, without Markdown marks. */
const adviceOn = (beginning: string): string => {
  const row = runbook.split('\n').find((line) => line.startsWith(beginning)) ?? '';
  const cell = row.split('|').at(-2) ?? '';
  return cell
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '')
    .trim();
};

test('advice: the advice of the dashboard on each reason equals that of the runbook', () => {
  for (const [name, text] of Object.entries(todo)) {
    const word = name.slice('todo_'.length);
    assert.equal(text, adviceOn(word === 'crashed' ? '| | `failed` |' : `| \`${word}\` |`), word);
  }
});
