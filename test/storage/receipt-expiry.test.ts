/** Tests that receipts of old messages are replaced by counts, in pieces and once, and are deleted with their messages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instance, message, owner } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const storage = await database.storage();
const { epoch } = instance.record;

const nothing = { delivered: 0, read: 0, played: 0 };
const run = <T>(text: string): Promise<readonly T[]> => database.admin.rows<T>({ name: '', text }, []);

/** Stores messages of a group with receipts of `members` members each. All were delivered, and every second one was read. */
const store = async (id: string, times: readonly number[], members: number): Promise<void> => {
  const entries = times.map((timestamp) => {
    const made = {
      ...message,
      messageId: `${id}-${timestamp}`,
      timestamp,
      status: 'Sent',
      fromMe: true,
      isGroup: true,
      chatId: '1@g.us',
    } as const;
    return { kind: 'message', message: made, chat: { chatId: '1@g.us' }, unread: false } as const;
  });
  await storage.journal.commit({ id, owner, epoch }, entries, () => []);
  for (const timestamp of times)
    await run(`insert into receipt select '${id}', '${id}-${timestamp}', 'm' || n, '', 5, case when n % 2 = 0 then 6 else 0 end, 0
      from generate_series(1, ${members}) as n`);
};

/** Replaces all receipts that are older than `before`, in milliseconds. Returns the number of receipts that each batch replaced. */
const expire = async (before: number): Promise<readonly number[]> => {
  const pieces: number[] = [];
  for (;;) {
    const { removed, more } = await storage.receiptExpiry.expire(before);
    pieces.push(removed);
    if (!more) return pieces;
  }
};

const receiptsOf = async (id: string, timestamp: number) => {
  const { receipts, counts } = await storage.messages.receipts(id, { messageId: `${id}-${timestamp}`, state: null, limit: 100, offset: 0 });
  return [receipts.length, counts] as const;
};

test('receipts: those of old messages are replaced by counts, over all instances, and new ones stay', async () => {
  for (const id of ['ra', 'rb']) await storage.instances.insert({ ...instance.record, id, token: id });
  await store(
    'ra',
    Array.from({ length: 120 }, (_, n) => n + 1),
    4,
  );
  await store('ra', [500], 4);
  await store('rb', [7], 3);
  const pieces = await expire(400);
  assert.deepEqual(
    pieces.filter((count) => count > 0),
    [200, 200, 80, 3],
  );
  assert.deepEqual(await receiptsOf('ra', 1), [0, { delivered: 4, read: 2, played: 0 }]);
  assert.deepEqual(await receiptsOf('ra', 120), [0, { delivered: 4, read: 2, played: 0 }]);
  assert.deepEqual(await receiptsOf('ra', 500), [4, nothing]);
  assert.deepEqual(await receiptsOf('rb', 7), [0, { delivered: 3, read: 1, played: 0 }]);
  assert.deepEqual(await expire(400), [0], 'once');
});

test('receipts: the next round continues where the last one ended, and counts are deleted with their message', async () => {
  assert.deepEqual(await expire(501), [4, 0]);
  assert.deepEqual(await receiptsOf('ra', 500), [0, { delivered: 4, read: 2, played: 0 }]);
  while ((await storage.messageExpiry.expire(400, 100)) > 0);
  assert.deepEqual(await run(`select message_id from receipt_count`), [{ message_id: 'ra-500' }]);
});
