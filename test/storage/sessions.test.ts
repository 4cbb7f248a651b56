/** Tests the storing of imported sessions: completely or not at all, encrypted, by the owner only, and once in the whole database. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InstanceRecord, Webhook } from '#actors/model.ts';
import { noProxy } from '#actors/model.ts';
import type { Landing, MovedKey } from '#actors/ports.ts';
import { instance } from '#test/contract/samples.ts';
import { webhook } from '#test/fakes/records.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const storage = await database.storage({ now: () => 7_000 });
const { sessions, vault } = storage;
const run = (text: string, values: readonly unknown[] = []) => database.admin.rows({ name: '', text }, values);

let made = 0;
const newRecord = (): InstanceRecord => {
  made += 1;
  return { ...instance.record, id: `r${made}`, token: `token ${made}`, epoch: 1, jid: '', owner: '', proxy: null };
};
const fresh = async (): Promise<InstanceRecord> => {
  const record = newRecord();
  await storage.instances.insert(record);
  return record;
};

const keysOf = (count: number): readonly MovedKey[] =>
  Array.from({ length: count }, (_, at) => ({ type: at % 2 === 0 ? 'pre-key' : 'session', id: `ü${at}`, value: `"secret-key-xyz ${at}"` }));

const landing = (jid: string, change: Partial<Landing> = {}): Landing => ({
  fresh: null,
  replaces: false,
  credentials: '{"secret-creds-xyz":1}',
  keys: keysOf(1_203),
  patch: {
    jid,
    owner: '551',
    wanted: 'offline',
    token: `secret-token-xyz of ${jid}`,
    fieldsMap: { a: 'b' },
    proxy: { ...noProxy, mode: 'custom', url: 'http://u:secret-proxy-xyz@p:1' },
  },
  webhooks: [],
  ...change,
});

const hookOf = (record: InstanceRecord): Webhook => ({ ...webhook, id: `w${record.id}`, instanceId: record.id, secret: 'secret-hook-xyz' });

test('landing: credentials, keys, fields and webhooks are stored together, and none of them is readable', async () => {
  const record = await fresh();
  const given = landing('551:1@s.whatsapp.net', { webhooks: [hookOf(record)] });
  assert.equal(await sessions.land({ instanceId: record.id, epoch: 1 }, given), 'stored');
  assert.equal(await vault.credentials(record.id), given.credentials);
  const keys: MovedKey[] = [];
  for await (const key of sessions.keys(record.id)) keys.push(key);
  const sorted = (all: readonly MovedKey[]): readonly string[] => all.map((key) => JSON.stringify(key)).toSorted();
  assert.deepEqual(sorted(keys), sorted(given.keys));
  const [stored] = await storage.instances.some([record.id]);
  assert.deepEqual({ ...stored, updated: 0 }, { ...record, ...given.patch, updated: 0 });
  assert.equal((await storage.instances.byToken(given.patch.token ?? ''))?.id, record.id);
  assert.equal((await storage.webhooks.some([`w${record.id}`]))[0]?.secret, 'secret-hook-xyz');
  for (const table of ['instance', 'credential', 'signal_key', 'webhook'])
    for (const row of await run(`select * from ${table}`)) {
      const dump = Object.values(row).map((value) => (Buffer.isBuffer(value) ? value.toString('latin1') : JSON.stringify(value)));
      assert.doesNotMatch(dump.join('\n'), /secret-\w+-xyz/, table);
    }
});

test('landing: a new instance is inserted together with its session, or not at all', async () => {
  const record = { ...newRecord(), fieldsMap: { lead_field01: 'Name' }, adminField01: 'a' };
  const given = landing('551:9@s.whatsapp.net', { fresh: record });
  assert.equal(await sessions.land({ instanceId: record.id, epoch: 1 }, given), 'stored');
  const [stored] = await storage.instances.some([record.id]);
  assert.deepEqual({ ...stored, updated: 0 }, { ...record, ...given.patch, updated: 0 });
  assert.equal(await vault.credentials(record.id), given.credentials);
  const again = newRecord();
  assert.equal(await sessions.land({ instanceId: again.id, epoch: 1 }, { ...given, fresh: again }), 'elsewhere');
  const broken = landing('551:8@s.whatsapp.net', { fresh: again, webhooks: [{ ...hookOf(again), instanceId: 'r99' }] });
  await assert.rejects(() => sessions.land({ instanceId: again.id, epoch: 1 }, broken));
  assert.deepEqual(await storage.instances.some([again.id]), []);
});

test('landing: a newer copy replaces credentials and keys in one transaction, and keeps what belongs to received messages', async () => {
  const record = await fresh();
  const claim = { instanceId: record.id, epoch: 1 };
  const patch = { jid: '551:6@s.whatsapp.net' };
  const received = { type: 'inbound-plain', id: 'a', value: '"text"' };
  const before = landing(patch.jid, {
    patch,
    keys: [received, { type: 'session', id: 'gone', value: '1' }, { type: 'session', id: 'kept', value: '1' }],
  });
  assert.equal(await sessions.land(claim, before), 'stored');
  const newer = landing(patch.jid, {
    patch,
    replaces: true,
    credentials: '{"newer":1}',
    keys: [{ type: 'session', id: 'kept', value: '2' }],
  });
  const read = async (): Promise<unknown> => {
    const keys = (await Array.fromAsync(sessions.keys(record.id))).map(({ type, id, value }) => `${type} ${id} ${value}`);
    return [await vault.credentials(record.id), keys];
  };
  const untouched = await read();
  await assert.rejects(() => sessions.land(claim, { ...newer, webhooks: [{ ...hookOf(record), instanceId: 'r99' }] }));
  assert.deepEqual(await read(), untouched);
  assert.equal(await sessions.land(claim, newer), 'stored');
  assert.deepEqual(await read(), ['{"newer":1}', ['inbound-plain a "text"', 'session kept 2']]);
});

const isEmpty = async ({ id }: InstanceRecord): Promise<void> => {
  const [row] = await run(
    `select (select count(*)::int from signal_key where instance_id = $1) as keys, (select count(*)::int from credential where instance_id = $1) as credentials,
       (select jid from instance where id = $1) as jid`,
    [id],
  );
  assert.deepEqual(row, { keys: 0, credentials: 0, jid: '' });
};

test('landing: a session of another instance is refused, also if both arrive at once', async () => {
  const [first, second] = [await fresh(), await fresh()];
  const both = await Promise.all(
    [first, second].map((record) =>
      sessions.land({ instanceId: record.id, epoch: 1 }, landing('551:2@s.whatsapp.net', { patch: { jid: '551:2@s.whatsapp.net' } })),
    ),
  );
  assert.deepEqual(both.toSorted(), ['elsewhere', 'stored']);
  await isEmpty(both[0] === 'stored' ? second : first);
});

test('landing: a former owner stores nothing', async () => {
  const record = await fresh();
  await run('update instance set epoch = 2 where id = $1', [record.id]);
  await assert.rejects(() => sessions.land({ instanceId: record.id, epoch: 1 }, landing('551:3@s.whatsapp.net')), { name: 'EpochLost' });
  await isEmpty(record);
});

test('landing: if the database refuses a part, nothing of the session is stored', async () => {
  const record = await fresh();
  const taken = landing('551:4@s.whatsapp.net', { patch: { jid: '551:4@s.whatsapp.net', token: 'token 1' } });
  await run(`update instance set token_hash = sha256(convert_to('token 1', 'UTF8')) where id = 'r1'`);
  await assert.rejects(() => sessions.land({ instanceId: record.id, epoch: 1 }, taken));
  await isEmpty(record);
  const foreign = landing('551:4@s.whatsapp.net', { webhooks: [{ ...hookOf(record), instanceId: 'r99' }] });
  await assert.rejects(() => sessions.land({ instanceId: record.id, epoch: 1 }, foreign));
  await isEmpty(record);
});
