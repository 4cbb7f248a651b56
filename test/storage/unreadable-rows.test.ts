/** Tests rows with a damaged secret. They are marked, and all other rows are read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterMemory } from '#actors/cluster/memory.ts';
import type { Log } from '#actors/ports.ts';
import { type Entry, type GroupMember, type InstancePatch, newAgent, noProxy } from '#actors/model.ts';
import { SupervisedWorkers } from '#actors/policy/supervised-workers.ts';
import { chat, group, instance, message, webhook } from '#test/contract/samples.ts';
import { FakeTime } from '#test/fakes/time.ts';
import { testPolicy } from '#test/fakes/world.ts';
import { quietLog, testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const lines: (readonly [string, object])[] = [];
const log: Log = { ...quietLog, error: (fields, event) => void lines.push([event, fields]) };
const storage = await database.storage({ log, now: () => instance.record.updated });

const whole = {
  ...instance.record,
  id: 'r1',
  token: 'token 1',
  aiApikey: 'key 1',
  proxy: { ...noProxy, mode: 'custom', url: 'http://one' },
} as const;
const damaged = { ...whole, id: 'r2', token: 'token 2', aiApikey: 'key 2', created: whole.created + 1 };
for (const record of [whole, damaged]) await storage.instances.insert(record);

/** Changes one byte of an encrypted value. */
const spoil = (table: string, column: string, id: string) =>
  database.admin.rows(
    { name: '', text: `update ${table} set ${column} = set_byte(${column}, 20, get_byte(${column}, 20) # 1) where id = $1` },
    [id],
  );

const member: GroupMember = { id: '1@lid', pn: '', lid: '1@lid', isAdmin: false, isSuperAdmin: false };

const cases: readonly (readonly [column: string, empty: object, repair: InstancePatch])[] = [
  ['token', { token: '' }, { token: damaged.token }],
  ['proxy', { proxy: null }, { proxy: damaged.proxy }],
  ['ai_apikey', { aiApikey: '' }, { aiApikey: damaged.aiApikey }],
];

for (const [column, empty, repair] of cases)
  test(`unreadable rows: an instance with a damaged ${column} is marked until it is written anew, and others are read completely`, async () => {
    lines.length = 0;
    await spoil('instance', column, damaged.id);
    const marked = { ...damaged, ...empty, unreadable: column };
    assert.deepEqual(await storage.instances.all(), [whole, marked]);
    assert.deepEqual(
      (await storage.instances.some([damaged.id, whole.id])).toSorted((a, b) => a.created - b.created),
      [whole, marked],
    );
    assert.deepEqual(await storage.instances.byToken(damaged.token), marked);
    assert.deepEqual(lines, [['storage.unreadable', { id: damaged.id, field: column }]]);
    // A change of another field does not rewrite the encrypted value.
    assert.equal(await storage.instances.update(damaged.id, 1, { wanted: 'offline' }), true);
    assert.equal((await storage.instances.all())[1]?.unreadable, column);
    await storage.instances.update(damaged.id, 1, { ...repair, wanted: damaged.wanted });
    assert.deepEqual(await storage.instances.all(), [whole, damaged]);
  });

test('unreadable rows: a webhook with a damaged secret is marked until it is saved again, and others are read completely', async () => {
  const [good, bad] = ['w1', 'w2'].map((id, n) => ({
    ...webhook,
    id,
    instanceId: 'r1',
    secret: `whsec_${n}`,
    headers: { a: 'b' },
    created: n,
  }));
  assert.ok(good && bad);
  for (const one of [good, bad]) await storage.webhooks.save(one, 1);
  lines.length = 0;
  await spoil('webhook', 'private', bad.id);
  const marked = { ...bad, secret: '', headers: {}, unreadable: 'private' };
  assert.deepEqual(await storage.webhooks.all(), [good, marked]);
  assert.deepEqual(await storage.webhooks.some([bad.id]), [marked]);
  assert.deepEqual(lines, [['storage.unreadable', { id: bad.id, field: 'private' }]]);
  await storage.webhooks.save(bad, 1);
  assert.deepEqual(await storage.webhooks.some([bad.id]), [bad]);
});

for (const list of ['{null,zzz}', '{NULL}', '{{a},{b}}'])
  for (const [column, field] of [
    ['events', 'events'],
    ['exclude_messages', 'excludeMessages'],
  ] as const)
    test(`unreadable rows: a webhook whose ${column} is ${list} is marked until it is saved again, and others are read completely`, async () => {
      const id = `w-${column}-${list}`;
      const row = { ...webhook, id, instanceId: 'r1', events: ['messages'], excludeMessages: ['fromMeYes'], created: 10 };
      await storage.webhooks.save(row, 1);
      lines.length = 0;
      await database.admin.rows({ name: '', text: `update webhook set ${column} = $1 where id = $2` }, [list, id]);
      const marked = { ...row, [field]: [], unreadable: column };
      assert.deepEqual(await storage.webhooks.some([id]), [marked]);
      assert.deepEqual((await storage.webhooks.all()).at(-1), marked);
      assert.deepEqual(lines, [['storage.unreadable', { id, field: column }]]);
      await storage.webhooks.save(row, 1);
      assert.deepEqual(await storage.webhooks.some([id]), [row]);
      await storage.webhooks.remove({ id, instanceId: 'r1' }, 1);
    });

test('unreadable rows: an instance with the highest epoch does not stop the start, and can be written afterwards', async () => {
  const fresh = await testDatabase();
  const first = await fresh.storage();
  for (const id of ['r1', 'r2']) await first.instances.insert({ ...whole, id, token: `token of ${id}` });
  await first.close();
  for (const epoch of [2147483647, -2147483648]) {
    await fresh.admin.rows({ name: '', text: `update instance set epoch = $1 where id = 'r2'` }, [epoch]);
    lines.length = 0;
    const next = await fresh.storage({ log, onTaken: () => undefined });
    const records = await next.instances.all();
    const { epoch: now = 0 } = records.find(({ id }) => id === 'r2') ?? {};
    assert.notEqual(now, epoch);
    assert.deepEqual(lines, epoch > 0 ? [['storage.unreadable', { id: 'r2', field: 'epoch' }]] : []);
    assert.equal(await next.instances.update('r2', now, { name: 'written' }), true);
    await assert.rejects(next.instances.update('r2', epoch, { name: 'fenced' }));
    await next.close();
  }
});

test('unreadable rows: a start names the settings row that has no valid number', async () => {
  const fresh = await testDatabase();
  await (await fresh.storage({ onTaken: () => undefined })).close();
  await fresh.admin.rows({ name: '', text: `update setting set value = 'junk' where name = 'tenancy.taken'` }, []);
  await assert.rejects(fresh.storage({ onTaken: () => undefined }), /The row "tenancy\.taken" of the table "setting" is damaged/);
  await fresh.admin.rows({ name: '', text: `delete from setting where name = 'tenancy.taken'` }, []);
  await (await fresh.storage({ onTaken: () => undefined })).close();
});

const run = (text: string, values: readonly unknown[] = []) => database.admin.rows({ name: '', text }, values);

test('unreadable rows: an instance with an unknown wanted state is offline with a reason', async () => {
  await run(`update instance set wanted = '' where id = 'r2'`);
  lines.length = 0;
  const [record] = await storage.instances.some(['r2']);
  assert.deepEqual([record?.wanted, record?.lastDisconnectCause], ['offline', 'unreadable']);
  assert.match(record?.lastDisconnectReason ?? '', /^the wanted state of the instance is damaged/);
  assert.deepEqual(lines, [['storage.unreadable', { id: 'r2', field: 'wanted' }]]);
  await storage.instances.update('r2', 1, { wanted: damaged.wanted });
});

test('unreadable rows: valid labels of a chat, members of a group and definitions are read beside damaged ones', async () => {
  const entries: readonly Entry[] = [
    { kind: 'message', message: { ...message, chatId: chat.chatId }, chat: { chatId: chat.chatId }, unread: false },
    { kind: 'group', group: { ...group, id: '1@g.us', members: [member, { ...member, id: '2@lid' }] } },
    ...['a1', 'a2'].map((id): Entry => ({ kind: 'definition', definition: { of: 'chatbotAgent', value: { ...newAgent, id } } })),
  ];
  await storage.journal.commit({ id: 'r1', owner: '', epoch: 1 }, entries, () => []);
  const search = { search: '', members: true, limit: 10, offset: 0 };
  for (const labels of ['{null,x}', '{{x},{NULL}}']) {
    await run(`update chat set labels = $1 where instance_id = 'r1'`, [labels]);
    const { chats } = await storage.chats.find('r1', { filters: [], any: false, sort: null, limit: 10, offset: 0 });
    assert.deepEqual(
      chats.map((one) => one.labels),
      [['x']],
    );
    assert.deepEqual([...(await storage.chats.stats('r1')).labels.keys()], ['x']);
  }
  for (const [members, left] of [
    ['"x"', 0],
    ['[null, ["1@lid"], 7]', 0],
    ['[["1@lid", "", "1@lid", 1], null]', 1],
  ] as const) {
    await run(`update chat_group set members = $1 where instance_id = 'r1'`, [members]);
    assert.equal((await storage.groups.find('r1', search)).groups[0]?.members.length, left);
  }
  for (const value of ['[]', '"x"', 'null', '{"id": "a1"}']) {
    await run(`update definition set value = $1 where instance_id = 'r1' and id = 'a1'`, [value]);
    assert.deepEqual(
      (await storage.definitions.all('r1', 'chatbotAgent')).map(({ id }) => id),
      ['a2'],
    );
  }
  assert.ok(lines.some(([, fields]) => JSON.stringify(fields) === JSON.stringify({ id: 'r1', field: 'definition chatbotAgent a1' })));
});

test('unreadable rows: credentials of 100 MB are corrupt, and the database stays available', async () => {
  await run(`insert into credential (instance_id, sealed) values ('r1', decode(repeat('00', 100000000), 'hex'))`);
  await assert.rejects(storage.vault.credentials('r1'), { name: 'CorruptCredentials' });
  assert.equal(storage.healthy(), true);
  await run(`delete from credential where instance_id = 'r1'`);
});

test('unreadable rows: an agent with a damaged key has none, and the keys of others are read', async () => {
  const claim = { instanceId: 'r1', epoch: 1 };
  for (const id of ['a1', 'a2']) await storage.chatbots.saveKey(claim, { id, provider: 'openai', baseUrl: '' }, `key of ${id}`);
  await database.admin.rows(
    { name: '', text: `update chatbot_key set sealed = set_byte(sealed, 20, get_byte(sealed, 20) # 1) where agent_id = 'a2'` },
    [],
  );
  assert.deepEqual([...(await storage.chatbots.keys('r1')).keys()], ['a1']);
});

test('unreadable rows: a node learns of changes beside a damaged row, and of the row itself', async () => {
  const learned = new Map<string, string | undefined>();
  const time = new FakeTime();
  const memory = new ClusterMemory({
    ...storage,
    time,
    log: quietLog,
    workers: new SupervisedWorkers({ time, log: quietLog, policy: testPolicy, random: () => 1, fields: {} }),
    every: 1_000,
    host: {
      owns: () => false,
      instanceIds: () => [],
      webhookIds: () => [],
      setInstance: ({ id, unreadable }) => void learned.set(id, unreadable),
      forgetInstance: () => undefined,
      setWebhook: ({ id, unreadable }) => void learned.set(id, unreadable),
      forgetWebhook: () => undefined,
      refreshAdmin: async () => undefined,
      refreshSignIns: async () => undefined,
    },
  });
  await memory.begin();
  await spoil('instance', 'token', 'r2');
  await spoil('webhook', 'private', 'w2');
  await storage.instances.update('r1', 1, { name: 'changed' });
  await storage.webhooks.save({ ...webhook, id: 'w1', instanceId: 'r1', url: 'https://example.com/changed' }, 1);
  const refreshed = memory.refreshed();
  await time.pass(1_000);
  await refreshed;
  memory.stop();
  assert.deepEqual(Object.fromEntries(learned), { r1: undefined, r2: 'token', w1: undefined, w2: 'private' });
});
