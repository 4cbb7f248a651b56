/** Tests one-time codes in PostgreSQL: one row per instance, single use, expiry, and removal with the instance. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passkeyCodeStatements } from '#src/storage/stores/users.ts';
import { instance } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';
import { planOf } from '#test/support/plans.ts';

const database = await testDatabase();
const { instances, passkeyCodes } = await database.storage();
const run = (text: string) => database.admin.rows<Record<string, unknown>>({ name: '', text }, []);
const minute = 60_000;
for (const id of ['r1', 'r2']) await instances.insert({ ...instance.record, id, token: id });

test('passkey codes: a code is valid until another one replaces it', async () => {
  await passkeyCodes.put('r1', 'first', minute);
  await passkeyCodes.put('r2', 'foreign', minute);
  assert.deepEqual(await passkeyCodes.find('first'), { instanceId: 'r1', used: false });
  await passkeyCodes.put('r1', 'second', minute);
  assert.equal(await passkeyCodes.find('first'), null);
  assert.deepEqual(await passkeyCodes.find('second'), { instanceId: 'r1', used: false });
  assert.deepEqual(await passkeyCodes.find('foreign'), { instanceId: 'r2', used: false });
});

test('passkey codes: of simultaneous uses one succeeds, and its ticket replaces the code', async () => {
  const uses = await Promise.all(['a', 'b', 'c', 'd'].map((ticket) => passkeyCodes.use('second', ticket, minute)));
  assert.equal(uses.filter(Boolean).length, 1);
  assert.equal(await passkeyCodes.find('second'), null);
  const ticket = 'abcd'[uses.indexOf(true)] ?? '';
  assert.deepEqual(await passkeyCodes.find(ticket), { instanceId: 'r1', used: true });
  assert.equal(await passkeyCodes.use(ticket, 'next', minute), false);
});

test('passkey codes: one that has expired is neither found nor used', async () => {
  await passkeyCodes.put('r1', 'late', 0);
  assert.equal(await passkeyCodes.find('late'), null);
  assert.equal(await passkeyCodes.use('late', 'ticket', minute), false);
});

test('passkey codes: a code can be revoked, and ends with its instance', async () => {
  await passkeyCodes.put('r1', 'ended', minute);
  await passkeyCodes.end('r1');
  await passkeyCodes.end('r1');
  assert.equal(await passkeyCodes.find('ended'), null);
  await run(`delete from instance where id = 'r2'`);
  assert.equal(await passkeyCodes.find('foreign'), null);
});

test('passkey codes: no query scans the table', async () => {
  await run(`insert into instance select (jsonb_populate_record(instance, jsonb_build_object('id', 'many' || n, 'token_hash', 'many' || n))).*
    from instance, generate_series(1, 2000) as n where instance.id = 'r1'`);
  await run(`insert into passkey_code select 'many' || n, 'hash' || n, false, n from generate_series(1, 2000) as n`);
  await run('analyze passkey_code');
  for (const statement of [passkeyCodeStatements.find, passkeyCodeStatements.use, passkeyCodeStatements.end]) {
    const nodes = await planOf(database.admin, statement);
    assert.ok(
      nodes.every((node) => node['Node Type'] !== 'Seq Scan'),
      `${statement.name}: ${nodes.map((node) => node['Node Type']).join()}`,
    );
  }
});
