/** Tests that old messages of every instance are deleted in pieces, and nothing else with them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessageStatus } from '#actors/model.ts';
import { instance, message, owner } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';

const storage = await (await testDatabase()).storage();
const { epoch } = instance.record;

const store = async (id: string, times: readonly number[], status: MessageStatus = ''): Promise<void> => {
  const entries = times.map((timestamp) => {
    const made = { ...message, messageId: `${id}-${timestamp}-${status}`, timestamp, status, fromMe: status !== '' };
    const chat = { chatId: message.chatId };
    return status === 'Queued'
      ? ({ kind: 'queued', message: made, chat } as const)
      : ({ kind: 'message', message: made, chat, unread: false } as const);
  });
  await storage.journal.commit({ id, owner, epoch }, entries, () => []);
};
const timesOf = async (id: string): Promise<readonly number[]> => {
  const { messages } = await storage.messages.find(id, { limit: 100, offset: 0 });
  return messages.map(({ timestamp }) => timestamp).toSorted((a, b) => a - b);
};

test('expiry: pieces of a bounded size run over all instances until no old message is left, then start again', async () => {
  for (const id of ['ra', 'rb', 'rc']) await storage.instances.insert({ ...instance.record, id, token: id });
  await store('ra', [1, 2, 3, 50]);
  await store('rb', [60]);
  await store('rc', [4, 5, 70]);
  const pieces: number[] = [];
  do pieces.push(await storage.messageExpiry.expire(50, 2));
  while (pieces.at(-1) === 2);
  assert.deepEqual(pieces, [2, 2, 1]);
  assert.deepEqual(await Promise.all(['ra', 'rb', 'rc'].map(timesOf)), [[50], [60], [70]]);
  await store('ra', [7]);
  assert.equal(await storage.messageExpiry.expire(50, 2), 1, 'an instance that was done is looked at again');
});

test('expiry: queued messages stay, however old they are', async () => {
  await storage.instances.insert({ ...instance.record, id: 'rd', token: 'rd' });
  await store('rd', [1], 'Queued');
  await store('rd', [2], 'Sent');
  assert.equal(await storage.messageExpiry.expire(1_000, 100), 4);
  assert.deepEqual(await timesOf('rd'), [1]);
});
