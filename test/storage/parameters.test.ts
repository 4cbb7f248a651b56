/** Tests lists as parameters of statements. The server reads the values that were written. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDatabase } from '#test/support/database.ts';

const { admin: database } = await testDatabase();

const echo = async (type: string, list: readonly unknown[]): Promise<unknown> => {
  const [row] = await database.rows<{ list: unknown }>({ name: `echo ${type}`, text: `select $1::${type}[] as list` }, [list]);
  return row?.list;
};

const lists: readonly (readonly [title: string, type: string, list: readonly unknown[]])[] = [
  ['texts', 'text', ['a', 'b']],
  ['no texts', 'text', []],
  ['an empty text', 'text', ['']],
  ['what an array literal would have to escape', 'text', ['"', '\\', '{}', ',', 'NULL', ' a ', "'", '\n', '{"a":"\\"b\\""}']],
  ['letters of one to four bytes', 'text', ['é', '€', '😀', 'a😀é', '漢'.repeat(5_000)]],
  ['texts and nothing', 'text', ['a', null, 'b', null]],
  ['nothing first', 'text', [null, 'a']],
  ['nothing at all', 'text', [null, null]],
  ['bytes', 'bytea', [Buffer.from([0, 255, 92]), Buffer.from('abc')]],
  ['no bytes and nothing', 'bytea', [Buffer.alloc(0), null, Buffer.alloc(70_000, 7)]],
  ['numbers', 'int', [1, -2, 0]],
  ['booleans', 'boolean', [true, false]],
];
for (const [title, type, list] of lists) {
  test(`a list is read as it was written: ${title}`, async () => assert.deepEqual(await echo(type, list), list));
}

test('parameters: times and counts keep all their digits', async () => {
  const most = Number.MAX_SAFE_INTEGER;
  assert.deepEqual(await echo('bigint', [most, -most, 1_700_000_000_123]), [String(most), String(-most), '1700000000123']);
});

test('parameters: a view of a larger buffer is written without the rest of the buffer', async () => {
  const part = new Uint8Array(Buffer.from('0123456789').buffer.slice(0)).subarray(0, 2);
  assert.deepEqual(await echo('bytea', [part]), [Buffer.from(part)]);
});

test('parameters: characters that the server cannot store are removed from texts of a list', async () => {
  assert.deepEqual(await echo('text', ['a\0b', '\ud800c']), ['ab', '\ufffdc']);
});
