/** Tests contents that are refused before anything is stored or written. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Button, ButtonsContent, CarouselContent, ListContent, PollContent, SendContent } from '#actors/model.ts';
import { contentProblem } from '#actors/policy/content-rules.ts';

const poll = (change: Partial<PollContent>): SendContent => ({
  kind: 'poll',
  question: 'When?',
  options: ['now', 'later'],
  selectable: 1,
  ...change,
});
const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `option ${index}`);

const reply: Button = { kind: 'reply', text: 'Yes', id: 'y' };
const link: Button = { kind: 'url', text: 'Shop', url: 'https://shop.example' };
const times = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);
const buttons = (all: readonly Button[], change: Partial<ButtonsContent> = {}): SendContent => ({
  kind: 'buttons',
  head: null,
  text: 'Well?',
  footer: '',
  legacy: false,
  buttons: all,
  ...change,
});
const row = { id: '1', title: 'One', description: '' };
const list = (sections: ListContent['sections'], change: Partial<ListContent> = {}): SendContent => ({
  kind: 'list',
  text: 'Which?',
  footer: '',
  button: 'Open',
  sections,
  ...change,
});
const cards = (all: CarouselContent['cards']): SendContent => ({ kind: 'carousel', text: 'Look', footer: '', cards: all });
const card = { head: null, text: 'One', buttons: [reply, link, reply] };

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
  ['three replies', buttons(times(3, reply)), null],
  ['ten replies', buttons(times(10, reply)), null],
  ['eleven buttons', buttons(times(11, reply)), /at most 10 buttons/],
  ['four replies in the old form', buttons(times(4, reply), { legacy: true }), /at most 3 replies/],
  ['two links', buttons(times(2, link)), null],
  ['three links', buttons(times(3, link)), null],
  ['a reply beside a link', buttons([reply, link]), null],
  ['no button', buttons([]), /at least one button/],
  ['buttons without a text', buttons([reply], { text: ' ' }), /needs a text/],
  ['a button without a label', buttons([{ ...reply, text: '' }]), /has no text/],
  ['a link in the old form', buttons([link], { legacy: true }), /replies only/],
  ['a list', list([{ title: 'All', rows: [row] }]), null],
  ['a list without rows', list([]), /at least one row/],
  [
    'a list with an empty section',
    list([
      { title: 'All', rows: [row] },
      { title: 'None', rows: [] },
    ]),
    /section .* no rows/,
  ],
  ['a list with the same id twice', list([{ title: '', rows: [row, row] }]), /same id/],
  ['a list without a label', list([{ title: '', rows: [row] }], { button: '' }), /listButton/],
  ['a carousel of mixed buttons', cards([card]), null],
  ['ten cards', cards(times(10, card)), null],
  ['eleven cards', cards(times(11, card)), /at most 10/],
  ['no card', cards([]), /at least one card/],
  ['a card without a button', cards([{ ...card, buttons: [] }]), /1 to 3 buttons/],
  ['a card of four buttons', cards([{ ...card, buttons: times(4, reply) }]), /1 to 3 buttons/],
  ['a card without a text', cards([{ ...card, text: '' }]), /card has no text/],
  ['a poll with more choices allowed than options', poll({ selectable: 3 }), /selectableCount/],
];

for (const [title, content, problem] of rows) {
  test(`content rules: ${title}`, () => {
    const found = contentProblem(content);
    if (problem === null) assert.equal(found, null);
    else assert.match(found ?? '', problem);
  });
}
