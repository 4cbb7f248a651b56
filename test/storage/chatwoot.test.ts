/** Tests the mapping between stored messages and an inbox of Chatwoot, on a real database. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChatwootNews } from '#actors/model.ts';
import { EpochLost } from '#actors/ports.ts';
import { instance } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const storage = await database.storage();
const rows = storage.chatwootRows;
const { epoch } = instance.record;
for (const id of ['r1', 'r2', 'r3']) await storage.instances.insert({ ...instance.record, id, token: id });
const claim = { instanceId: 'r1', epoch };
const late = { instanceId: 'r1', epoch: epoch - 1 };

const chat = { chatId: '1@lid', contactId: 7, sourceId: 's', conversationId: 9, name: 'Ana', image: '' };
const news = (id: number, conversationId: number, kind: ChatwootNews['kind'] = 'deleted'): ChatwootNews =>
  ({ kind, accountId: 1, inboxId: 1, conversationId, id, sourceId: '' }) as ChatwootNews;
const waiting = async (): Promise<readonly number[]> => (await rows.replies(['r1', 'r2'], 100, 100)).map((one) => one.news.id);

test('chats: are found by their id and by their conversation, in their inbox only', async () => {
  await rows.saveChat(claim, 'a', chat);
  assert.deepEqual(await rows.chat('r1', 'a', '1@lid'), chat);
  assert.equal(await rows.chatOf('r1', 'a', 9), '1@lid');
  for (const [of, inbox] of [
    ['r1', 'b'],
    ['r2', 'a'],
  ] as const)
    assert.deepEqual([await rows.chat(of, inbox, '1@lid'), await rows.chatOf(of, inbox, 9)], [null, null]);
  await rows.saveChat(claim, 'a', { ...chat, conversationId: 10 });
  assert.deepEqual([await rows.chatOf('r1', 'a', 9), await rows.chatOf('r1', 'a', 10)], [null, '1@lid']);
});

test('messages: they are found from both sides, several of one in the order of creation', async () => {
  for (const [key, at] of [
    ['m2', 1],
    ['m1', 2],
  ] as const)
    await rows.saveMessage(claim, 'a', { key, conversationId: 9, id: 5, progress: 0 }, at);
  assert.deepEqual(
    (await rows.messagesOf('r1', 'a', 5)).map(({ key }) => key),
    ['m2', 'm1'],
  );
  assert.deepEqual(
    (await rows.messages('r1', 'a', ['m1', 'none'])).map(({ id }) => id),
    [5],
  );
  assert.deepEqual([await rows.messages('r1', 'b', ['m1']), await rows.messagesOf('r2', 'a', 5)], [[], []]);
  assert.equal(await rows.expire(2, 10), 1);
  assert.deepEqual(
    (await rows.messagesOf('r1', 'a', 5)).map(({ key }) => key),
    ['m1'],
  );
});

test('replies: the first of each conversation is read once, in bounded numbers, and deleted when it is done', async () => {
  for (const [id, conversation] of [
    [1, 9],
    [2, 9],
    [3, 8],
  ] as const)
    assert.ok(await rows.addReply(claim, 'a', news(id, conversation), 1, 3));
  assert.ok(!(await rows.addReply(claim, 'a', news(4, 8), 1, 3)), 'there is no room for one more');
  assert.deepEqual((await waiting()).toSorted(), [1, 3]);
  const [first] = (await rows.replies(['r1', 'r2'], 100, 100)).filter((one) => one.news.id === 1);
  assert.ok(first);
  assert.equal(await rows.beginReply(claim, { seq: first.seq, begun: 3 }), true);
  assert.equal((await rows.replies(['r1'], 100, 100)).find(({ seq }) => seq === first.seq)?.begun, 3);
  await rows.postponeReply(claim, { seq: first.seq, notBefore: 50, attempts: 2, failure: 'no', refused: [{ part: 1, reason: 'gone' }] });
  assert.partialDeepStrictEqual(
    (await rows.replies(['r1', 'r2'], 100, 100)).find(({ seq }) => seq === first.seq),
    { notBefore: 50, attempts: 2, begun: 0, failure: 'no', refused: [{ part: 1, reason: 'gone' }], instanceId: 'r1', inbox: 'a' },
  );
  await rows.removeReply(claim, first.seq);
  assert.equal(await rows.beginReply(claim, { seq: first.seq, begun: 4 }), false, 'it is gone');
  assert.deepEqual((await waiting()).toSorted(), [2, 3]);
  await rows.addReply(claim, 'a', news(2, 9), 1, 3);
  assert.deepEqual((await waiting()).toSorted(), [2, 3], 'the same news are stored once');
});

test('replies: an attempt under way when all were failed neither restarts nor undoes the failure', async () => {
  const third = { instanceId: 'r3', epoch };
  assert.ok(await rows.addReply(third, 'a', news(6, 1), 1, 3));
  const [read] = await rows.replies(['r3'], 100, 100);
  assert.ok(read);
  await rows.failReplies(third, 'another account was paired');
  await rows.postponeReply(third, { seq: read.seq, notBefore: 5_000, attempts: 1, failure: '', refused: [] });
  assert.partialDeepStrictEqual(await rows.replies(['r3'], 100, 100), [
    { failure: 'another account was paired', notBefore: 0, attempts: 1 },
  ]);
  assert.equal(await rows.beginReply(third, { seq: read.seq, begun: 2 }), false);
  await rows.removeReply(third, read.seq);
});

test('replies: a node finds those of its instances, however many wait on other nodes', async () => {
  const other = { instanceId: 'r2', epoch };
  assert.ok(await rows.addReply(other, 'a', news(5, 1), 1, 3));
  assert.deepEqual(
    (await rows.replies(['r2'], 1, 1)).map(({ instanceId }) => instanceId),
    ['r2'],
  );
  assert.deepEqual(await rows.replies([], 100, 100), []);
  assert.deepEqual((await rows.replying()).toSorted(), ['r1', 'r2']);
});

test('replies: waiting conversations of one instance delay neither other instances nor its own due conversations', async () => {
  for (const id of ['r4', 'r5']) await storage.instances.insert({ ...instance.record, id, token: id });
  const [first, second] = [
    { instanceId: 'r4', epoch },
    { instanceId: 'r5', epoch },
  ];
  for (const conversation of [1, 2, 3, 4]) assert.ok(await rows.addReply(first, 'a', news(conversation, conversation), 1, 10));
  for (const { seq, news: one } of await rows.replies(['r4'], 10, 10))
    if (one.conversationId < 4) await rows.postponeReply(first, { seq, notBefore: 50 - one.id, attempts: 1, failure: '', refused: [] });
  assert.ok(await rows.addReply(second, 'a', news(9, 9), 1, 10));
  const read = async (limit: number): Promise<readonly number[]> =>
    (await rows.replies(['r4', 'r5'], limit, 2)).map((one) => one.news.conversationId);
  assert.deepEqual(
    [await read(10), await read(2)],
    [
      [4, 9, 3],
      [4, 9],
    ],
  );
});

test('chatwoot: a former owner of the instance writes nothing', async () => {
  const [first] = await rows.replies(['r1'], 1, 1);
  assert.ok(first);
  for (const write of [
    () => rows.saveChat(late, 'a', { ...chat, name: 'late' }),
    () => rows.saveMessage(late, 'a', { key: 'late', conversationId: 1, id: 1, progress: 0 }, 1),
    () => rows.addReply(late, 'a', news(99, 99), 1, 10),
    () => rows.beginReply(late, { seq: first.seq, begun: 1 }),
    () => rows.postponeReply(late, { seq: first.seq, notBefore: 1, attempts: 1, failure: '', refused: [] }),
    () => rows.removeReply(late, first.seq),
  ])
    await assert.rejects(write(), EpochLost);
  assert.equal((await rows.chat('r1', 'a', '1@lid'))?.name, 'Ana');
  assert.ok((await waiting()).includes(first.news.id));
});
