/** Tests that a page of chats costs only the page. Counts stay cached during commits, and of 100,000 chats only the page is read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChatPatch, ChatStats, Entry, Message } from '#actors/model.ts';
import type { ChatFilter, ChatQuery } from '#actors/ports.ts';
import { chatStatsStatement, ChatCounts, countChats, statsOfRow, type CountedRow } from '#src/storage/journal/chat-counts.ts';
import { createJournal } from '#src/storage/journal/journal.ts';
import { openDatabase, type Database } from '#src/storage/postgres/database.ts';
import { findStatements, createChatStore } from '#src/storage/stores/chats.ts';
import { findStatement } from '#src/storage/stores/messages.ts';
import { emptyChat } from '#src/contract/views.ts';
import { instance, message as sample, owner } from '#test/contract/samples.ts';
import { quietLog, testDatabase } from '#test/support/database.ts';

const used = await testDatabase();
const storage = await used.storage();
for (const id of ['rsmall', 'rlarge']) await storage.instances.insert({ ...instance.record, id, token: id });
const database = await openDatabase({ url: used.url, log: quietLog, poolSize: 2 });

// All rows are stored before the first test is declared, because the runner may end between two tests while a file still waits.
const [manyChats, manyMessages] = [100_000, 10_000];
const columns = async (table: string, without: readonly string[]): Promise<string> => {
  const text = `select column_name as name from information_schema.columns where table_schema = 'public' and table_name = $1`;
  const names = (await used.admin.rows<{ name: string }>({ name: '', text }, [table])).map(({ name }) => name);
  return names.filter((name) => !without.includes(name)).join(', ');
};
const copy = async (table: string, count: number, values: Readonly<Record<string, string>>): Promise<void> => {
  const copied = await columns(table, [...Object.keys(values), 'seq']);
  const text = `insert into ${table} (${Object.keys(values).join(', ')}, ${copied}) select ${Object.values(values).join(', ')}, ${copied}
    from (select * from ${table} limit 1) as one, generate_series(1, ${count}) as n`;
  await used.admin.rows({ name: '', text }, []);
};
const lid = `1@lid`;
const phone = '5511000000001';
const first: Message = { ...sample, chatId: `${phone}@s.whatsapp.net`, messageId: 'M' };
const large = { id: 'rlarge', owner, epoch: 1 };
await storage.journal.commit(
  large,
  [{ kind: 'message', message: first, chat: { chatId: first.chatId, chatLid: lid }, unread: true }],
  () => [],
);
await copy('chat', manyChats, {
  chat_id: `(5511000000001 + n) || '@s.whatsapp.net'`,
  chat_lid: `n + 1 || '@lid'`,
  last_message_timestamp: 'n',
});
await copy('message', manyMessages, {
  message_id: `'m' || n`,
  chat_id: `case when n % 2 = 0 then '${lid}' else '${first.chatId}' end`,
  timestamp: 'n',
});
await used.admin.rows({ name: '', text: 'analyze' }, []);

/** The statements of the stores, by the counted or read data. */
let statements: string[] = [];
const watched: Database = {
  ...database,
  rows(statement, values) {
    statements.push(statement === chatStatsStatement || statement.text.startsWith('select count') ? 'count' : 'page');
    return database.rows(statement, values);
  },
};
let now = 0;
let ids = 0;
const counts = new ChatCounts(() => now);
const journal = createJournal(
  database,
  { chatId: () => `r${(ids += 1)}`, eventId: () => `e${(ids += 1)}`, messageId: () => `m${(ids += 1)}` },
  () => now,
  counts,
);
const chats = createChatStore(watched, counts);

const small = { id: 'rsmall', owner, epoch: 1 };
const commit = (...entries: Entry[]) => journal.commit(small, entries, () => []);
const changed = (chat: ChatPatch, create = true): Entry => ({ kind: 'chat', chat, create });
const arrived = (chatId: string): Entry => {
  const message: Message = { ...sample, chatId, messageId: `M${(ids += 1)}` };
  return { kind: 'message', message, chat: { chatId, lastMessageTimestamp: ids }, unread: true };
};
const flag = (field: string, value: boolean): ChatFilter => ({ field, operator: '=', value });
const query = (...filters: ChatFilter[]): ChatQuery => ({ filters, any: false, sort: null, limit: 1, offset: 0 });
/** Returns the result and the statements that it took. */
const asked = async <T>(work: () => Promise<T>): Promise<readonly [T, string]> => {
  statements = [];
  return [await work(), statements.join(' ')];
};
const totalOf = async (...filters: ChatFilter[]) => asked(async () => (await chats.find(small.id, query(...filters))).total);

/** Returns all counts as `total/unread`. */
const told = (stats: ChatStats): Readonly<Record<string, string>> => {
  const all = [...Object.entries(stats.kinds), ...stats.labels, ...stats.attendants];
  return Object.fromEntries(all.filter(([, { total }]) => total > 0).map(([name, { total, unread }]) => [name, `${total}/${unread}`]));
};

const group = (n: number): string => `${n}@g.us`;
const person = (n: number): string => `551100000000${n}@s.whatsapp.net`;

const lead = (attendant: string | null): Entry =>
  changed({ chatId: person(1), extra: { lead_assignedAttendant_id: attendant, lead_name: 'Ana' } });
const label = (chatId: string, labelId: string, labeled: boolean): Entry => ({ kind: 'chatLabel', chatId, labelId, labeled });

const steps: readonly (readonly [title: string, entries: readonly Entry[], stats: Readonly<Record<string, string>>])[] = [
  ['new chats', [changed({ chatId: group(1) }), changed({ chatId: person(1) })], { all: '2/0', open: '2/0', groups: '1/0' }],
  ['unread messages', [arrived(person(1)), arrived(person(1)), arrived(person(2))], { all: '3/2', open: '3/2', groups: '1/0' }],
  ['a chat that is read', [{ kind: 'chatRead', chatId: person(1) }], { all: '3/1', open: '3/1', groups: '1/0' }],
  [
    'marks',
    [changed({ chatId: group(1), archived: true }), changed({ chatId: person(2), blocked: true })],
    { all: '3/1', open: '1/0', groups: '1/0', archived: '1/0', blocked: '1/1' },
  ],
  [
    'marks that go again',
    [changed({ chatId: group(1), archived: false }), changed({ chatId: person(2), blocked: false })],
    { all: '3/1', open: '3/1', groups: '1/0' },
  ],
  [
    'labels and attendants',
    [label(person(1), '7', true), label(person(2), '7', true), label(person(2), '8', true), lead('__proto__')],
    { all: '3/1', open: '3/1', groups: '1/0', [`${owner}:7`]: '2/1', [`${owner}:8`]: '1/1', ['__proto__']: '1/0' },
  ],
  [
    'labels and attendants that go again',
    [label(person(2), '8', false), label(person(1), '7', false), lead(null)],
    { all: '3/1', open: '3/1', groups: '1/0', [`${owner}:7`]: '1/1' },
  ],
];

test('chat counts: they follow every commit, and the database counts once', async () => {
  await chats.stats(small.id);
  for (const [title, entries, expected] of steps) {
    await commit(...entries);
    const [stats, took] = await asked(() => chats.stats(small.id));
    assert.deepEqual([told(stats), took], [expected, ''], title);
    const [counted] = await used.admin.rows<CountedRow>(chatStatsStatement, [small.id]);
    assert.deepEqual(told(statsOfRow(counted!)), expected, `${title}, by the database`);
  }
});

test('chat counts: a page without filters runs only the statement of the page', async () => {
  assert.deepEqual(await totalOf(), [3, 'page']);
});

test('chat counts: the total of a filter is kept until a commit changes its field, or adds a chat', async () => {
  const archived = flag('wa_archived', false);
  assert.deepEqual(await totalOf(archived), [3, 'page count']);
  assert.deepEqual(await totalOf(archived), [3, 'page']);
  assert.deepEqual(await totalOf(flag('wa_archived', true)), [0, 'page'], 'a first page that is not full');
  await commit(arrived(person(1)));
  assert.deepEqual(await totalOf(archived), [3, 'page'], 'a message changes no mark');
  await commit(changed({ chatId: person(1), archived: true }));
  assert.deepEqual(await totalOf(archived), [2, 'page count']);
  await commit(changed({ chatId: person(5) }));
  assert.deepEqual(await totalOf(archived), [3, 'page count']);
  const leads: ChatFilter = { field: 'lead_status', operator: '!=', value: 'won' };
  assert.deepEqual(await totalOf(leads), [4, 'page count']);
  await commit(changed({ chatId: person(1), extra: { lead_name: 'Ana' } }));
  assert.deepEqual(await totalOf(leads), [4, 'page']);
  await commit(changed({ chatId: person(1), extra: { lead_status: 'won' } }));
  assert.deepEqual(await totalOf(leads), [3, 'page count']);
  assert.deepEqual(await totalOf({ field: 'owner', operator: '=', value: owner }), [4, 'page count']);
  assert.deepEqual(await totalOf({ field: 'owner', operator: '=', value: owner }), [4, 'page count'], 'the owner is no field of a chat');
});

test('chat counts: a commit while the database counts is not lost', async () => {
  const fresh = new ChatCounts(() => now);
  const nine = { total: 9, unread: 0 };
  const before = { ...countChats([]), kinds: { ...countChats([]).kinds, all: nine } };
  const outcome = { before: null, after: { ...emptyChat, unreadCount: 1 }, changes: {}, unreadAdded: 0 };
  const counting = Promise.withResolvers<typeof before>();
  const first = fresh.stats('r', () => counting.promise);
  const total = fresh.total('r', 'key', ['archived'], async () => (await counting.promise).kinds.all.total);
  fresh.note('r', [outcome], fresh.counted);
  counting.resolve(before);
  assert.deepEqual([(await first).kinds.all.total, await total], [9, 9]);
  assert.equal((await fresh.stats('r', async () => countChats([emptyChat]))).kinds.all.total, 1, 'counted again');
  assert.equal(await fresh.total('r', 'key', ['archived'], async () => 10), 10, 'counted again');
});

test('chat counts: a commit that the database counted before its answer arrived is counted once', async () => {
  const fresh = new ChatCounts(() => now);
  const added = { before: null, after: emptyChat, changes: {}, unreadAdded: 0 };
  const totalOf = async (stored: number): Promise<number> =>
    (await fresh.stats('r', async () => countChats(Array.from({ length: stored }, () => emptyChat)))).kinds.all.total;
  const begun = fresh.counted;
  assert.equal(await totalOf(1), 1, 'the chat is stored, and the commit is not noted yet');
  fresh.note('r', [added], begun);
  assert.equal(await totalOf(1), 1);
  fresh.note('r', [added], fresh.counted);
  assert.equal(await totalOf(0), 2, 'a later commit is added without another query');
});

test('chat counts: they are counted again after a minute, and after a failed write', async () => {
  const once = async () => (await asked(() => chats.stats(small.id)))[1];
  assert.equal(await once(), '');
  now += 60_000;
  assert.deepEqual([await once(), await once()], ['count', '']);
  await assert.rejects(journal.commit({ ...small, epoch: 7 }, [arrived(person(1))], () => []));
  assert.equal(await once(), 'count');
});

interface Node {
  readonly 'Relation Name'?: string;
  /** The estimated size of a row. In bytes. */
  readonly 'Plan Width': number;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Node[];
}
const nodesOf = (node: Node): readonly Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

const isCounted = (node: Node): boolean => node['Relation Name'] === 'chat' || node['Relation Name'] === 'message';

/** Returns the number of rows that the counted nodes of a statement read, including filtered ones. */
const rowsRead = async (text: string, values: readonly unknown[], counts = isCounted): Promise<number> => {
  type Plan = { readonly 'QUERY PLAN': readonly { readonly Plan: Node }[] };
  const [row] = await database.rows<Plan>({ name: '', text: `explain (analyze, format json) ${text}` }, values);
  return nodesOf(row!['QUERY PLAN'][0]!.Plan)
    .filter(counts)
    .reduce((sum, node) => sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'], 0);
};

const pages: readonly (readonly [title: string, filters: readonly ChatFilter[]])[] = [
  ['without filters', []],
  ['of chats that are not archived', [flag('wa_archived', false)]],
  ['of one chat by its LID', [{ field: 'wa_chatid', operator: '~', value: '77777@lid' }]],
  ['of one chat by a device of it', [{ field: 'wa_chatid', operator: '=', value: '5511000077777:3@s.whatsapp.net' }]],
];
for (const [title, filters] of pages)
  test(`chat pages: a page ${title} of ${manyChats} chats reads no more than the page`, async () => {
    const { page, values } = findStatements({ ...query(...filters), limit: 20 });
    const read = await rowsRead(page.text, [large.id, 20, 0, ...values]);
    assert.ok(read > 0 && read <= 20, `${read} rows`);
  });

for (const name of [first.chatId, lid])
  test(`message pages: a page of a chat with ${manyMessages} messages under two addresses, named ${name}, reads a page of each`, async () => {
    const { text } = findStatement(['chatId']);
    const read = await rowsRead(text, [large.id, 20, 0, [name]]);
    assert.ok(read >= 40 && read <= 44, `${read} rows`);
    const { messages } = await storage.messages.find(large.id, { chatId: name, limit: 3, offset: 10 });
    assert.deepEqual(
      messages.map(({ messageId }) => messageId),
      ['m9991', 'm9990', 'm9989'],
    );
  });

test(`message pages: a deep page of a chat with ${manyMessages} messages reads whole messages of the page only`, async () => {
  const whole = (node: Node): boolean => node['Relation Name'] === 'message' && node['Plan Width'] > 100;
  const read = await rowsRead(findStatement(['chatId'], true).text, [large.id, 20, 5_000, [lid]], whole);
  assert.equal(read, 20);
  const { messages } = await storage.messages.find(large.id, { chatId: lid, limit: 3, offset: 5_000 });
  assert.deepEqual(
    messages.map(({ messageId }) => messageId),
    ['m5001', 'm5000', 'm4999'],
  );
});
