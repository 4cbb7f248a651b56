/** Tests the notation of choices, and the buttons, rows and cards that result. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buttonsIn, cardsIn, sectionsIn } from '#src/contract/formats.ts';

const reply = (text: string, id = text) => ({ kind: 'reply', text, id });

/** Choices and the resulting button. A pattern is the reason of a refusal. */
const buttons: readonly (readonly [title: string, choice: string, expected: object | RegExp])[] = [
  ['a label and an id', 'Yes|y', reply('Yes', 'y')],
  ['a label alone is its own id', 'Yes', reply('Yes')],
  ['a line break in place of the bar', 'Yes\ny', reply('Yes', 'y')],
  ['spaces around both', ' Yes | y ', reply('Yes', 'y')],
  ['an empty id', 'Yes|', reply('Yes')],
  ['an id that is marked as one', 'Yes|reply:y', reply('Yes', 'y')],
  ['an id with a bar', 'Yes|a|b', reply('Yes', 'a|b')],
  ['an id that only looks like a mark', 'Yes|copying', reply('Yes', 'copying')],
  ['an address', 'Shop|https://a.example/x?y=1|2', { kind: 'url', text: 'Shop', url: 'https://a.example/x?y=1|2' }],
  ['an address that is marked', 'Shop|url:https://a.example', { kind: 'url', text: 'Shop', url: 'https://a.example' }],
  ['an address without encryption', 'Shop|http://a.example', { kind: 'url', text: 'Shop', url: 'http://a.example' }],
  ['a mark in capitals', 'Shop|URL: https://a.example', { kind: 'url', text: 'Shop', url: 'https://a.example' }],
  ['a marked address that is none', 'Shop|url:a.example', /http or https/],
  ['a script', 'Shop|url:javascript:alert(1)', /http or https/],
  ['a number', 'Call|call:+55 (11) 99999-0000', { kind: 'call', text: 'Call', phone: '+5511999990000' }],
  ['a number without a plus', 'Call|call:5511999990000', { kind: 'call', text: 'Call', phone: '+5511999990000' }],
  ['a number that is none', 'Call|call:me', /phone number/],
  ['a number that is missing', 'Call|call:', /phone number/],
  ['a code', 'Copy|copy:A B|C', { kind: 'copy', text: 'Copy', code: 'A B|C' }],
  ['a code that is missing', 'Copy|copy:', /code to copy/],
];

for (const [title, choice, expected] of buttons) {
  test(`choices, a button: ${title}`, () => {
    const found = buttonsIn([choice]);
    if (expected instanceof RegExp) assert.match(found.ok ? '' : found.refusal.message, expected);
    else assert.deepEqual(found, { ok: true, value: [expected] });
  });
}

const row = (title: string, id = title, description = '') => ({ id, title, description });

const lists: readonly (readonly [title: string, choices: readonly string[], expected: unknown])[] = [
  [
    'rows of two sections',
    ['[A]', 'One|1|first', '[B]', 'Two|2'],
    [
      { title: 'A', rows: [row('One', '1', 'first')] },
      { title: 'B', rows: [row('Two', '2')] },
    ],
  ],
  ['rows without a section', ['One', 'Two'], [{ title: '', rows: [row('One'), row('Two')] }]],
  ['a row without an id', ['One||first'], [{ title: '', rows: [row('One', 'One', 'first')] }]],
  ['a description with a bar', ['One|1|a|b'], [{ title: '', rows: [row('One', '1', 'a|b')] }]],
  ['line breaks in place of bars', ['One\n1\nfirst'], [{ title: '', rows: [row('One', '1', 'first')] }]],
  ['a section without rows', ['[A]'], [{ title: 'A', rows: [] }]],
  ['a row that only begins with a bracket', ['[A] One|1'], [{ title: '', rows: [row('[A] One', '1')] }]],
];

for (const [title, choices, expected] of lists) {
  test(`choices, a list: ${title}`, () => assert.deepEqual(sectionsIn(choices), { ok: true, value: expected }));
}

const cards: readonly (readonly [title: string, choices: readonly string[], expected: unknown])[] = [
  [
    'cards with pictures and buttons',
    ['[One\nmore]', '{https://a.example/1.jpg}', 'Take|t1', 'See|https://a.example', '[Two]', 'Take|t2'],
    [
      {
        text: 'One\nmore',
        picture: 'https://a.example/1.jpg',
        buttons: [reply('Take', 't1'), { kind: 'url', text: 'See', url: 'https://a.example' }],
      },
      { text: 'Two', picture: '', buttons: [reply('Take', 't2')] },
    ],
  ],
  ['a picture after the buttons', ['[One]', 'Take', '{aGk=}'], [{ text: 'One', picture: 'aGk=', buttons: [reply('Take')] }]],
  ['a button before the first card', ['Take', '[One]'], /begin with the text of a card/],
  ['a picture before the first card', ['{aGk=}', '[One]'], /begin with the text of a card/],
  ['two pictures of one card', ['[One]', '{aGk=}', '{aGk=}'], /two pictures/],
  ['a button that makes no sense', ['[One]', 'Call|call:x'], /phone number/],
];

for (const [title, choices, expected] of cards) {
  test(`choices, a carousel: ${title}`, () => {
    const found = cardsIn(choices);
    if (expected instanceof RegExp) assert.match(found.ok ? '' : found.refusal.message, expected);
    else assert.deepEqual(found, { ok: true, value: expected });
  });
}
