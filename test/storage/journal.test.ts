/** The journal's rules, as a table on the ledger and once more through the database. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Chat, Entry, Message, MessageStatus, Past } from '#actors/model.ts';
import type { Committed } from '#actors/ports.ts';
import { isProgress } from '#src/storage/journal/ledger.ts';
import { chat as sampleChat, instance, message as sample, owner, webhook } from '#test/contract/samples.ts';
import { removeRows } from '#test/support/removals.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const storage = await database.storage({ now: () => 9_000 });
await storage.instances.insert(instance.record);
await storage.webhooks.save(webhook);
const of = { id: instance.record.id, owner, epoch: 1 };

const chatId = '551100000001@s.whatsapp.net';
let count = 0;
const fresh = (change: Partial<Message> = {}): Message => ({ ...sample, messageId: `M${++count}`, chatId, ...change });
const arrived = (message: Message, more: Partial<Chat> = {}): Entry => ({
  kind: 'message',
  message,
  chat: { chatId: message.chatId, lastMessageText: message.text, lastMessageTimestamp: message.timestamp, ...more },
  unread: !message.fromMe,
});
const queued = (message: Message): Entry => ({ kind: 'queued', message, chat: { chatId: message.chatId } });
const sent = (change: Partial<Message> = {}) => fresh({ fromMe: true, wasSentByApi: true, status: 'Queued', ...change });
const status = (ids: readonly string[], to: MessageStatus, change: object = {}): Entry => ({
  kind: 'status',
  messageIds: ids,
  chatId,
  status: to,
  sender: 'a@lid',
  senderPn: 'a@s.whatsapp.net',
  senderLid: 'a@lid',
  fromMe: false,
  at: 1_000,
  ...change,
});
const commit = (...entries: Entry[]): Promise<Committed> => storage.journal.commit(of, entries, () => [webhook.id]);
const stored = async (messageId: string): Promise<Message | null> => storage.messages.byId(of.id, messageId);
const kinds = (committed: Committed): readonly unknown[] =>
  committed.events.map(({ type, payload }) => (type === 'messages' ? type : `${type} ${String(payload['state'])}`));

const moves: readonly (readonly [MessageStatus, MessageStatus, boolean])[] = [
  ['', 'Sent', true],
  ['Queued', 'Sent', true],
  ['Queued', 'Failed', true],
  ['Queued', 'Canceled', true],
  ['Sent', 'Failed', false],
  ['Failed', 'Sent', true],
  ['Failed', 'Failed', false],
  ['Sent', 'Queued', false],
  ['Sent', 'Delivered', true],
  ['Queued', 'Read', true],
  ['Read', 'Delivered', false],
  ['Read', 'Read', false],
  ['Read', 'Played', true],
];
for (const [from, to, expected] of moves) {
  test(`journal: a status ${expected ? 'goes' : 'does not go'} from '${from}' to '${to}'`, () =>
    assert.equal(isProgress(from, to), expected));
}

test('journal: a message is stored with its chat, its event and a delivery', async () => {
  const message = fresh({ raw: Uint8Array.of(1, 2, 3), content: { URL: 'u', deep: [1, { a: null }] }, sendPayload: 'text' });
  const committed = await commit(arrived(message, { name: 'Ana', labels: ['7', 'a"b,c'] }));
  assert.deepEqual({ ...(await stored(message.messageId)), raw: null }, { ...message, raw: null });
  assert.deepEqual([...((await stored(message.messageId))?.raw ?? [])], [1, 2, 3]);
  const chat = await storage.chats.get(of.id, chatId);
  assert.match(chat?.id ?? '', /^r[0-9a-f]{14}$/);
  assert.deepEqual([chat?.name, chat?.labels, chat?.unreadCount, chat?.lastMessageText], ['Ana', ['7', 'a"b,c'], 1, 'Oi']);
  const [event] = committed.events;
  assert.deepEqual(
    [event?.type, event?.messageType, event?.lane, event?.message, event?.at, event?.instanceId],
    ['messages', 'ExtendedTextMessage', chatId, { fromMe: false, isGroup: false, wasSentByApi: false }, 9_000, of.id],
  );
  assert.match(event?.id ?? '', /^[0-9a-f-]{36}$/);
  assert.deepEqual(Object.keys(event?.payload ?? {}), ['chatSource', 'chat', 'message']);
  assert.deepEqual((await storage.outbox.due(webhook.id, of.id, 9_000, { rows: 10, bytes: 1e6 })).rows, committed.deliveries);
  assert.deepEqual(JSON.parse(committed.deliveries[0]?.body ?? ''), JSON.parse(JSON.stringify(event?.payload)));
});

test('journal: the same entries again make no event and change nothing', async () => {
  const [own, inbound] = [sent(), fresh()];
  const entries = [
    queued(own),
    arrived(inbound),
    status([own.messageId], 'Sent'),
    status([own.messageId], 'Read'),
    deletion(inbound.messageId),
  ];
  const first = await commit(...entries);
  assert.deepEqual(kinds(first), ['messages', 'messages', 'messages_update Read', 'messages_update Deleted']);
  const before = await storage.chats.get(of.id, chatId);
  assert.deepEqual(await commit(...entries), { events: [], deliveries: [] });
  assert.deepEqual(await storage.chats.get(of.id, chatId), before);
});

const deletion = (messageId: string): Entry => ({ kind: 'deleted', messageId, chatId, sender: 'a@lid', fromMe: false, at: 2_000 });

test('journal: two commits at once of one message make one event', async () => {
  const entry = arrived(fresh());
  const both = await Promise.all([commit(entry), commit(entry)]);
  assert.deepEqual(
    both.map(({ events }) => events.length),
    [1, 0],
  );
});

test('journal: a queued message makes its event when it is sent, and updates after that', async () => {
  const own = sent();
  assert.deepEqual((await commit(queued(own))).events, []);
  assert.equal((await stored(own.messageId))?.status, 'Queued');
  const gone = await commit(status([own.messageId], 'Sent'));
  assert.deepEqual(kinds(gone), ['messages']);
  assert.equal((gone.events[0]?.payload['message'] as Message | undefined)?.status, 'Sent');
  assert.deepEqual(kinds(await commit(status([own.messageId], 'Delivered'))), ['messages_update Delivered']);
  assert.deepEqual(kinds(await commit(status([own.messageId], 'Sent'))), []);
});

test('journal: a delivery that overtakes the ack makes both events, in order', async () => {
  const own = sent();
  await commit(queued(own));
  assert.deepEqual(kinds(await commit(status([own.messageId], 'Delivered'), status([own.messageId], 'Sent'))), [
    'messages',
    'messages_update Delivered',
  ]);
});

test('journal: a failure keeps its error, and a late ack mends it', async () => {
  const own = sent();
  await commit(queued(own));
  const failed = await commit(status([own.messageId], 'Failed', { error: 'no answer' }));
  assert.deepEqual(kinds(failed), ['messages_update Failed']);
  assert.deepEqual([(await stored(own.messageId))?.status, (await stored(own.messageId))?.error], ['Failed', 'no answer']);
  assert.deepEqual(kinds(await commit(status([own.messageId], 'Sent'))), ['messages']);
  assert.deepEqual([(await stored(own.messageId))?.status, (await stored(own.messageId))?.error], ['Sent', '']);
});

test('journal: one receipt of several messages is one event, with those that it moved', async () => {
  const phone = [1, 2, 3].map(() => fresh({ fromMe: true, status: 'Sent' }));
  await commit(...phone.map((message) => arrived(message)), status([phone[0]!.messageId], 'Read'));
  const ids = phone.map(({ messageId }) => messageId);
  const { events } = await commit(status([...ids, 'unknown'], 'Delivered'));
  assert.equal(events.length, 1);
  assert.deepEqual(events[0]?.payload, {
    type: 'ReadReceipt',
    state: 'Delivered',
    event: {
      MessageIDs: ids.slice(1),
      Chat: chatId,
      chatid: chatId,
      Sender: 'a@lid',
      sender_pn: 'a@s.whatsapp.net',
      sender_lid: 'a@lid',
      IsFromMe: false,
      IsGroup: false,
      Timestamp: '1970-01-01T00:00:01.000Z',
      Type: 'delivered',
    },
  });
  assert.deepEqual([events[0]?.message, events[0]?.messageType, events[0]?.lane], [null, '', chatId]);
});

test('journal: a receipt that names the chat by its other address still finds the message', async () => {
  const own = fresh({ fromMe: true, status: 'Sent' });
  await commit(arrived(own));
  const { events } = await commit(status([own.messageId], 'Read', { chatId: '1000@lid' }));
  assert.equal(events[0]?.lane, chatId);
});

const past = (part: Past): Entry => ({ kind: 'history', past: part, number: 2, total: 3 });

test('journal: the past is stored without messages events, and told once, with what is new in it', async () => {
  const [known, message] = [fresh(), fresh({ text: 'from the past' })];
  await commit(arrived(known));
  const entry = past({ of: 'messages', items: [known, message].map((item) => ({ message: item, chat: { chatId } })) });
  const [event, ...more] = (await commit(entry)).events;
  assert.equal(more.length, 0);
  const { messages, ...batch } = event?.payload ?? {};
  assert.deepEqual([event?.type, event?.message, batch], ['history', null, { event: 'messages', batchNumber: 2, batchTotal: 3 }]);
  assert.deepEqual(
    (messages as { messageid: string }[]).map(({ messageid }) => messageid),
    [message.messageId],
  );
  assert.equal((await stored(message.messageId))?.text, 'from the past');
  assert.deepEqual((await commit(entry)).events, []);
});

test('journal: unread messages are counted, and reading a chat marks those before it', async () => {
  const [id, older, read, later] = ['551100000002@s.whatsapp.net', fresh(), fresh(), fresh()];
  const entry = (message: Message) => arrived({ ...message, chatId: id });
  await commit(entry(older));
  await commit(entry(read), { kind: 'chatRead', chatId: id }, entry(later), { kind: 'chatRead', chatId: 'nobody@s.whatsapp.net' });
  assert.equal((await storage.chats.get(of.id, id))?.unreadCount, 1);
  assert.deepEqual(await storage.messages.unread(of.id, id, 10), [{ chatId: id, messageId: later.messageId, sender: later.sender }]);
  await commit({ kind: 'chatRead', chatId: id });
  assert.deepEqual(await storage.messages.unread(of.id, id, 10), []);
});

test('journal: the last message of a chat only moves forward in time', async () => {
  const id = '551100000003@s.whatsapp.net';
  await commit(
    arrived(fresh({ chatId: id, text: 'new', timestamp: 2_000 })),
    arrived(fresh({ chatId: id, text: 'old', timestamp: 1_000 }), { name: 'Eva' }),
  );
  const chat = await storage.chats.get(of.id, id);
  assert.deepEqual([chat?.lastMessageText, chat?.lastMessageTimestamp, chat?.name, chat?.unreadCount], ['new', 2_000, 'Eva', 2]);
});

test('journal: what another writer stored of a chat survives the next commits, and both count what is unread', async () => {
  const id = '551100000004@s.whatsapp.net';
  await commit(arrived(fresh({ chatId: id, text: 'first' })));
  const beside = `update chat set archived = true, unread_count = unread_count + 5, extra = '{"lead_name":"Lima"}' where chat_id = $1`;
  await database.admin.rows({ name: '', text: beside }, [id]);
  await commit(arrived(fresh({ chatId: id, text: 'second' }), { pushName: 'Eva' }));
  await commit({ kind: 'chat', chat: { chatId: id, extra: { lead_email: 'eva@example.com' } }, create: false });
  const chat = await storage.chats.get(of.id, id);
  assert.deepEqual(
    [chat?.archived, chat?.unreadCount, chat?.lastMessageText, chat?.pushName, chat?.extra],
    [true, 7, 'second', 'Eva', { lead_name: 'Lima', lead_email: 'eva@example.com' }],
  );
});

test('journal: a chat that another writer makes meanwhile is changed, not lost', async () => {
  const [id, model] = ['551100000005@s.whatsapp.net', '551100000004@s.whatsapp.net'];
  const ask = (text: string) => ({ name: '', text });
  const columns = `select column_name as name from information_schema.columns where table_name = 'chat' and column_name not in ('chat_id', 'notes')`;
  const copied = (await database.admin.rows<{ name: string }>(ask(columns), [])).map(({ name }) => name).join(', ');
  const { waiting } = await database.admin.transaction(async (runner) => {
    const beside = `insert into chat (chat_id, notes, ${copied}) select $1, 'made beside', ${copied} from chat where chat_id = $2`;
    await runner.rows(ask(beside), [id, model]);
    const committing = commit(arrived(fresh({ chatId: id, text: 'after' })));
    const blocked = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    while ((await runner.rows(ask(blocked), [])).length === 0);
    return { waiting: committing };
  });
  assert.equal((await waiting).events.length, 1);
  const chat = await storage.chats.get(of.id, id);
  assert.deepEqual([chat?.lastMessageText, chat?.notes], ['after', 'made beside']);
});

test('journal: fields of a lead are merged one by one, and null takes one away', async () => {
  const id = '551100000006@s.whatsapp.net';
  const patch = (extra: object): Entry => ({ kind: 'chat', chat: { chatId: id, extra: { ...extra } }, create: true });
  await commit(patch({ lead_name: 'Ana', lead_tags: ['hot'] }));
  await commit(patch({ lead_status: 'won' }), patch({ lead_name: 'Eva', lead_tags: null }));
  assert.deepEqual((await storage.chats.get(of.id, id))?.extra, { lead_name: 'Eva', lead_status: 'won' });
});

test('journal: a patch changes the chat that is there and makes one only when asked to', async () => {
  const id = '123456@g.us';
  await commit({ kind: 'chat', chat: { chatId: id, name: 'Team' }, create: false });
  assert.equal(await storage.chats.get(of.id, id), null);
  await commit({ kind: 'chat', chat: { chatId: id, name: 'Team', archived: true }, create: true });
  await commit({ kind: 'chat', chat: { chatId: id, archived: false }, create: false });
  const chat = await storage.chats.get(of.id, id);
  assert.deepEqual([chat?.name, chat?.archived, chat?.isGroup], ['Team', false, true]);
});

test('journal: an event that is only passed on keeps its keys and its lane', async () => {
  const payload = { event: { State: 'composing' } };
  const { events, deliveries } = await commit({ kind: 'event', type: 'presence', lane: chatId, payload });
  assert.deepEqual([events[0]?.type, events[0]?.payload, events[0]?.message, deliveries.length], ['presence', payload, null, 1]);
});

test('journal: deliveries go to the webhooks that want the event, removed ones left out', async () => {
  const other = { ...webhook, id: 'rother', instanceId: null };
  await storage.webhooks.save(other);
  const { deliveries } = await storage.journal.commit(of, [arrived(fresh()), arrived(fresh())], () => [webhook.id, 'gone', other.id]);
  assert.deepEqual(
    deliveries.map(({ webhookId }) => webhookId),
    [webhook.id, other.id, webhook.id, other.id],
  );
  assert.deepEqual(
    deliveries.map(({ seq }) => seq),
    deliveries.map(({ seq }) => seq).toSorted((a, b) => a - b),
  );
});

test('journal: what a stranger may send never blocks the entries behind it', async () => {
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
  const { events } = await commit(arrived(message, { name: bad, labels: [bad], unreadCount: Number.NaN }), arrived(long));
  assert.equal(events.length, 2);
  const clean = 'half \ufffd pair \ufffd back\\slash {"a",NULL} \\u0000';
  const found = await stored(message.messageId);
  assert.deepEqual(
    [found?.text, found?.content, found?.sendPayload, found?.timestamp],
    [clean, { [clean]: [clean, { bad: clean }] }, clean, 0],
  );
  assert.equal((await stored(long.messageId))?.timestamp, 1);
  assert.deepEqual((await storage.chats.get(of.id, chatId))?.labels, [clean]);
  assert.deepEqual((await commit(arrived(long))).events, []);
});

test('journal: entries of an instance that was removed are let go', async () => {
  const gone = await storage.journal.commit({ id: 'rgone', owner, epoch: 1 }, [arrived(fresh())], () => []);
  assert.deepEqual(gone, { events: [], deliveries: [] });
});

test('journal: a commit that fails leaves nothing behind', async () => {
  const message = fresh();
  const targets = () => {
    throw new Error('no targets');
  };
  await assert.rejects(storage.journal.commit(of, [arrived(message)], targets), /no targets/);
  assert.equal(await stored(message.messageId), null);
  assert.equal((await commit(arrived(message))).events.length, 1);
});

test('journal: removing an instance removes everything of it, and of no other', async () => {
  const other = { ...instance.record, id: 'rother0', token: 'other' };
  await storage.instances.insert(other);
  await storage.webhooks.save({ ...webhook, id: 'rhook0', instanceId: other.id });
  await storage.vault.write(other.id, 1, { credentials: '{}', keys: [{ type: 'session', id: '1', value: 'v' }] });
  await storage.vault.discard(other.id, 1, 'setAside', 'gone');
  await storage.vault.write(other.id, 1, { credentials: '{}', keys: [{ type: 'session', id: '1', value: 'v' }] });
  await storage.journal.commit({ id: other.id, owner, epoch: 1 }, [arrived({ ...sample, chatId: sampleChat.chatId })], () => [
    'rhook0',
    'rother',
  ]);
  const tables = ['credential', 'signal_key', 'retired_credential', 'retired_key', 'message', 'chat', 'webhook', 'outbox'];
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
