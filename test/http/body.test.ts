/** Tests numbers and booleans that arrive as texts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type TSchema, Type } from 'typebox';
import { coercerOf } from '#src/http/body.ts';

const Loose = Type.Unsafe<string | number>({ type: ['string', 'number'] });

const rows: readonly (readonly [title: string, schema: TSchema, given: unknown, read: unknown])[] = [
  ['a whole number', Type.Integer(), '12', 12],
  ['a negative one', Type.Integer(), ' -3 ', -3],
  ['a fraction where a whole number is wanted', Type.Integer(), '1.5', '1.5'],
  ['a fraction where a number is wanted', Type.Number(), '1.5', 1.5],
  ['a word where a number is wanted', Type.Integer(), 'soon', 'soon'],
  ['an empty text', Type.Integer(), '', ''],
  ['a number too long to be exact', Type.Integer(), '12345678901234567890', '12345678901234567890'],
  ['true', Type.Boolean(), 'true', true],
  ['False in capitals', Type.Boolean(), 'FALSE', false],
  ['"1" for true', Type.Boolean(), '1', true],
  ['0 for false', Type.Boolean(), 0, false],
  ['2 where a boolean is wanted', Type.Boolean(), 2, 2],
  ['yes', Type.Boolean(), 'yes', 'yes'],
  ['a text where texts are allowed', Loose, '12', '12'],
  ['a text where anything is allowed', Type.Unknown(), '12', '12'],
  ['a number or null', Type.Union([Type.Integer(), Type.Null()]), '7', 7],
  ['a number or a text', Type.Union([Type.Integer(), Type.String()]), '7', '7'],
  ['one of some numbers', Type.Unsafe<number>({ enum: [86_400, 604_800] }), '86400', 86_400],
  ['a field', Type.Object({ delay: Type.Integer(), text: Type.String() }), { delay: '5', text: '5' }, { delay: 5, text: '5' }],
  ['a field that nobody knows', Type.Object({ delay: Type.Integer() }), { other: '5' }, { other: '5' }],
  [
    'a field at any depth',
    Type.Object({ cards: Type.Array(Type.Object({ buttons: Type.Array(Type.Object({ on: Type.Boolean() })) })) }),
    { cards: [{ buttons: [{ on: 'true' }, { on: false }] }] },
    { cards: [{ buttons: [{ on: true }, { on: false }] }] },
  ],
  ['the values of a record', Type.Record(Type.String(), Type.Boolean()), { a: 'true', b: '0' }, { a: true, b: false }],
  [
    'parts that all hold',
    Type.Intersect([Type.Object({ a: Type.Integer() }), Type.Object({ b: Type.Boolean() })]),
    { a: '1', b: '1' },
    { a: 1, b: true },
  ],
  ['one number or several', Type.Union([Type.Integer(), Type.Array(Type.Integer())]), ['1', 2], [1, 2]],
  ['a text where an object is wanted', Type.Object({ a: Type.Integer() }), 'a', 'a'],
];

for (const [title, schema, given, read] of rows) {
  test(`lenient reading: ${title} is read as ${JSON.stringify(read)}`, () => {
    const coercer = coercerOf(schema);
    assert.deepEqual(coercer === null ? given : coercer(given), read);
  });
}

test('lenient reading: a schema without numbers and booleans needs no conversion', () => {
  assert.equal(coercerOf(Type.Object({ text: Type.String(), list: Type.Array(Type.String()), any: Loose })), null);
});
