/** Tests the closing of the program's parts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Log } from '#actors/ports.ts';
import { Closers } from '#src/closers.ts';

test('closers: parts are closed in reverse order, also after a failure, and the log names failed and slow parts', async () => {
  const [lines, closed]: [string[], string[]] = [[], []];
  const note = (fields: object, event: string): void => void lines.push(`${event} ${(fields as { part: string }).part}`);
  const log: Log = { info: note, warn: note, debug: note, error: note };
  const closers = new Closers(log, 20);
  const slow = Promise.withResolvers<void>();
  closers.add('quick', async () => void closed.push('quick'));
  closers.add('slow', () => slow.promise.then(() => void closed.push('slow')));
  closers.add('failing', () => Promise.reject(new Error('no')));
  const all = closers.close();
  while (lines.length < 2) await new Promise(setImmediate);
  assert.deepEqual(closed, []);
  slow.resolve();
  await all;
  assert.deepEqual(closed, ['slow', 'quick']);
  assert.deepEqual(lines, ['service.notClosed failing', 'service.closesSlowly slow']);
  await closers.close();
  assert.equal(closed.length, 2);
});
