/** Tests the routes for the pages about the server: settings, versions, storage and proxies. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asAdmin, asInstance, setUp } from './setup.ts';

for (const url of ['/admin/settings', '/admin/version', '/admin/storage', '/admin/proxies'])
  test(`server pages: ${url} answers only the administrator`, async (t) => {
    const { app } = await setUp(t);
    assert.equal((await app.inject({ url, headers: asAdmin })).statusCode, 200);
    assert.equal((await app.inject({ url, headers: asInstance })).statusCode, 401);
  });

test('server pages: the answer about versions has the notice of an update', async (t) => {
  const { app } = await setUp(t);
  const { version, baileys, node, clientVersion, update } = (await app.inject({ url: '/admin/version', headers: asAdmin })).json();
  assert.deepEqual([version, baileys, node, clientVersion.version], ['0.0.0', '7.0.0', '24.0.0', '2.3000.1']);
  assert.deepEqual(update, { checks: false, latest: '', isNewer: false, page: '', checkedAt: 0, error: '' });
});

test('server pages: the answer about storage names the largest instances and the retention rules', async (t) => {
  const { app } = await setUp(t);
  const body = (await app.inject({ url: '/admin/storage', headers: asAdmin })).json();
  assert.deepEqual(body.messages.instances, [{ id: 'r183e2ef9597845', name: 'shop', rows: 2_000, bytes: 2_000_000 }]);
  assert.deepEqual(
    body.rules.map(({ name, value }: { name: string; value: string }) => [name, value]),
    [['MESSAGES_KEEP_DAYS', '90']],
  );
  assert.deepEqual(body.database.tables, [{ name: 'message', bytes: 2_000_000 }]);
  assert.ok(!('fileBytes' in body));
});

test('server pages: proxies are filtered by mode and by text', async (t) => {
  const { app } = await setUp(t);
  const ask = async (query: string) => (await app.inject({ url: `/admin/proxies?${query}`, headers: asAdmin })).json();
  const all = await ask('');
  assert.deepEqual([all.total, all.counts.none, all.rows[0].name, all.rows[0].proxy.mode], [1, 1, 'shop', 'none']);
  assert.equal((await ask('show=custom')).total, 0);
  assert.equal((await ask('show=trouble')).total, 0);
  assert.equal((await ask('q=SHO')).total, 1);
  assert.equal((await ask('q=elsewhere')).total, 0);
  assert.equal((await app.inject({ url: '/admin/proxies?show=never', headers: asAdmin })).statusCode, 400);
});
