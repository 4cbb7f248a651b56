/** Contents that are refused before anything is stored or written. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PollContent, SendContent } from '#actors/model.ts';
import { contentProblem } from '#actors/policy/content-rules.ts';

const poll = (change: Partial<PollContent>): SendContent => ({
  kind: 'poll',
  question: 'When?',
  options: ['now', 'later'],
  selectable: 1,
  ...change,
});
const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `option ${index}`);

const rows: readonly (readonly [title: string, content: SendContent, problem: RegExp | null])[] = [
  ['a text has no rules', { kind: 'text', text: '', preview: null }, null],
  ['a poll of two options', poll({}), null],
  ['a poll of twelve, all of which may be chosen', poll({ options: many(12), selectable: 0 }), null],
  ['a poll without a question', poll({ question: ' ' }), /question/],
  ['a poll with a long question', poll({ question: 'x'.repeat(256) }), /question has at most 255/],
  ['a poll of one option', poll({ options: ['now'] }), /2 to 12/],
  ['a poll of thirteen options', poll({ options: many(13) }), /2 to 12/],
  ['a poll with an empty option', poll({ options: ['now', ''] }), /empty/],
  ['a poll with a long option', poll({ options: ['now', 'x'.repeat(101)] }), /option has at most 100/],
  ['a poll with the same option twice', poll({ options: ['now', 'now'] }), /same/],
  ['a poll of which more may be chosen than there is', poll({ selectable: 3 }), /selectableCount/],
];

for (const [title, content, problem] of rows) {
  test(`content rules: ${title}`, () => {
    const found = contentProblem(content);
    if (problem === null) assert.equal(found, null);
    else assert.match(found ?? '', problem);
  });
}
