/** Tests alerts in the database: settings with encrypted secrets, a single writer of the state, and reports of nodes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noAlertSecrets, usualAlertSettings } from '#actors/model.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const { alertRows } = await database.storage();
const run = (text: string) => database.admin.rows<Record<string, unknown>>({ name: '', text }, []);
const secrets = { ...noAlertSecrets, emailPassword: 'the-password', slackUrl: 'https://hooks.test/the-address' };
const trouble = { kind: 'disk' as const, key: 'a', name: 'a', reason: 'full', since: 1 };

test('alert rows: settings and secrets are read back, and no secret is readable in the row', async () => {
  assert.equal(await alertRows.read(), null);
  assert.equal(await alertRows.save({ ...usualAlertSettings, repeatHours: 3 }, secrets, ''), true);
  const row = await alertRows.read();
  assert.deepEqual([row?.settings.repeatHours, row?.secrets, row?.state, row?.version], [3, secrets, null, 0]);
  const [stored] = await run(`select settings::text || encode(secrets, 'escape') || coalesce(state, '') as text from alert`);
  assert.ok(!String(stored?.['text']).includes('the-'));
});

test('alert rows: of two nodes one stores the state, and new settings keep the state', async () => {
  const version = (await alertRows.read())?.version ?? 0;
  const both = await Promise.all([alertRows.saveState({ by: 'a' }, version), alertRows.saveState({ by: 'b' }, version)]);
  assert.deepEqual(both.toSorted(), [false, true]);
  await alertRows.save(usualAlertSettings, secrets, (await alertRows.read())?.revision ?? '');
  const row = await alertRows.read();
  assert.deepEqual([row?.version, Object.keys(row?.state as object)], [version + 1, ['by']]);
});

test('alert rows: of two simultaneous changes of secrets the second one is told of the first', async () => {
  const revision = (await alertRows.read())?.revision ?? '';
  const both = await Promise.all([
    alertRows.save(usualAlertSettings, { ...secrets, telegramToken: 'one' }, revision),
    alertRows.save(usualAlertSettings, { ...secrets, webhookUrl: 'https://two.test' }, revision),
  ]);
  assert.deepEqual(both.toSorted(), [false, true]);
  assert.equal(await alertRows.save(usualAlertSettings, secrets, ''), false, 'they are not the first settings');
});

test('alert rows: the state is read back unchanged, with its order', async () => {
  const version = (await alertRows.read())?.version ?? 0;
  const state = { known: [{ name: 'x', kind: 'disk', a: 1 }], lastAt: 5 };
  await alertRows.saveState(state, version);
  assert.equal(JSON.stringify((await alertRows.read())?.state), JSON.stringify(state));
});

test('alert rows: damaged secrets and a damaged state are empty, and the settings stay', async () => {
  await run(`update alert set secrets = '\\x02aa', state = '{"kn'`);
  const row = await alertRows.read();
  assert.deepEqual([row?.secrets, row?.state, row?.settings], [noAlertSecrets, null, usualAlertSettings]);
  await alertRows.save(usualAlertSettings, secrets, (await alertRows.read())?.revision ?? '');
  assert.deepEqual((await alertRows.read())?.secrets, secrets);
});

test('alert rows: a node has one report, and old reports are deleted', async () => {
  await alertRows.report({ node: 'a', at: 1_000, startedAt: 1, troubles: [trouble] });
  await alertRows.report({ node: 'b', at: 5_000, startedAt: 2, troubles: [] });
  await alertRows.report({ node: 'a', at: 6_000, startedAt: 3, troubles: [trouble, { ...trouble, key: 'b' }] });
  assert.deepEqual(
    (await alertRows.reports(5_500)).map(({ node, at, startedAt, troubles }) => [node, at, startedAt, troubles.map(({ key }) => key)]),
    [['a', 6_000, 3, ['a', 'b']]],
  );
  assert.deepEqual(await run('select node from node_trouble'), [{ node: 'a' }]);
});
