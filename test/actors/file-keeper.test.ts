/** Tests the keeper of the file store: orphans after a start, the total of bytes, a store that does not reply. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FilesUnavailable, type FileStore } from '#actors/ports.ts';
import { World } from '#test/fakes/world.ts';

const keep = async (world: World, text: string) => world.files.files.keep('r1', world.files.taken(text));
const day = 86_400_000;

test('file keeper: beyond the limit the files that were unused longest are removed, and no more than needed', async () => {
  const world = new World();
  const kept = [];
  for (const text of Array.from({ length: 60 }, (_, n) => `file ${String(n).padStart(5, '0')}`)) {
    kept.push(await keep(world, text));
    await world.time.pass(10);
  }
  const gateway = await world.start({ retention: { messages: 0, receipts: 0, files: 0, fileBytes: 30 * 10 } });
  await world.time.pass(20_000);
  const left = await Promise.all(kept.map((file) => world.files.files.named(file!.name)));
  const first = left.findIndex((file) => file !== null);
  assert.ok(first >= 30 && first <= 49, `${first} of 60 went`);
  assert.ok(
    left.slice(first).every((file) => file !== null),
    'the newest stay',
  );
  await gateway.stop();
});

test('file keeper: without a limit only files that were unused for too long are removed', async () => {
  const world = new World();
  const file = await keep(world, 'old');
  const gateway = await world.start({ retention: { messages: 0, receipts: 0, files: day, fileBytes: 0 } });
  await world.time.pass(20_000);
  assert.ok(await world.files.files.named(file!.name));
  await world.time.pass(2 * day);
  assert.equal(await world.files.files.named(file!.name), null);
  await gateway.stop();
});

test('file keeper: a store that does not reply is asked again, and the scan continues where it was', async () => {
  const world = new World();
  const asked: number[] = [];
  let away = true;
  const audit: FileStore['audit'] = async (part) => {
    asked.push(part);
    if (part === 3 && away) throw new FilesUnavailable('away');
    return { blobs: 0, rows: 0 };
  };
  Object.assign(world.files.files, { audit });
  const gateway = await world.start();
  await world.time.pass(1_000);
  assert.deepEqual(asked, [0, 1, 2, 3]);
  away = false;
  await world.time.pass(120_000);
  assert.deepEqual([asked[4], asked.at(-1), asked.length], [3, 255, 257]);
  assert.deepEqual(gateway.numbers().workerCrashes, {});
  await gateway.stop();
});
