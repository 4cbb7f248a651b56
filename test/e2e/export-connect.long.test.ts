/** Tests that an exported session stays disconnected, also after a restart, until a user connects it again. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Account } from '#test/support/account.ts';
import { adminToken } from '#test/support/gateway.ts';
import { Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
before(async () => {
  scene = await Scene.open();
});
after(() => scene.close());

const exported = /^exported on \d{4}-\d\d-\d\d \d\d:\d\d UTC: connect it here only if it runs nowhere else$/;
const passphrase = 'correct horse battery staple';

const exportOf = async (instance: string): Promise<void> => {
  const answer = await fetch(`${scene.gateway.address}/admin/export`, {
    method: 'POST',
    headers: { admintoken: adminToken, 'content-type': 'application/json' },
    body: JSON.stringify({ instances: [instance], passphrase, stop: true }),
  });
  assert.equal(answer.status, 200, await answer.clone().text());
  assert.ok((await answer.arrayBuffer()).byteLength > 1_000);
};

const restsAsExported = async (account: Account): Promise<void> => {
  const { status, lastDisconnectReason } = await account.seen();
  assert.equal(status, 'disconnected');
  assert.match(lastDisconnectReason, exported);
};

const connects = async (account: Account): Promise<void> => {
  assert.equal((await account.call('POST', '/instance/connect', {})).status, 200);
  await until(async () => (await account.seen()).status === 'connected', 'the exported session is connected again');
  await scene.works(account);
};

test('export: a session that was stopped for it rests with the reason, and connects again without a restart', async () => {
  const account = await scene.paired();
  const { id } = await account.seen();
  await exportOf(`shop ${account.number}`);
  await restsAsExported(account);
  await scene.receiver.wait(
    ({ type, body }) => type === 'connection' && /"exported on [^"]+"/.test(JSON.stringify(body)),
    'an event of the connection that names the export',
  );
  const row = await scene.gateway.call('GET', `/admin/actors/${id}`);
  assert.match(JSON.stringify(row.body), /exported/);
  await connects(account);
});

test('export: an exported session stays offline after a restart, and connects then', async () => {
  const account = await scene.paired();
  await exportOf((await account.seen()).id);
  const before = scene.logins(account);
  await scene.gateway.end('SIGTERM');
  await scene.gateway.start();
  await restsAsExported(account);
  assert.equal(scene.logins(account), before);
  await connects(account);
});

test('export: a hibernated session is not woken after its export, and connects again', async () => {
  const account = await scene.paired();
  assert.equal((await account.call('POST', '/instance/hibernate', {})).status, 200);
  await exportOf((await account.seen()).id);
  await restsAsExported(account);
  await connects(account);
});

test('export: an instance that cannot be exported does not block the others', async () => {
  const account = await scene.paired();
  const body = { instances: [(await account.seen()).id, 'nobody'], passphrase, stop: true };
  const { status, body: answer } = await scene.gateway.call('POST', '/admin/export', { body });
  assert.deepEqual([status, answer['error']], [404, 'there is no instance nobody']);
  assert.equal((await account.seen()).status, 'connected');
});
