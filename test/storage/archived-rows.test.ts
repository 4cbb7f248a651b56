/** Tests chats and messages that are exported in pages and imported beside stored ones: once, under the epoch, with right counts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Chat, Message } from '#actors/model.ts';
import { EpochLost, type ArchivedRows } from '#actors/ports.ts';
import { linesOfRows, rowsIn } from '#src/moving/archived.ts';
import { chat, instance, message, owner } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const storage = await database.storage();
const { epoch } = instance.record;
const { journal, sessions, chats, messages } = storage;
const run = (text: string, values: readonly unknown[] = []) => database.admin.rows({ name: '', text }, values);

const fresh = async (id: string): Promise<string> => {
  await storage.instances.insert({ ...instance.record, id, token: `token ${id}` });
  return id;
};

const store = (id: string, made: Message, unread = false, extra: Chat['extra'] = {}) =>
  journal.commit(
    { id, owner, epoch },
    [
      {
        kind: 'message',
        message: made,
        unread,
        chat: { chatId: made.chatId, extra, lastMessageText: made.text, lastMessageTimestamp: made.timestamp },
      },
    ],
    () => [],
  );

const made = (at: number, change: Partial<Message> = {}): Message => ({
  ...message,
  messageId: `m${at}`,
  id: `r${String(at).padStart(7, '0')}`,
  timestamp: 1_000 * Math.floor(at / 3),
  text: `text ${at}`,
  status: '',
  queuedSend: null,
  raw: Buffer.from(`raw ${at}`),
  ...change,
});

const archiveOf = (id: string): Promise<ArchivedRows[]> => Array.fromAsync(sessions.rows(id));

/** Imports the pieces through the lines of an archive. */
const restore = async (id: string, pieces: readonly ArchivedRows[]): Promise<Record<string, number>> => {
  const added: Record<string, number> = { contacts: 0, chats: 0, messages: 0 };
  const lines = linesOfRows(
    (async function* () {
      yield* pieces;
    })(),
  )[Symbol.asyncIterator]();
  for await (const piece of rowsIn(lines, { ended: false }))
    added[piece.of] = (added[piece.of] ?? 0) + (await journal.addArchived({ instanceId: id, epoch }, piece));
  return added;
};

const allOf = async (id: string) => (await messages.find(id, { limit: 1_000, offset: 0 })).messages;
const shownOf = async (id: string) =>
  (await allOf(id)).map(({ fileUrl: _file, sendFolderId: _folder, sendPosition: _position, ...shown }) => shown);

test('archive: chats, messages and contacts of one instance are the same in another one, in the same order', async () => {
  const [from, to] = [await fresh('a1'), await fresh('a2')];
  for (let at = 0; at < 450; at += 1)
    await store(from, made(at, { chatId: `${at % 7}@s.whatsapp.net`, fileUrl: 'http://old.test/f', sendFolderId: 'c1' }), at % 2 === 0, {
      lead_name: `Lead ${at % 7}`,
    });
  await journal.commit(
    { id: from, owner, epoch },
    [{ kind: 'chat', create: true, chat: { chatId: '1@s.whatsapp.net', contactName: 'Ana' } }],
    () => [],
  );
  const pieces = await archiveOf(from);
  assert.ok(pieces.every(({ rows }) => rows.length <= 200));
  const added = await restore(to, pieces);
  assert.deepEqual([added['chats'], added['messages']], [7, 450]);
  assert.ok((added['contacts'] ?? 0) > 0);
  assert.deepEqual(await shownOf(to), await shownOf(from));
  const query = { filters: [], any: false, sort: null, limit: 100, offset: 0 };
  assert.deepEqual((await chats.find(to, query)).chats, (await chats.find(from, query)).chats);
  const [row] = await run(
    `select count(*)::int as count, max(file_url) as file, max(send_folder_id) as folder from message where instance_id = $1`,
    [to],
  );
  assert.deepEqual(row, { count: 450, file: '', folder: '' });
  const unread = async (id: string) => (await messages.unread(id, '1@s.whatsapp.net', 100)).map(({ messageId }) => messageId);
  assert.deepEqual(await unread(to), await unread(from));
  assert.ok((await unread(to)).length > 0);
});

test('archive: importing rows twice, or after half of them, changes no stored row', async () => {
  const [from, to] = [await fresh('b1'), await fresh('b2')];
  for (let at = 0; at < 230; at += 1) await store(from, made(at), true);
  const pieces = await archiveOf(from);
  await restore(to, pieces.slice(0, -1));
  const half = (await allOf(to)).length;
  assert.ok(half > 0 && half < 230);
  assert.equal((await restore(to, pieces))['messages'], 230 - half);
  const stored = JSON.stringify([await allOf(to), await chats.get(to, message.chatId)]);
  assert.deepEqual(await restore(to, pieces), { contacts: 0, chats: 0, messages: 0 });
  assert.equal(JSON.stringify([await allOf(to), await chats.get(to, message.chatId)]), stored);
});

test('archive: queued messages are not exported, and none is imported', async () => {
  const [from, to] = [await fresh('c1'), await fresh('c2')];
  await store(from, made(1));
  const waiting = made(2, { status: 'Queued', fromMe: true });
  await journal.commit({ id: from, owner, epoch }, [{ kind: 'queued', message: waiting, chat: { chatId: waiting.chatId } }], () => []);
  const pieces = await archiveOf(from);
  assert.deepEqual(
    pieces.filter(({ of }) => of === 'messages').flatMap(({ rows }) => rows.map((row) => row['messageId'])),
    ['m1'],
  );
  await restore(to, [{ of: 'messages', rows: [{ ...waiting, raw: null }] }]);
  assert.deepEqual(await allOf(to), []);
});

test('archive: a stored chat keeps its lead fields, unread count and later last message, and gets missing fields', async () => {
  const [from, kept, bare] = [await fresh('d1'), await fresh('d2'), await fresh('d3')];
  await store(from, made(3), true, { lead_name: 'archived' });
  await store(kept, made(30), false, { lead_name: 'stored' });
  await store(bare, made(1), false);
  const pieces = await archiveOf(from);
  await restore(kept, pieces);
  await restore(bare, pieces);
  const first = await chats.get(kept, message.chatId);
  assert.deepEqual([first?.extra, first?.unreadCount, first?.lastMessageText], [{ lead_name: 'stored' }, 0, 'text 30']);
  const second = await chats.get(bare, message.chatId);
  assert.deepEqual([second?.extra, second?.unreadCount, second?.lastMessageText], [{ lead_name: 'archived' }, 0, 'text 3']);
  assert.deepEqual(await messages.unread(bare, message.chatId, 10), [], 'a chat without unread messages gets none');
});

test('archive: a message under the other address of its chat is the same one, and a taken short id is drawn again', async () => {
  const to = await fresh('e1');
  await store(to, made(1, { chatId: '5@s.whatsapp.net', chatLid: '9@lid' }));
  const row = { ...made(1, { chatId: '9@lid', chatLid: '' }), raw: null };
  assert.equal((await restore(to, [{ of: 'messages', rows: [row] }]))['messages'], 0);
  const other = { ...made(2, { id: made(1).id }), raw: null };
  await restore(to, [{ of: 'messages', rows: [other, { ...other, messageId: 'm3' }] }]);
  const ids = (await allOf(to)).map(({ id }) => id);
  assert.deepEqual([ids.length, new Set(ids).size], [3, 3]);
});

test('archive: a former owner stores nothing, and a removed instance gets nothing', async () => {
  const id = await fresh('f1');
  const piece: ArchivedRows = { of: 'messages', rows: [{ ...made(1), raw: null }] };
  for (const claim of [
    { instanceId: id, epoch: epoch + 1 },
    { instanceId: 'nobody', epoch },
  ])
    await assert.rejects(() => journal.addArchived(claim, piece), EpochLost);
  assert.deepEqual(await allOf(id), []);
});

test('archive: of rows with wrong types and texts that PostgreSQL refuses the valid parts are stored', async () => {
  const id = await fresh('g1');
  const odd = { messageId: 'odd', chatId: 'x@lid', text: 'a\0b', timestamp: 'soon', content: { deep: '\ud800' }, id: 7, starred: 'yes' };
  const added = await restore(id, [
    { of: 'messages', rows: [odd, { messageId: 5 }, {}] },
    { of: 'chats', rows: [{ ...chat, labels: 'none', extra: null }, { chatId: '' }] },
    { of: 'contacts', rows: [{ contactId: 'y@lid', name: 4 }] },
  ]);
  assert.deepEqual(added, { contacts: 1, chats: 1, messages: 1 });
  assert.deepEqual(
    (await allOf(id)).map(({ text, timestamp }) => [text, timestamp]),
    [['ab', 0]],
  );
});

test('archive: a page of long messages has fewer rows, and at least one', async () => {
  const [from, to] = [await fresh('h1'), await fresh('h2')];
  for (let at = 0; at < 9; at += 1)
    await store(from, made(at, { text: `${at}`.repeat(1 << 20), raw: Buffer.alloc(at === 4 ? 5 << 20 : 1) }));
  const pieces = (await archiveOf(from)).filter(({ of }) => of === 'messages');
  assert.deepEqual(
    pieces.map(({ rows }) => rows.length),
    [3, 1, 1, 3, 1],
  );
  assert.equal((await restore(to, pieces))['messages'], 9);
  assert.deepEqual(await shownOf(to), await shownOf(from));
});
