/** Tests the bound of a batch of history: 256 KiB for the whole body that a receiver gets, whatever is stored. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { enveloped } from '#actors/delivery/webhook-request.ts';
import { chatFields, chatView, envelopeView, eventMessageView, historyView } from '#src/contract/views.ts';
import { chat, message, owner } from './samples.ts';

const most = 256 * 1024;
/** The longest envelope of a batch. Control characters take six bytes each. */
const sender = { owner, token: 't'.repeat(64), name: '\u0001'.repeat(200), baseUrl: `https://${'gateway.'.repeat(30)}example.com` };
const bytesOf = (view: Readonly<Record<string, unknown>>): number =>
  Buffer.byteLength(enveloped(envelopeView, sender, { type: 'history', body: JSON.stringify(view) }));

const texts = Object.entries(chatFields).filter(([, { type, key }]) => type === 'text' && key === null);
/** All notes on a person, each of 500 characters, half of two bytes and half of three. */
const extra = Object.fromEntries(texts.map(([name]) => [name, 'é€'.repeat(250)]));

const items: Readonly<Record<string, (at: number) => Record<string, unknown>>> = {
  'chats with a page of notes each': (at) => chatView({ ...chat, id: `r${at}`, extra }, owner),
  'messages of 10 kB': (at) => eventMessageView({ ...message, messageId: `M${at}`, text: 'x'.repeat(10_000) }, owner),
};
for (const [title, make] of Object.entries(items))
  test(`history: 200 ${title} stay below the limit with their envelope, and all of them are named`, () => {
    const all = Array.from({ length: 200 }, (_, at) => make(at));
    const view = historyView('items', all, 199, 200);
    assert.ok(bytesOf(view) <= most, `${bytesOf(view)} bytes`);
    const told = view['items'] as readonly Readonly<Record<string, unknown>>[];
    assert.deepEqual(
      told.map(({ id }) => id),
      all.map(({ id }) => id),
    );
  });

test('history: items that are not cut fit with their envelope too', () => {
  const textOf = (length: number) => {
    const all = Array.from({ length: 200 }, (_, at) =>
      eventMessageView({ ...message, messageId: `M${at}`, text: 'x'.repeat(length) }, owner),
    );
    const view = historyView('messages', all, 199, 200);
    const isWhole = (view['messages'] as typeof all).every(({ text }) => text.length === length);
    return { isWhole, bytes: bytesOf(view) };
  };
  let length = 0;
  for (const step of [512, 256, 128, 64, 32, 16, 8, 4, 2, 1]) if (textOf(length + step).isWhole) length += step;
  const { bytes } = textOf(length);
  assert.ok(length > 100 && bytes > most - 10_000 && bytes <= most, `${bytes} bytes with texts of ${length}`);
});

test('history: for any items the body stays below the limit and every item keeps its name', () => {
  const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.string()), fc.record({ deep: fc.string() }));
  const filler = fc.record({
    count: fc.nat(60),
    bytes: fc.nat(20_000),
    character: fc.constantFrom('x', '"', '\u0001', '€', '\ud83d\ude00'),
  });
  const item = fc.tuple(fc.dictionary(fc.constantFrom('A', 'B', 'C'), value), filler);
  fc.assert(
    fc.property(fc.array(item, { minLength: 1, maxLength: 4 }), fc.integer({ min: 1, max: 200 }), (kinds, count) => {
      const all = Array.from({ length: count }, (_, at) => {
        const [fields, { count: fillers, bytes, character }] = kinds[at % kinds.length] ?? [{}, { count: 0, bytes: 0, character: '' }];
        const filled = Object.fromEntries(Array.from({ length: fillers }, (_none, n) => [`filler${n}`, character.repeat(bytes)]));
        return { id: `item ${at}`, ...fields, ...filled };
      });
      const view = historyView('items', all, 1, 1);
      assert.ok(bytesOf(view) <= most, `${bytesOf(view)} bytes`);
      assert.equal((view['items'] as readonly unknown[]).length, count);
      for (const [at, told] of (view['items'] as readonly { readonly id: string }[]).entries()) assert.equal(told.id, all[at]?.id);
    }),
    { seed: 3, numRuns: 12 },
  );
});
