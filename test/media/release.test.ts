/** Tests the early release of memory. Only whole buffers are released, never memory that other objects may share. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { release } from '#src/media/release.ts';

const whole = new Uint8Array(8_192);
const rows: readonly (readonly [string, Uint8Array, number])[] = [
  ['a buffer of its own is freed', Buffer.alloc(100_000), 0],
  ['a part stays', Buffer.from(whole.buffer, 0, 5_000), 5_000],
  ['a small one stays', new Uint8Array(100), 100],
  ['memory that threads share stays', new Uint8Array(new SharedArrayBuffer(8_192)), 8_192],
];
for (const [title, bytes, length] of rows)
  test(`release: ${title}`, () => {
    release(bytes);
    assert.equal(bytes.length, length);
  });

test('release: a second release has no effect', () => {
  release(whole);
  release(whole);
  assert.equal(whole.length, 0);
});
