/** Tests the messages between nodes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { decode, encode } from '#actors/cluster/wire.ts';

const values: readonly (readonly [title: string, value: unknown])[] = [
  ['a result', { ok: true, value: { id: 'r1', n: 1.5, none: null, yes: true, list: ['a', {}] } }],
  ['absent arguments', ['r1', undefined, { a: 1 }]],
  ['bytes', { jpeg: new Uint8Array([0, 1, 255]), empty: new Uint8Array() }],
  ['maps and sets', { labels: new Map([['a', { total: 1 }]]), of: new Set(['x', undefined]), deep: new Map([[1, new Map()]]) }],
  ['numbers that JSON has no form for', [NaN, Infinity, -Infinity]],
  ['keys of a client that look like a tag', { $as: 'map', value: [['a', new Uint8Array([7])]] }],
  ['a key that is the name of the prototype', JSON.parse('{"__proto__": {"a": 1}, "b": 2}')],
];
for (const [title, value] of values) test(`wire: ${title} come back as they were`, () => assert.deepEqual(decode(encode(value)), value));

test('wire: any JSON comes back as it was', () =>
  fc.assert(fc.property(fc.jsonValue(), (value) => assert.deepEqual(decode(encode(value)), JSON.parse(JSON.stringify(value))))));

test('wire: fields that are undefined are left out, and functions are refused', () => {
  assert.deepEqual(decode(encode({ a: undefined, b: 1 })), { b: 1 });
  assert.throws(() => encode({ run: () => undefined }), /cannot be sent/);
});

test('wire: a slice of a larger buffer is sent alone', () => {
  const all = Buffer.from('abcdef');
  assert.deepEqual(decode(encode(all.subarray(2, 4))), new Uint8Array([99, 100]));
});
