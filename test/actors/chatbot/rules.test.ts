/** Tests the rules of the chatbot: words that start it, leads that it answers, cuts in long texts, and the memory of an agent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dialogueOf, messagesToAnswer, piecesOf } from '#actors/chatbot/asking.ts';
import { isAnswerable, isStop, triggerFor } from '#actors/chatbot/rules.ts';
import type { ChatbotTrigger, Message } from '#actors/model.ts';
import { message as sampleMessage } from '#test/contract/samples.ts';
import { sampleAgent, sampleTrigger } from '#test/fakes/chatbot.ts';

const now = 1_000_000_000;
const state = { disabledUntil: 0, memoryResetAt: 0, lastTriggerAt: 0, lastTriggerId: '', answersDay: 0, answersCount: 0 };
const fits = (trigger: Partial<ChatbotTrigger>, text: string, lead = ''): boolean =>
  triggerFor(
    { agents: [sampleAgent], triggers: [{ ...sampleTrigger, ...trigger }] },
    { text, isGroup: false, state, lead: () => lead, now },
  ) !== null;

const words: readonly (readonly [words: string, text: string, fits: boolean])[] = [
  ['', 'anything', true],
  [' | ', 'anything', true],
  ['price', 'What is the PRICE?', true],
  ['price', 'prices', false],
  ['price', 'overprice', false],
  ['price', 'prices and the price', true],
  ['good day|hello', 'Good\n day', true],
  ['preço', 'Qual é o PREÇO?', true],
  ['ação', 'reação', false],
  ['c++', 'I like c++ a lot', true],
  ['😀', 'ok 😀!', true],
];
for (const [given, text, expected] of words)
  test(`words: ${JSON.stringify(given)} ${expected ? 'stand' : 'do not stand'} in ${JSON.stringify(text)}`, () =>
    assert.equal(fits({ words: given }, text), expected));

const leads: readonly (readonly [operator: ChatbotTrigger['leadOperator'], wanted: string, value: string, fits: boolean])[] = [
  ['equals', 'New', ' new ', true],
  ['equals', 'new', 'newer', false],
  ['not_equals', 'new', '', true],
  ['contains', 'vip', 'gold, VIP', true],
  ['not_contains', 'vip', 'gold', true],
  ['not_contains', 'vip', 'vip', false],
  ['greater', '9', '10', true],
  ['greater', '9', '', false],
  ['greater', '9', 'many', false],
  ['less', '9', '-1', true],
  ['less', '9', '', false],
  ['empty', '', ' ', true],
  ['empty', '', 'x', false],
  ['not_empty', '', 'x', true],
];
for (const [leadOperator, leadValue, value, expected] of leads)
  test(`leads: ${JSON.stringify(value)} ${leadOperator} ${JSON.stringify(leadValue)} is ${expected}`, () =>
    assert.equal(fits({ leadField: 'lead_status', leadOperator, leadValue }, 'hi', value), expected));

test('stop keywords: only a text that equals the keyword stops the chatbot, and an empty keyword stops nothing', () => {
  assert.deepEqual([isStop(' STOP ', 'stop'), isStop('stop it', 'stop'), isStop('', ''), isStop('x', ' ')], [true, false, false, false]);
});

test('chats: only people and groups are answered', () => {
  const ids = ['55@s.whatsapp.net', '1@lid', '1@g.us', '1@newsletter', 'status@broadcast', '1@broadcast', '0@c.us'];
  assert.deepEqual(ids.filter(isAnswerable), ids.slice(0, 3));
});

const cuts: readonly (readonly [text: string, most: number, pieces: readonly string[]])[] = [
  ['', 5, []],
  ['whole', 0, ['whole']],
  ['whole', 5, ['whole']],
  ['one two three', 8, ['one two', 'three']],
  ['First. Second one', 12, ['First.', 'Second one']],
  ['para one\n\npara two', 12, ['para one', 'para two']],
  ['abcdefghij', 4, ['abcd', 'efgh', 'ij']],
  ['ab😀cd', 3, ['ab', '😀c', 'd']],
  ['😀', 1, ['\ud83d', '\ude00']],
];
for (const [text, most, pieces] of cuts)
  test(`pieces: ${JSON.stringify(text)} in at most ${most}`, () => assert.deepEqual(piecesOf(text, most), pieces));

let count = 0;
const said = (text: string, change: Partial<Message> = {}): Message => ({
  ...sampleMessage,
  messageId: `M${(count += 1)}`,
  text,
  type: 'text',
  mediaType: '',
  fromMe: false,
  isGroup: false,
  edited: '',
  status: '',
  timestamp: now - 60_000 + count * 1000,
  ...change,
});

test('questions: without names all texts after the last own message are the question', () => {
  const all = [said('old'), said('answer', { fromMe: true }), said('one'), said('two')];
  assert.deepEqual(
    messagesToAnswer(all, [], 0).map(({ text }) => text),
    ['one', 'two'],
  );
  assert.deepEqual(messagesToAnswer([...all, said('answer', { fromMe: true })], [], 0), []);
});

test('questions: an edit asks nothing again, and a deleted or old text is not answered', () => {
  const first = said('with the new text', { edited: 'E1' });
  const edit = said('with the new text', { messageId: 'E1', edited: first.messageId });
  const all = [said('gone', { status: 'Deleted' }), said('old', { timestamp: 1 }), first, edit];
  assert.deepEqual(messagesToAnswer(all, [], 2), [first]);
});

test('memory: it has a maximum of messages, none that failed, and always the newest few whatever their age', () => {
  const agent = { ...sampleAgent, memoryHours: 1, memoryMost: 4, memoryLeast: 2 };
  const old = now - 2 * 3_600_000;
  const question = said('question');
  const all = [
    said('forgotten', { timestamp: old }),
    said('one', { timestamp: old }),
    said('lost', { fromMe: true, status: 'Failed' }),
    said('answer', { fromMe: true, status: 'Sent', timestamp: old }),
    said('', { type: 'media', mediaType: 'ptt', timestamp: old }),
    question,
  ];
  assert.deepEqual(dialogueOf(all, [question], { agent, resetAt: 0, now }), [
    { by: 'assistant', text: 'answer', wishes: [] },
    { by: 'user', text: '[ptt]\nquestion' },
  ]);
  assert.deepEqual(dialogueOf(all, [question], { agent, resetAt: old, now }), [{ by: 'user', text: 'question' }]);
});
