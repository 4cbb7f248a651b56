/** Tests sign-ins to the dashboard in the database: their duration, their admin token, and their number. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signInStatements } from '#src/storage/stores/users.ts';
import { testDatabase } from '#test/support/database.ts';
import { planOf } from '#test/support/plans.ts';

const database = await testDatabase();
const { signIns } = await database.storage();
const run = (text: string) => database.admin.rows<Record<string, unknown>>({ name: '', text }, []);
const hour = 3_600_000;
/** Returns a sign-in with the admin token. */
const byToken = (key: string, admin = 'a') => ({ key, admin, userId: null, address: '192.0.2.1' });

test('sign-ins: one is valid under its admin token until it expires or is ended', async () => {
  await signIns.add(byToken('k1'), hour, 10);
  const found = await signIns.find('k1', 'a');
  assert.ok(found !== null && found.user === null);
  assert.ok(found.left > hour - 60_000 && found.left <= hour, `${found.left}`);
  assert.equal(await signIns.find('k1', 'another token'), null);
  assert.equal(await signIns.find('k2', 'a'), null);
  await signIns.add(byToken('over'), 0, 10);
  assert.equal(await signIns.find('over', 'a'), null);
  assert.deepEqual(await signIns.valid(['k1', 'k2', 'over'], 'a'), ['k1']);
  assert.deepEqual(await signIns.valid(['k1'], 'another token'), []);
  await signIns.end('k1');
  await signIns.end('k1');
  assert.deepEqual(await signIns.valid(['k1'], 'a'), []);
});

test('sign-ins: beyond the limit those that expire last are kept, and expired ones are deleted', async () => {
  await signIns.add(byToken('over'), 0, 3);
  for (let n = 0; n < 5; n += 1) await signIns.add(byToken(`n${n}`), hour + n * 1_000, 3);
  assert.deepEqual(
    (await run('select key from sign_in order by until')).map(({ key }) => key),
    ['n2', 'n3', 'n4'],
  );
});

test('sign-ins: no query scans the table', async () => {
  await run(`insert into sign_in select 'many' || n, 'a', n from generate_series(1, 20000) as n`);
  await run('analyze sign_in');
  for (const statement of [signInStatements.find, signInStatements.valid, signInStatements.boundOfUser, signInStatements.end]) {
    const nodes = await planOf(database.admin, statement);
    assert.ok(
      nodes.every((node) => node['Node Type'] !== 'Seq Scan'),
      `${statement.name}: ${nodes.map((node) => node['Node Type']).join()}`,
    );
  }
});
