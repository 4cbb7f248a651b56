/** Tests tables of fields. The compiler refuses a row whose value does not fit its schema, and a view has the fields of its table. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Static, type TArray, type TInteger, type TOptional, type TSchema, type TString, Type } from 'typebox';
import { fieldsOf, notKnown, type Row, settableOf } from '#src/contract/fields.ts';
import { optional } from '#src/contract/shapes.ts';
import type { channelView, keptLabelView, leadTagView, messageView, quickReplyView } from '#src/contract/views.ts';
import type { Channel } from '#src/http/schemas/channel.ts';
import type { LeadTag } from '#src/http/schemas/chat.ts';
import type { Label, QuickReply } from '#src/http/schemas/definition.ts';
import type { Message } from '#src/http/schemas/message.ts';

interface Source {
  readonly name: string;
  readonly count: number | null;
}

const table = fieldsOf<Source>()({
  label: [Type.String(), ({ name }) => name],
  count: [optional(Type.Integer()), ({ count }) => count ?? undefined],
  later: [optional(Type.String()), notKnown],
});

test('fields: a view has the fields of the table in their order, without those that are undefined', () => {
  assert.equal(JSON.stringify(table.view({ name: 'a', count: 0 })), '{"label":"a","count":0}');
  assert.deepEqual(Object.keys(table.view({ name: 'a', count: null })), ['label']);
  assert.deepEqual(Object.keys(table.schemas), ['label', 'count', 'later']);
});

test('fields: a table may have the rows of another table', () => {
  const wide = fieldsOf<Source & { readonly more: boolean }>()({ ...table.rows, more: [Type.Boolean(), ({ more }) => more] });
  assert.deepEqual(wide.view({ name: 'a', count: 2, more: true }), { label: 'a', count: 2, more: true });
});

type Accepted<Schema extends TSchema, Value> = readonly [Schema, (source: Source) => Value] extends Row<Source, Schema> ? true : false;
/** Pairs of a schema and a type. The compiler checks them: a wrong pair is a type error. */
const accepted: readonly [
  Accepted<TString, string>,
  Accepted<TOptional<TString>, string | undefined>,
  Accepted<TArray<TString>, readonly string[]>,
] = [true, true, true];
const rejected: readonly [Accepted<TString, number>, Accepted<TString, string | undefined>, Accepted<TOptional<TString>, string | null>] = [
  false,
  false,
  false,
];

test('fields: the compiler compares the value of a row with its schema', () => {
  assert.deepEqual([new Set(accepted), new Set(rejected)], [new Set([true]), new Set([false])]);
});

type Same<A, B> = [A, B] extends [B, A] ? true : false;
const same: Same<ReturnType<typeof table.view>, { readonly label: string; readonly count?: number; readonly later?: string }> = true;

test('fields: the type of a view is that of its schemas', () => assert.ok(same));

const { field, group } = settableOf<{ readonly name: string; readonly minutes: number; readonly tags: readonly string[] }>();
const settable = group({
  title: field('name', Type.String(), Type.String({ maxLength: 9 }), { take: (given) => given.trim() }),
  wait_minutes: field('minutes', Type.Integer(), Type.Integer({ minimum: 1 })),
  tags: field('tags', Type.String(), Type.String(), { show: (tags) => tags.join(), take: (given) => given.split(',') }),
});

test('fields: a field that clients set has a row for views, a schema for bodies, and a change of the model', () => {
  const shown = fieldsOf<{ readonly name: string; readonly minutes: number; readonly tags: readonly string[] }>()(settable.rows);
  assert.deepEqual(shown.view({ name: 'a', minutes: 5, tags: ['x', 'y'] }), { title: 'a', wait_minutes: 5, tags: 'x,y' });
  assert.deepEqual(Type.Object(settable.taken).required, undefined);
  assert.deepEqual(settable.change({ title: ' b ', tags: 'z' }), { name: 'b', tags: ['z'] });
  assert.deepEqual(settable.change({}), {});
});

type Plain<Key extends 'minutes' | 'tags', Shown extends TSchema, Taken extends TSchema> =
  Parameters<typeof field<Key, Shown, Taken>> extends readonly [unknown, unknown, unknown, unknown] ? false : true;
/** Fields of a model and their schemas. The compiler requires a conversion where the types differ. */
const plain: readonly [Plain<'minutes', TInteger, TInteger>, Plain<'tags', TArray<TString>, TArray<TString>>] = [true, true];
const converted: readonly [Plain<'minutes', TString, TInteger>, Plain<'minutes', TInteger, TString>, Plain<'tags', TString, TString>] = [
  false,
  false,
  false,
];

test('fields: the compiler asks for a conversion where the model and the schema differ', () => {
  assert.deepEqual([new Set(plain), new Set(converted)], [new Set([true]), new Set([false])]);
});

/** Views without a table. The compiler compares the names of their fields with those of their schemas. */
const exact: readonly [
  Same<keyof ReturnType<typeof messageView>, keyof Static<typeof Message>>,
  Same<keyof ReturnType<typeof channelView>, keyof Static<typeof Channel>>,
  Same<keyof ReturnType<typeof keptLabelView>, keyof Static<typeof Label>>,
  Same<keyof ReturnType<typeof quickReplyView>, keyof Static<typeof QuickReply>>,
  Same<keyof ReturnType<typeof leadTagView>, keyof Static<typeof LeadTag>>,
] = [true, true, true, true, true];

test('views: one without a table has exactly the fields of its schema', () => assert.deepEqual(new Set(exact), new Set([true])));
