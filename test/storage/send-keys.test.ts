/** Tests idempotency keys of sends in PostgreSQL: written with their message, replaced, fenced, and removed when they are old. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry, UsedSendKey } from '#actors/model.ts';
import { EpochLost } from '#actors/ports.ts';
import { instance, message } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';

const storage = await (await testDatabase()).storage();
const { instances, journal, messages, sendKeys } = storage;
const { epoch } = instance.record;
const owner = { id: 'r1', owner: '', epoch };
await instances.insert({ ...instance.record, id: 'r1', token: 'one' });
await instances.insert({ ...instance.record, id: 'r2', token: 'two' });

const key = (change: Partial<UsedSendKey> = {}): UsedSendKey => ({
  hash: 'h',
  request: 'q',
  messageId: message.messageId,
  at: 1_000,
  answer: null,
  ...change,
});
const commit = (entries: readonly Entry[], by = owner) => journal.commit(by, entries, () => []);

test('send keys: a key is stored with its message, for its instance only', async () => {
  await commit([{ kind: 'queued', message, chat: { chatId: message.chatId }, key: key() }]);
  assert.deepEqual(await sendKeys.find('r1', 'h'), key());
  assert.equal((await messages.byId('r1', message.messageId))?.status, 'Queued');
  assert.equal(await sendKeys.find('r2', 'h'), null);
});

test('send keys: an answer is read back unchanged, and the last state of one commit counts', async () => {
  const answered = key({ answer: { ok: true, value: { ...message, raw: null, text: 'zero \0 and half \ud83d' } } });
  await commit([
    { kind: 'sendKey', key: key({ at: 0 }) },
    { kind: 'sendKey', key: answered },
  ]);
  const stored = (await sendKeys.find('r1', 'h'))?.answer;
  assert.ok(stored?.ok);
  assert.deepEqual(stored.value, { ...message, raw: null, text: 'zero  and half \ufffd' });
});

test('send keys: a former owner writes none', async () => {
  await assert.rejects(commit([{ kind: 'sendKey', key: key({ hash: 'late' }) }], { ...owner, epoch: epoch + 1 }), EpochLost);
  assert.equal(await sendKeys.find('r1', 'late'), null);
});

test('send keys: old ones are removed in pieces, and the others stay', async () => {
  await commit([1, 2, 3, 9_000].map((at) => ({ kind: 'sendKey', key: key({ hash: `old ${at}`, at }) })));
  assert.deepEqual([await sendKeys.expire(1_000, 2), await sendKeys.expire(1_000, 2), await sendKeys.expire(1_000, 2)], [2, 1, 0]);
  assert.ok(await sendKeys.find('r1', 'old 9000'));
  assert.ok(await sendKeys.find('r1', 'h'));
});
