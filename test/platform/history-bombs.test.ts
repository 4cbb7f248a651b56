/** Tests histories that inflate far beyond the size of a real one. The memory stays bounded, and the session continues. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { createInflate, deflateSync, inflate } from 'node:zlib';
import { boundInflation } from '#src/platform/link/library-patches.ts';
import { type Bench, connected, startBench } from './setup.ts';

const megabyte = 1024 * 1024;
const friend = '5511900000952';
let bench: Bench;

before(async () => {
  bench = await startBench();
  await bench.running.sandbox.putPerson({ number: friend, name: 'Friend' });
  boundInflation(megabyte);
});
after(() => bench.stop());

/** Inflates as the library does, and returns the number of bytes. */
const inflated = async (packed: Uint8Array): Promise<number> => {
  const inflater = createInflate();
  let bytes = 0;
  inflater.on('data', (chunk: Buffer) => (bytes += chunk.length));
  const failed = await pipeline(Readable.from([packed]), inflater).then(
    () => false,
    () => true,
  );
  return failed ? -bytes : bytes;
};

test('history: inflation beyond the limit is aborted on the way', async () => {
  const bomb = deflateSync(Buffer.alloc(64 * megabyte));
  assert.ok(bomb.length < 100_000);
  const came = await inflated(bomb);
  assert.ok(came < 0 && -came <= megabyte, `${came} bytes`);
  assert.equal(await inflated(deflateSync(Buffer.alloc(megabyte))), megabyte);
  await assert.rejects(promisify(inflate)(bomb), /more than is allowed/);
});

const bombs = [
  ['within its message', 2, '5511900000953'],
  ['as a file', 8, '5511900000954'],
] as const;
for (const [how, code, number] of bombs)
  test(`history: a bomb ${how} brings nothing, and the session goes on`, async () => {
    await bench.running.sandbox.fault({ kind: 'historyBomb', code });
    const instance = await connected(bench, number);
    const { id } = await bench.running.sandbox.send(friend, number, { kind: 'text', text: 'after the bomb' });
    await instance.message(({ messageId }) => messageId === id, 'the text after the bomb');
    await instance.link.close();
  });
