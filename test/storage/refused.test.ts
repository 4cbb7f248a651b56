/** Tests refused entries in the database: encrypted, bounded, fenced, and removed with their instance. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry } from '#actors/model.ts';
import { instance, message } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';
import { removeRows } from '#test/support/removals.ts';

const database = await testDatabase();
const storage = await database.storage();
const { refused } = storage;
const record = { ...instance.record, id: 'rrefused', token: 'refused' };
await storage.instances.insert(record);
const claim = { instanceId: record.id, epoch: record.epoch };
const everything = { instance: null, limit: 2_000, offset: 0 };

const entry: Extract<Entry, { kind: 'message' }> = {
  kind: 'message',
  message: { ...message, raw: Buffer.from([1, 2, 3]) },
  chat: { chatId: message.chatId },
  unread: true,
};

test('refused entries: one is read as it was stored, with its bytes, and counts its tries', async () => {
  assert.equal(await refused.keep(claim, entry, '22003'), true);
  const [kept] = (await refused.list(everything)).entries;
  assert.partialDeepStrictEqual(kept, { instanceId: record.id, kind: 'message', error: '22003', tries: 1 });
  const id = kept?.id ?? '';
  assert.deepEqual(await refused.read(record.id, id), entry);
  assert.equal(await refused.read('another', id), null);
  await refused.tried(claim, id, '22001');
  assert.partialDeepStrictEqual((await refused.list({ ...everything, instance: record.id })).entries[0], { error: '22001', tries: 2 });
  assert.equal(await refused.remove(claim, id), true);
  assert.equal(await refused.remove(claim, id), false);
});

test('refused entries: a message that the platform repeats is stored once', async () => {
  for (const error of ['22003', '23514']) assert.equal(await refused.keep(claim, entry, error), true);
  const { entries } = await refused.list(everything);
  assert.deepEqual(
    entries.map(({ error }) => error),
    ['23514'],
  );
  assert.equal(await refused.remove(claim, entries[0]?.id ?? ''), true);
});

test('refused entries: a former owner stores, counts and removes none', async () => {
  const former = { ...claim, epoch: claim.epoch - 1 };
  for (const work of [() => refused.keep(former, entry, ''), () => refused.tried(former, 'x', ''), () => refused.remove(former, 'x')])
    await assert.rejects(work(), { name: 'EpochLost' });
});

test('refused entries: up to a thousand per instance are kept, in pages, and removed with the instance', async () => {
  const numbered = (n: number): Entry => ({ ...entry, message: { ...entry.message, messageId: `refused ${n}` } });
  for (let n = 0; n < 1_000; n += 1) assert.equal(await refused.keep(claim, numbered(n), '22003'), true);
  assert.equal(await refused.keep(claim, numbered(1_000), '22003'), false, 'there is no room for more');
  assert.equal(await refused.keep(claim, numbered(5), '23514'), true, 'a stored one that is repeated needs no room');
  const page = await refused.list({ instance: record.id, limit: 400, offset: 800 });
  assert.deepEqual([page.entries.length, page.more], [200, false]);
  assert.equal((await refused.list({ ...everything, limit: 10 })).more, true);
  await storage.instances.remove(record.id, record.epoch);
  await removeRows(storage.removals);
  assert.deepEqual((await refused.list(everything)).entries, []);
});
