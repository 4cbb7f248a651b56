/** Tests tables of fields: the compiler refuses a row whose value does not fit its schema, and a view has the fields of its table. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type TArray, type TOptional, type TSchema, type TString, Type } from 'typebox';
import { fieldsOf, notKnown, optional, type Row } from '#src/contract/fields.ts';

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
/** The compiler looks at these: a wrong one is a type error. */
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
