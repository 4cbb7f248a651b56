/** Tests that the cost of a query does not grow with the data of other instances. Every plan uses an index that begins with the instance. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { campaignStatements, optOutStatements, recipientsStatement } from '#src/storage/stores/campaigns.ts';
import { chatStatements, findStatements } from '#src/storage/stores/chats.ts';
import { chatbotStatements, chatwootStatements } from '#src/storage/stores/chatbots.ts';
import type { Statement } from '#src/storage/postgres/database.ts';
import { eventTypes } from '#actors/model.ts';
import {
  contactStatements,
  definitionStatements,
  groupStatements,
  pictureStatements,
  recipientStatements,
} from '#src/storage/stores/people.ts';
import { expiryStatements } from '#src/storage/stores/expiry.ts';
import { fileStatements } from '#src/storage/stores/files.ts';
import { findStatement, messageStatements, receiptStatement, sendKeyStatements } from '#src/storage/stores/messages.ts';
import { deliveryStatements, listStatement } from '#src/storage/stores/deliveries.ts';
import { archivedStatements } from '#src/storage/journal/archived-rows.ts';
import { journalStatements } from '#src/storage/journal/journal.ts';
import { outboxStatements } from '#src/storage/stores/outbox.ts';
import { removalStatements } from '#src/storage/stores/removals.ts';
import { tallyStatements } from '#src/storage/journal/tallies.ts';
import { gatheredStatements } from '#src/storage/vault/gathered-writes.ts';
import { stanzaStatements, vaultStatements } from '#src/storage/vault/vault.ts';
import { instance, message, webhook } from '#test/contract/samples.ts';
import { putCampaign } from '#test/support/campaign-rows.ts';
import { testDatabase } from '#test/support/database.ts';
import { nodesOf, planOf, type Plan } from '#test/support/plans.ts';

const database = await testDatabase();
const storage = await database.storage();
const run = (text: string) => database.admin.rows({ name: '', text }, []);

const instances = 30;
for (let at = 0; at < instances; at++) {
  await storage.instances.insert({ ...instance.record, id: `r${at}`, token: `t${at}` });
  await storage.webhooks.save({ ...webhook, id: `w${at}`, instanceId: `r${at}` }, 1);
}

await storage.journal.commit(
  { id: 'r0', owner: '', epoch: 1 },
  [{ kind: 'message', message, chat: { chatId: 'c0' }, unread: true }],
  () => ['w0'],
);
const own = { ...message, messageId: 'own', chatId: 'c0', isGroup: true, fromMe: true };
const receiver = { sender: 'p@lid', senderPn: '', senderLid: 'p@lid', fromMe: false, at: 1 };
await storage.journal.commit(
  { id: 'r0', owner: '', epoch: 1 },
  [
    { kind: 'message', message: own, chat: { chatId: 'c0' }, unread: false },
    { kind: 'status', messageIds: ['own'], chatId: 'c0', status: 'Read', ...receiver },
  ],
  () => [],
);
await storage.vault.write('r0', 1, { credentials: '{}', keys: [{ type: 'session', id: 's', value: 'v' }] });
await storage.vault.log('r0', 1, [{ seq: 1_000_000, stanza: Buffer.of(1) }]);

/** Copies the one row of a table for all instances. `i` is the number of the instance, `n` that of the row. */
const spread = async (table: string, keys: Readonly<Record<string, string>>, rows: number): Promise<void> => {
  const names = await run(
    `select column_name as name from information_schema.columns where table_schema = 'public' and table_name = '${table}'`,
  );
  const copied = names.map(({ name }) => String(name)).filter((name) => !(name in keys) && name !== 'instance_id' && name !== 'seq');
  const columns = [...Object.keys(keys), ...copied].map((name) => `"${name}"`).join(', ');
  const values = [...Object.values(keys), ...copied.map((name) => `one."${name}"`)].join(', ');
  await run(`insert into ${table} (instance_id, ${columns}) select 'r' || i, ${values}
    from (select * from ${table} limit 1) as one, generate_series(0, ${instances - 1}) as i, generate_series(1, ${rows}) as n`);
};
const someone = { id: 'p@lid', pn: '', lid: 'p@lid', isAdmin: false, isSuperAdmin: false };
const group = { id: 'g', owner: { id: '', pn: '', lid: '' }, createdAt: null, members: [someone] };
await storage.journal.commit({ id: 'r0', owner: '', epoch: 1 }, [{ kind: 'group', group }], () => []);
await storage.journal.commit(
  { id: 'r0', owner: '', epoch: 1 },
  [{ kind: 'news', lane: '', news: { type: 'labels', label: { id: '7', name: 'New', color: 3, deleted: false } } }],
  () => [],
);
await spread('definition', { id: `'d' || n` }, 300);
await storage.journal.commit(
  { id: 'r0', owner: '', epoch: 1 },
  [{ kind: 'chat', chat: { chatId: '1@lid', contactName: 'Ana' }, create: false }],
  () => [],
);
await spread('contact', { contact_id: `'k' || n`, name: `case when mod(n, 3) = 0 then 'Name ' || n else '' end` }, 300);
await spread('chat_group', { group_id: `'g' || n`, name: `'g' || n` }, 300);
await run(`update chat_group set member_hashes = array[hashtextextended(instance_id || ' ' || group_id, 0)]`);
const queued = `case when mod(n, 100) = 0 then 'Queued' else '' end`;
await spread(
  'message',
  { message_id: `'m' || n`, chat_id: `'c' || mod(n, 20)`, timestamp: 'n', status: queued, unread: 'mod(n, 50) = 0' },
  700,
);
await run(`update message set post = jsonb_build_object('serverId', seq) where mod(seq, 10) = 0`);
await spread('receipt', { message_id: `'m' || n`, member: `'p' || n` }, 300);
await spread('chat', { chat_id: `'c' || n`, last_message_timestamp: 'n' }, 300);
await storage.journal.commit(
  { id: 'r0', owner: '', epoch: 1 },
  [{ kind: 'sendKey', key: { hash: 'h', request: '', messageId: 'm', at: 1, answer: null } }],
  () => [],
);
await spread('send_key', { hash: `'h' || n` }, 300);
await spread('signal_key', { id: `'k' || n` }, 300);
await spread('inbound', { seq: 'n' }, 300);
await storage.fileRows.add({
  name: 'f',
  instanceId: 'r0',
  hash: 'h',
  size: 1,
  mimetype: '',
  filename: '',
  messageId: '',
  madeOf: '',
  created: 1,
  used: 1,
});
await spread('file', { name: `i || '-' || n`, hash: `md5(n::text)`, message_id: `'m' || n`, made_of: `'o' || n`, used: 'n' }, 300);
await spread(
  'outbox',
  { webhook_id: `'w' || i`, event_id: 'n::text', lane: 'n::text', not_before: 'case when mod(n, 2) = 0 then n else 0 end' },
  200,
);
await storage.outbox.archive(
  (await storage.outbox.due('w1', 'r1', 0, { rows: 1, bytes: 1e6 })).rows.map(({ seq, instanceId }) => ({
    seq,
    instanceId,
    epoch: 1,
    dead: false,
    attempts: 1,
    status: 200,
    error: '',
    endedAt: 1,
  })),
);
await storage.chatwootRows.saveChat({ instanceId: 'r0', epoch: 1 }, 'x', {
  chatId: 'c',
  contactId: 1,
  sourceId: '',
  conversationId: 1,
  name: '',
  image: '',
});
await storage.chatwootRows.saveMessage({ instanceId: 'r0', epoch: 1 }, 'x', { key: 'm', conversationId: 1, id: 1, progress: 0 }, 1);
const news = { kind: 'deleted', accountId: 1, inboxId: 1, conversationId: 1, id: 1, sourceId: '' } as const;
await storage.chatwootRows.addReply({ instanceId: 'r0', epoch: 1 }, 'x', news, 1, 10);
await spread('chatwoot_reply', { id: 'n + 1', conversation_id: 'n' }, 300);
await spread('chatwoot_chat', { chat_id: `'c' || n`, conversation_id: 'n' }, 300);
await spread('chatwoot_message', { key: `'m' || n`, id: 'n', at: 'n' }, 300);
await putCampaign(storage, { instanceId: 'r0', epoch: 1 });
await spread('campaign', { id: `'c' || n` }, 20);
await spread('campaign_recipient', { campaign_id: `'c' || mod(n, 20)`, position: 'n' }, 300);
await spread('opt_out', { chat_id: `'c' || n` }, 300);
await spread('archive', { webhook_id: `'w' || i`, seq: 'n', at: 'n', dead: 'mod(n, 4) = 0' }, 200);

/** Large tables of the test. The others are so small that a scan is the best plan. */
const large = new Set([
  'contact',
  'message',
  'receipt',
  'chat',
  'definition',
  'chat_group',
  'send_key',
  'signal_key',
  'inbound',
  'outbox',
  'archive',
  'file',
  'campaign_recipient',
  'opt_out',
  'chatwoot_chat',
  'chatwoot_message',
  'chatwoot_reply',
]);

/** Returns the number of outbox and archive rows that a statement reads. Its changes are rolled back. */
const rowsRead = async (statement: Statement, values: readonly (string | number | boolean | readonly string[])[]): Promise<number> => {
  const literal = (value: unknown): string =>
    Array.isArray(value) ? `array[${value.map(literal).join(', ')}]` : typeof value === 'string' ? `'${value}'` : String(value);
  let sum = 0;
  await database.admin
    .transaction(async (runner) => {
      await runner.rows({ name: '', text: `prepare counted as ${statement.text}` }, []);
      const text = `explain (analyze, format json) execute counted${values.length > 0 ? `(${values.map(literal).join(', ')})` : ''}`;
      const [row] = await runner.rows<Plan>({ name: '', text }, []);
      await runner.rows({ name: '', text: 'deallocate counted' }, []);
      for (const node of nodesOf(row!['QUERY PLAN'][0]!.Plan)) {
        if (!/^(outbox|archive)$/.test(node['Relation Name'] ?? '') || !node['Node Type'].includes('Scan')) continue;
        sum += ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 1);
      }
      throw new Error('taken back');
    })
    .catch((error: Error) => assert.equal(error.message, 'taken back'));
  return Math.floor(sum); // The plan has rounded averages over several loops.
};

const checkPlan = async (statement: Statement): Promise<void> => {
  for (const node of await planOf(database.admin, statement)) {
    const table = node['Relation Name'] ?? '';
    assert.ok(node['Node Type'] !== 'Seq Scan' || !large.has(table), `${statement.name} reads all of ${table}`);
    if (!large.has(table) || !node['Node Type'].includes('Index') || node['Index Name'] === undefined) continue;
    assert.match(
      node['Index Cond'] ?? '',
      /instance_id|seq|id = |name = |hash|used/,
      `${statement.name} reads all of ${node['Index Name']}`,
    );
  }
};

const filters = [
  { field: 'name', operator: '~', value: 'x' },
  { field: 'lead_name', operator: '=', value: 'x' },
] as const;
const statements: readonly Statement[] = [
  ...[
    [],
    ['id'],
    ['chatId'],
    ['trackId'],
    ['trackSource'],
    ['id', 'chatId'],
    ['otherKind'],
    ['chatId', 'otherKind'],
    ['textKind', 'fromMe'],
  ].flatMap((asked) => [false, true].map((isDeep) => findStatement(asked as never, isDeep))),
  ...(['any', 'Delivered', 'Read', 'Played'] as const).map(receiptStatement),
  // The start executes the queueing statement once for all instances. It reads only queued rows.
  ...Object.values(messageStatements).filter((statement) => statement !== messageStatements.queueing),
  sendKeyStatements.find,
  recipientStatements.find,
  pictureStatements.find,
  ...Object.values(chatStatements),
  ...Object.values(chatbotStatements),
  ...Object.values(contactStatements),
  ...Object.values(definitionStatements),
  ...Object.values(groupStatements),
  { ...findStatements({ filters: [], any: false, sort: null, limit: 1, offset: 0 }).page, name: 'chat-find' },
  {
    ...findStatements({ filters, any: true, sort: { field: 'name', descending: true }, limit: 1, offset: 0 }).page,
    name: 'chat-find-filtered',
  },
  { ...findStatements({ filters, any: false, sort: null, limit: 1, offset: 0 }).count, name: 'chat-count' },
  ...['wa_unreadCount', 'wa_archived', 'wa_label', 'lead_status'].flatMap((field) => {
    const { page, count } = findStatements({
      filters: [{ field, operator: '=', value: '1' }],
      any: false,
      sort: null,
      limit: 1,
      offset: 0,
    });
    return [
      { ...page, name: `chat-find by ${field}` },
      { ...count, name: `chat-count by ${field}` },
    ];
  }),
  ...Object.values(outboxStatements),
  ...([null, 'waiting', 'parked', 'dead', 'delivered'] as const).map(listStatement),
  // The query for the oldest delivery of all instances reads the first row of an index.
  ...Object.values(deliveryStatements).filter((statement) => statement !== deliveryStatements.oldest),
  // Removals of all instances, active campaigns and finished campaigns have indexes of their own.
  ...Object.values(removalStatements).filter((statement) => statement !== removalStatements.pending),
  ...Object.values(campaignStatements).filter(
    (one) => one !== campaignStatements.working && one !== campaignStatements.expire && one !== campaignStatements.expirePaused,
  ),
  ...[true, false].map(recipientsStatement),
  ...Object.values(optOutStatements),
  ...Object.values(journalStatements),
  ...Object.values(archivedStatements),
  ...Object.values(vaultStatements),
  ...Object.values(gatheredStatements),
  ...Object.values(stanzaStatements),
  ...Object.values(fileStatements),
  // Old rows are found by their age. Messages of Chatwoot agents are read for all instances at once.
  ...Object.values(chatwootStatements).filter((one) => one !== chatwootStatements.expire && one !== chatwootStatements.replying),
  expiryStatements.messages,
];

for (const [when, prepare] of [
  ['without statistics', () => run('select 1')],
  ['with statistics', () => run('analyze')],
] as const) {
  test(`plans: ${when}, no statement reads the rows of other instances`, async () => {
    await prepare();
    for (const statement of statements) await checkPlan(statement);
  });
}

test('plans: the newest messages are read in the order of an index, up to the end of the page', async () => {
  for (const asked of [[], ['chatId'], ['fromMe'], ['textKind'], ['otherKind']] as const) {
    const nodes = await planOf(database.admin, findStatement(asked));
    const scans = nodes.filter((node) => node['Relation Name'] === 'message');
    const limited = nodes.filter((node) => node['Node Type'] === 'Limit').flatMap(({ Plans }) => Plans ?? []);
    assert.ok(
      scans.every((scan) => scan['Node Type'] === 'Index Scan' && limited.includes(scan)),
      nodes.map((node) => node['Node Type']).join(', '),
    );
  }
});

test('plans: chats with tags, chats with a timer and blocked chats are found by their own indexes', async () => {
  for (const [statement, index] of [
    [chatStatements.tagged, 'chat_by_lead_tag'],
    [chatStatements.timers, 'chat_by_timer'],
    [journalStatements.blocked, 'chat_blocked'],
  ] as const)
    assert.ok(
      (await planOf(database.admin, statement)).some((node) => node['Index Name'] === index),
      statement.name,
    );
});

const everyType: readonly string[] = eventTypes;
/** Statements and the largest number of rows that they read. Each webhook has 100 waiting deliveries, 100 parked ones and 200 past ones. */
const bounded: readonly (readonly [what: string, Statement, Parameters<typeof rowsRead>[1], most: number])[] = [
  ['the start asks for the pairs that wait: one row for each', outboxStatements.waitingPairs, ['', '', 500], instances],
  ['the start asks for the pairs that are parked: one row for each', outboxStatements.parkedPairs, ['', '', 500], instances],
  [
    'a page of a courier: no more than the page, as many that are due again, and one parked row',
    outboxStatements.due,
    ['w3', 'r3', 1e12, 10, 1e9],
    24,
  ],
  ['a page of a courier: one row of what is parked for later', outboxStatements.due, ['w3', 'r3', 1, 10, 1e9], 12],
  ['a courier asks for held lanes: one row for each', outboxStatements.heldLanes, ['w3', 'r3', 1, 10], 100],
  ['a list: what the page may need of each type', listStatement('waiting'), [['w3'], 5, 0, 0, 9e15], 10],
  ['one delivery: the deliveries of its webhook', deliveryStatements.find, [['w3'], 'unknown'], 400],
  ['tallies: nothing', tallyStatements.all, [], 0],
  ['tallies of one webhook: nothing', tallyStatements.of, [['w3']], 0],
];
for (const [what, statement, values, most] of bounded)
  test(`plans: ${what}`, async () => {
    const read = await rowsRead(statement, values);
    assert.ok(read <= most, `${read} rows were read, ${most} are enough`);
  });

test('plans: rows that are dropped, expired or removed are read in pieces', async () => {
  await run(`insert into outbox (webhook_id, instance_id, event_id, type, message_type, lane, body, attempts, at, not_before)
    select 'w4', 'r4', n::text, 'presence', '', '', '', 0, n, 0 from generate_series(1, 9000) as n`);
  await run(`insert into archive (webhook_id, dead, at, seq, instance_id, event_id, type, message_type, lane, body, attempts, status, error, ended_at)
    select 'w4', false, n, 1000000 + n, 'r4', '', 'presence', '', '', '', 1, 200, '', n from generate_series(1, 9000) as n`);
  await run('analyze');
  // A row is read once by the search and once by the deletion.
  const most = 2 * 2000 + 300;
  for (const [statement, values] of [
    [deliveryStatements.trim, ['w4', everyType, 9000, 0, 0, 2000]],
    [deliveryStatements.forget, ['w4', false, 9000, 0, 2000]],
    [removalStatements.outbox, ['w4', 2000]],
    [removalStatements.archive, ['w4', 2000]],
    [removalStatements.sharedOutbox, ['w4', 'r4', 2000]],
    [removalStatements.sharedArchive, ['w4', 'r4', 2000, false, 0, 0]],
  ] as const) {
    const read = await rowsRead(statement, values);
    assert.ok(read > 2000 && read <= most, `${statement.name} read ${read} rows`);
  }
});
