/** Tests the integrators' fields of a chat: they are stored, searched, reported in an event, and counted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Json, type Row, tryRows } from '#test/support/operation-rows.ts';
import { contact } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

const chatId = `${contact}@s.whatsapp.net`;

const rows: readonly Row[] = [
  {
    title: 'sets fields of a lead by its number',
    call: 'POST /chat/editLead',
    body: () => ({ id: contact, lead_name: 'Ana', lead_status: 'won', lead_tags: ['vip', ' late ', 'vip', ''], lead_kanbanOrder: 7 }),
    answer: () => ({ wa_chatid: chatId, lead_name: 'Ana', lead_status: 'won', lead_tags: ['vip', 'late'], lead_kanbanOrder: 7 }),
    event: () => ['chats', { wa_chatid: chatId, lead_name: 'Ana', lead_tags: ['vip', 'late'] }],
  },
  {
    title: 'keeps other fields and clears empty ones',
    call: 'POST /chat/editLead',
    body: () => ({ id: chatId, lead_name: '', lead_isTicketOpen: true, lead_assignedAttendant_id: 'att_1', lead_field20: 'last' }),
    answer: () => ({ lead_name: '', lead_status: 'won', lead_isTicketOpen: true, lead_field20: 'last', lead_tags: ['vip', 'late'] }),
    event: () => ['chats', { wa_chatid: chatId, lead_name: '', lead_assignedAttendant_id: 'att_1' }],
  },
  {
    title: 'sets the time until which the chatbot ignores the chat',
    call: 'POST /chat/editLead',
    body: () => ({ id: chatId, chatbot_disableUntil: 1_735_686_000 }),
    answer: () => ({ chatbot_disableUntil: 1_735_686_000, lead_status: 'won' }),
  },
  {
    title: 'refuses an unknown chat',
    call: 'POST /chat/editLead',
    body: () => ({ id: '5511000000000', lead_name: 'Nobody' }),
    status: 404,
    answer: () => ({ error: 'Chat not found' }),
  },
  {
    title: 'refuses a request without a chat',
    call: 'POST /chat/editLead',
    body: () => ({ lead_name: 'Nobody' }),
    status: 400,
    answer: () => ({ error: 'id is required' }),
  },
  {
    title: 'refuses a field of another type',
    call: 'POST /chat/editLead',
    body: () => ({ id: chatId, lead_kanbanOrder: 'first' }),
    status: 400,
    answer: () => ({ error: 'lead_kanbanOrder must be a whole number' }),
  },
  {
    title: 'sets names of the free fields',
    call: 'POST /instance/updateFieldsMap',
    body: () => ({ lead_field01: 'Birthday', lead_field02: 'City' }),
    answer: () => ({ fieldsMap: { lead_field01: 'Birthday', lead_field02: 'City' } }),
  },
  {
    title: 'removes one name and keeps another',
    call: 'POST /instance/updateFieldsMap',
    body: () => ({ lead_field01: '', lead_field21: 'no such field' }),
    answer: () => ({ fieldsMap: { lead_field02: 'City' } }),
  },
];

const bench = tryRows(rows);

const find = async (body: Json): Promise<Json> => (await bench.account.call('POST', '/chat/find', body)).body;

test('leads: chats are found and counted by their lead fields, in a compact form on request', async () => {
  for (const filter of [{ lead_tag: 'vip' }, { lead_status: '=won' }, { lead_tags: '~at' }, { lead_kanbanOrder: '>6' }]) {
    const { chats } = await find({ ...filter, compact: true });
    const [found] = chats as readonly Json[];
    assert.deepEqual([found?.['wa_chatid'], found?.['lead_field20']], [chatId, undefined], JSON.stringify(filter));
  }
  for (const filter of [{ lead_tag: 'vi' }, { lead_tag: '~vip' }, { lead_status: '=wo' }])
    assert.deepEqual((await find(filter))['chats'], [], JSON.stringify(filter));
  const { totalChatsStats, pagination } = await find({ compact: true, limit: 5000 });
  assert.equal((pagination as Json)['limit'], 200);
  const { body } = await bench.account.call('GET', '/chat/totalcount');
  assert.deepEqual(totalChatsStats, body);
  const attended = body['attendant_counts'] as readonly Json[];
  assert.deepEqual([attended.length, attended[0]?.['attendant_id'], attended[0]?.['total']], [1, 'att_1', 1]);
});

test('leads: every view of the instance has the names of the free fields', async () => {
  const { body } = await bench.account.call('GET', '/instance/status');
  assert.deepEqual((body['instance'] as Json)['fieldsMap'], { lead_field02: 'City' });
});

test('leads: names of free fields that are set simultaneously are all kept', async () => {
  const names = Array.from({ length: 12 }, (_, n) => [`lead_field${String(n + 3).padStart(2, '0')}`, `Name ${n}`] as const);
  await Promise.all(names.map(([field, name]) => bench.account.call('POST', '/instance/updateFieldsMap', { [field]: name })));
  const { body } = await bench.account.call('GET', '/instance/status');
  assert.deepEqual((body['instance'] as Json)['fieldsMap'], { lead_field02: 'City', ...Object.fromEntries(names) });
});

const tags = async (edit: Json): Promise<{ readonly status: number; readonly body: Json; readonly names: readonly unknown[] }> => {
  const { status, body } = await bench.account.call('POST', '/lead/tags/edit', edit);
  return { status, body, names: ((body['tags'] ?? []) as readonly Json[]).map(({ name }) => name) };
};

test('lead tags: a tag is created, changed and deleted, and the list begins with the columns of the board', async () => {
  assert.deepEqual((await tags({ name: 'plain' })).names, ['plain']);
  assert.deepEqual((await tags({ name: ' second ', kanban: true, kanbanOrder: 2 })).names, ['second', 'plain']);
  const made = await tags({ name: 'first', kanban: true, kanbanOrder: 1 });
  assert.deepEqual([made.body['response'], made.names], ['Tag created', ['first', 'second', 'plain']]);
  const { body: listed } = await bench.account.call('GET', '/lead/tags');
  const [first, second] = listed as unknown as readonly Json[];
  assert.deepEqual([first?.['kanban'], first?.['kanbanOrder'], first?.['owner']], [true, 1, bench.account.number]);
  const edited = await tags({ id: second?.['id'], kanbanOrder: 0 });
  assert.deepEqual([edited.body['response'], edited.names], ['Tag edited', ['second', 'first', 'plain']]);
  const gone = await tags({ id: first?.['id'], delete: true });
  assert.deepEqual([gone.body['response'], gone.names], ['Tag deleted', ['second', 'plain']]);
  const refused: readonly (readonly [edit: Json, status: number, error: string])[] = [
    [{}, 400, 'name is required'],
    [{ id: second?.['id'], name: ' ' }, 400, 'name is required'],
    [{ name: 'PLAIN' }, 409, 'there is a tag PLAIN already'],
    [{ id: 'r0', name: 'x' }, 404, 'Tag not found'],
    [{ delete: true }, 404, 'Tag not found'],
    [{ name: 'x'.repeat(101) }, 400, 'name must have at most 100 characters'],
    [{ name: 'x', kanbanOrder: -1 }, 400, 'kanbanOrder must be at least 0'],
  ];
  for (const [edit, status, error] of refused) {
    const answered = await tags(edit);
    assert.deepEqual([answered.status, answered.body['error']], [status, error], JSON.stringify(edit));
  }
});

test('lead tags: a new name of a tag changes in the chats with the tag, with an event for each chat', async () => {
  await tags({ name: 'vip' });
  const { body: listed } = await bench.account.call('GET', '/lead/tags');
  const { id } = (listed as unknown as readonly Json[]).find(({ name }) => name === 'vip') ?? {};
  assert.equal((await tags({ id, name: 'gold' })).status, 200);
  const carrying = async (tag: string): Promise<number> => ((await find({ lead_tag: tag }))['chats'] as readonly Json[]).length;
  assert.deepEqual([await carrying('vip'), await carrying('gold'), await carrying('late')], [0, 1, 1]);
});

test('leads: fields of a lead can be changed without a session', async () => {
  await bench.account.call('POST', '/instance/hibernate');
  await until(
    async () => ((await bench.account.call('GET', '/instance/status')).body['instance'] as Json)['status'] === 'hibernated',
    'sleep',
  );
  const { status, body } = await bench.account.call('POST', '/chat/editLead', { id: contact, lead_notes: 'asleep' });
  assert.deepEqual([status, body['lead_notes']], [200, 'asleep']);
  assert.equal(((await bench.account.call('GET', '/instance/status')).body['instance'] as Json)['status'], 'hibernated');
});
