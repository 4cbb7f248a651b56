/** Tests the check of sentences with good and bad comments and titles. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commentsOf, faultsOf, isTitle, titlesOf } from './sentences.ts';

const good = [
  'Returns the lease of an instance; null if no node holds one.',
  'The time of the last frame, in Unix milliseconds.',
  'True if the stanza is stored.',
  'Whatsmeow reads the same notification.',
  'Asks the platform again after a time-out.',
  // A colon and a full stop end a sentence.
  `Sends ${'one '.repeat(20)}text: ${'one '.repeat(20)}text. ${'One '.repeat(20)}text.`,
  // Types in a JSDoc tag are not part of a sentence.
  `Shows a row. @param {{ ${'name: string, '.repeat(30)} }} props`,
];
for (const text of good) test(`sentences: accepts "${text.slice(0, 60)}"`, () => assert.deepEqual(faultsOf(text), []));

const bad: readonly (readonly [text: string, fault: RegExp])[] = [
  ['What a folder may import from the project.', /^begins with "What"$/],
  ['Of all instances.', /^begins with "Of"$/],
  ['Whether statements reach the database.', /^begins with "Whether"$/],
  ['As the supervisor tells its readers.', /^begins with "As"$/],
  ['Nothing listens on this port.', /^begins with "Nothing"$/],
  ['When the stage ends by itself.', /^begins with "When"$/],
  [`Sends ${'one '.repeat(40)}text.`, /^has a sentence of 42 words: "Sends one one one one one one one one one…"$/],
  [`Sends a text. Then it ${'waits '.repeat(40)}.`, /^has a sentence of 43 words/],
];
for (const [text, fault] of bad)
  test(`sentences: finds that "${text.slice(0, 60)}" ${fault.source}`, () => {
    const [found = '', ...more] = faultsOf(text);
    assert.match(found, fault);
    assert.deepEqual(more, []);
  });

test('sentences: the lines of a comment are joined, and its comment marks are removed', () => {
  const source = [
    '/** One line. */',
    'const a = 1;',
    '  /**',
    '   * Two',
    '   * lines.',
    '   */',
    '  // Three',
    '  // lines.',
    'const b = 2; // A remark behind code is left out.',
    '/* Four. */',
  ].join('\n');
  assert.deepEqual(commentsOf(source), [
    { line: 1, text: 'One line.' },
    { line: 3, text: 'Two lines.' },
    { line: 7, text: 'Three lines.' },
    { line: 10, text: 'Four.' },
  ]);
});

test('sentences: titles are found in string literals and templates, and calls of functions other than `test` are skipped', () => {
  const source = [
    "test('first: is found', () => {});",
    'for (const one of all) test(`second: ${one} is found`, () => {});',
    "  await t.test('third: is found', () => {});",
    'test(',
    "  'fourth: is found',",
    "if (pattern.test('no title')) test(titleOf(one), () => {});",
  ].join('\n');
  assert.deepEqual(titlesOf(source), [
    { line: 1, text: 'first: is found' },
    { line: 2, text: 'second: ${one} is found' },
    { line: 3, text: 'third: is found' },
    { line: 4, text: 'fourth: is found' },
  ]);
});

test('sentences: a title names its subject before a colon', () => {
  for (const title of ['lease: a renewal keeps the epoch', '${name}: leaves nothing undefined', 'POST /chat/pin: pins a chat'])
    assert.ok(isTitle(title), title);
  for (const title of [
    'a renewal keeps the epoch',
    'lease:keeps the epoch',
    ': keeps the epoch',
    `a ${'long '.repeat(20)}subject: keeps it`,
  ])
    assert.ok(!isTitle(title), title);
});
