/** Tests the journal on PostgreSQL beyond the suite of the port: concurrent writers, texts of strangers, and the removal of an instance. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { Entry, Message } from '#actors/model.ts';
import { chat as sampleChat, instance, message as sample, owner, webhook } from '#test/contract/samples.ts';
import { arrived, Bench, chatId, fresh, now } from '#test/ports/entries.ts';
import { removeRows } from '#test/support/removals.ts';
import { testDatabase, waitsForLock } from '#test/support/database.ts';

const database = await testDatabase();
const storage = await database.storage({ now: () => now });
const bench = await new Bench(storage, 'rjournal').store();
const of = bench.record;

test('journal: data of a chat from another writer survives the next commits, and both count unread messages', async () => {
  const id = '551100000004@s.whatsapp.net';
  await bench.commit(arrived(fresh({ chatId: id, text: 'first' })));
  const beside = `update chat set archived = true, unread_count = unread_count + 5, extra = '{"lead_name":"Lima"}' where chat_id = $1`;
  await database.admin.rows({ name: '', text: beside }, [id]);
  await bench.commit(arrived(fresh({ chatId: id, text: 'second' }), { pushName: 'Eva' }));
  await bench.commit({ kind: 'chat', chat: { chatId: id, extra: { lead_email: 'eva@example.com' } }, create: false });
  const chat = await bench.chat(id);
  assert.deepEqual(
    [chat?.archived, chat?.unreadCount, chat?.lastMessageText, chat?.pushName, chat?.extra],
    [true, 7, 'second', 'Eva', { lead_name: 'Lima', lead_email: 'eva@example.com' }],
  );
});

test('journal: a chat that another writer creates meanwhile is updated, not lost', async () => {
  const [id, model] = ['551100000005@s.whatsapp.net', '551100000004@s.whatsapp.net'];
  const ask = (text: string) => ({ name: '', text });
  const columns = `select column_name as name from information_schema.columns where table_name = 'chat' and column_name not in ('chat_id', 'notes')`;
  const copied = (await database.admin.rows<{ name: string }>(ask(columns), [])).map(({ name }) => name).join(', ');
  const { waiting } = await database.admin.transaction(async (runner) => {
    const beside = `insert into chat (chat_id, notes, ${copied}) select $1, 'made beside', ${copied} from chat where chat_id = $2`;
    await runner.rows(ask(beside), [id, model]);
    const committing = bench.commit(arrived(fresh({ chatId: id, text: 'after' })));
    while ((await waitsForLock(database.admin)) === 0);
    return { waiting: committing };
  });
  assert.equal((await waiting).events.length, 1);
  const chat = await bench.chat(id);
  assert.deepEqual([chat?.lastMessageText, chat?.notes], ['after', 'made beside']);
});

test('journal: texts of strangers never block the entries behind them', async () => {
  const bad = '\0half \ud83d pair \udc00 back\\slash {"a",NULL} \\u0000';
  const message = fresh({
    text: bad,
    senderName: bad,
    content: { [bad]: [bad, { bad }] },
    sendPayload: bad,
    timestamp: Number.NaN,
    trackId: 'x'.repeat(5_000),
  });
  const long = fresh({ messageId: 'L'.repeat(10_000), timestamp: 1.5 });
  const { events } = await bench.commit(arrived(message, { name: bad, labels: [bad], unreadCount: Number.NaN }), arrived(long));
  assert.equal(events.length, 2);
  const clean = 'half \ufffd pair \ufffd back\\slash {"a",NULL} \\u0000';
  const found = await bench.message(message.messageId);
  assert.deepEqual(
    [found?.text, found?.content, found?.sendPayload, found?.timestamp],
    [clean, { [clean]: [clean, { bad: clean }] }, clean, 0],
  );
  assert.equal((await bench.message(long.messageId))?.timestamp, 1);
  assert.deepEqual((await bench.chat(chatId))?.labels, [clean]);
  assert.deepEqual((await bench.commit(arrived(long))).events, []);
});

test('journal: removing an instance removes all its rows, and none of another', async () => {
  const other = { ...instance.record, id: 'rother0', token: 'other' };
  await storage.instances.insert(other);
  await storage.webhooks.save({ ...webhook, id: 'rhook0', instanceId: other.id }, 1);
  await storage.vault.write(other.id, 1, { credentials: '{}', keys: [{ type: 'session', id: '1', value: 'v' }] });
  await storage.vault.discard(other.id, 1, 'setAside', 'gone');
  await storage.vault.write(other.id, 1, { credentials: '{}', keys: [{ type: 'session', id: '1', value: 'v' }] });
  await storage.journal.commit({ id: other.id, owner, epoch: 1 }, [arrived({ ...sample, chatId: sampleChat.chatId })], () => [
    'rhook0',
    'rother',
  ]);
  const tables = ['credential', 'signal_key', 'retired_credential', 'message', 'chat', 'webhook', 'outbox'];
  const counts = async (id: string) => {
    const sums = tables.map((table) => `(select count(*)::int from ${table} where instance_id = $1) as ${table}`);
    return (await database.admin.rows<Record<string, number>>({ name: '', text: `select ${sums.join(', ')}` }, [id]))[0] ?? {};
  };
  assert.ok(Object.values(await counts(other.id)).every((rows) => rows > 0));
  const before = await counts(of.id);
  await storage.instances.remove(other.id, 1);
  await removeRows(storage.removals);
  assert.ok(Object.values(await counts(other.id)).every((rows) => rows === 0));
  assert.deepEqual(await counts(of.id), before);
});

test('journal: texts that are too long for an index never block the entries behind them', async () => {
  // The text is random, so that the server cannot compress it.
  const long = (end = ''): string => randomBytes(4_000).toString('hex') + end;
  const longMessage = Object.fromEntries(
    Object.entries(fresh({ text: 'kept' })).map(([name, value]) => [
      name,
      typeof value === 'string' && name !== 'text' && name !== 'id' ? long() : value,
    ]),
  ) as unknown as Message;
  const person = long('@s.whatsapp.net');
  await bench.commit(arrived({ ...longMessage, status: 'Delivered' }));
  await bench.commit({
    kind: 'chat',
    chat: { chatId: person, chatLid: long('@lid'), name: long(), contactName: long(), pushName: long(), extra: { lead_tags: [long()] } },
    create: true,
  });
  await bench.commit({ kind: 'chat', chat: { chatId: '551100000009@s.whatsapp.net', contactName: long() }, create: true });
  for (const entry of [
    {
      kind: 'status',
      messageIds: [longMessage.messageId],
      chatId: person,
      status: 'Read',
      sender: long(),
      senderPn: long(),
      senderLid: long(),
      fromMe: true,
      at: now,
    },
    { kind: 'optOut', chatId: person, at: now },
  ] as unknown as Entry[])
    await bench.commit(entry);
});
