/** Tests changes of any number of rows. They are stored in pieces, each far below the time-out of statements. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { message, owner, instance } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
/** Milliseconds. One statement over all these rows took several seconds. */
const limits = { statement: 2_000, connection: 10_000 };
const storage = await database.storage({ limits });
const run = (text: string, values: readonly unknown[] = []) => database.admin.rows<Record<string, number>>({ name: '', text }, values);
const record = { ...instance.record, id: 'rpieces', token: 'pieces' };
await storage.instances.insert(record);
const commit = (...entries: Parameters<typeof storage.journal.commit>[1]) =>
  storage.journal.commit({ id: record.id, owner, epoch: 1 }, entries, () => []);

const chatId = message.chatId;
const columns = async (table: string, without: string): Promise<string> =>
  (
    await database.admin.rows<{ name: string }>(
      {
        name: '',
        text: `select column_name as name from information_schema.columns where table_name = $1 and column_name not in (${without})`,
      },
      [table],
    )
  )
    .map(({ name }) => name)
    .join(', ');

const messages = 100_000;
const chats = 100_000;
const atOnce = 10_000;

test(`pieces: a phone reads a chat with ${messages} unread messages`, async (t) => {
  await commit({ kind: 'message', message, chat: { chatId }, unread: true });
  const copied = await columns('message', `'message_id', 'seq', 'timestamp'`);
  for (let from = 0; from < messages; from += atOnce)
    await run(
      `insert into message (message_id, timestamp, ${copied}) select 'copy' || n, n, ${copied} from message, generate_series($1::int, $2::int) as n
        where message_id = $3`,
      [from, from + atOnce - 1, message.messageId],
    );
  await run('update chat set unread_count = $1', [messages + 1]);
  const begun = performance.now();
  const { events } = await commit({ kind: 'chatRead', chatId });
  t.diagnostic(`${Math.round(performance.now() - begun)} ms`);
  assert.deepEqual(
    events.map(({ type }) => type),
    ['chats'],
  );
  assert.deepEqual(await run('select count(*)::int as count from message where unread'), [{ count: 0 }]);
  assert.equal((await storage.chats.get(record.id, chatId))?.unreadCount, 0);
});

test(`pieces: a label that ${chats} chats carry is deleted`, async (t) => {
  const copied = await columns('chat', `'chat_id', 'labels', 'last_message_timestamp'`);
  const name = `${owner}:7`;
  for (let from = 0; from < chats; from += atOnce)
    await run(
      `insert into chat (chat_id, labels, last_message_timestamp, ${copied})
        select 'copy' || n, array[$4::text, 'kept'], mod(n, 7), ${copied} from chat, generate_series($1::int, $2::int) as n where chat_id = $3`,
      [from, from + atOnce - 1, chatId, name],
    );
  const begun = performance.now();
  await commit({ kind: 'news', lane: '', news: { type: 'labels', label: { id: '7', name: '', color: 0, deleted: true } } });
  t.diagnostic(`${Math.round(performance.now() - begun)} ms`);
  const rows = await run(
    `select count(*) filter (where labels = '{kept}')::int as kept, count(*) filter (where $1 = any(labels))::int as carry from chat`,
    [name],
  );
  assert.deepEqual(rows, [{ kept: chats, carry: 0 }]);
});

test(`pieces: a phone clears a chat with ${2 * messages} messages`, async (t) => {
  const copied = await columns('message', `'message_id', 'seq', 'timestamp'`);
  for (let from = messages; from < 2 * messages; from += atOnce)
    await run(
      `insert into message (message_id, timestamp, ${copied}) select 'copy' || n, n, ${copied} from message, generate_series($1::int, $2::int) as n
        where message_id = $3`,
      [from, from + atOnce - 1, message.messageId],
    );
  const begun = performance.now();
  const end = { until: 2 * messages + 998, last: [`copy${2 * messages - 1}`] };
  await commit({ kind: 'chatErased', chatId, gone: false, keepStarred: false, ...end });
  t.diagnostic(`${Math.round(performance.now() - begun)} ms`);
  assert.deepEqual(await run('select message_id from message'), [{ message_id: message.messageId }]);
});

test('pieces: a former owner changes nothing', async () => {
  await run('update message set unread = true where message_id = $1', [message.messageId]);
  await run('update chat set unread_count = 1 where chat_id = $1', [chatId]);
  const late = storage.journal.commit({ id: record.id, owner, epoch: 0 }, [{ kind: 'chatRead', chatId }], () => []);
  await assert.rejects(late, { name: 'EpochLost' });
  assert.deepEqual(await run('select count(*)::int as count from message where unread'), [{ count: 1 }]);
});
