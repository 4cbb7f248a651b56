/** Tests a damaged row of the database. The gateway starts, all other sessions work, and the instance of the row shows the reason. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openDatabase } from '#src/storage/postgres/database.ts';
import type { InstanceSeen } from '#test/support/account.ts';
import { quietLog } from '#test/support/database.ts';
import { embeddedUrl } from '#test/support/embedded-url.ts';
import { adminToken } from '#test/support/gateway.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
before(async () => {
  scene = await Scene.open();
});
after(() => scene?.close());

const seen = async (id: string): Promise<InstanceSeen | undefined> => {
  const { body } = await scene.gateway.call('GET', '/instance/all');
  return (body as unknown as readonly InstanceSeen[]).find((one) => one.id === id);
};

/** Sends a request of the dashboard, which names the instance by its id. */
const asDashboard = async (cookie: string, id: string, method: string, path: string): Promise<Response> =>
  fetch(`${scene.gateway.address}${path}`, { method, headers: { cookie, 'x-instance': id, 'sec-fetch-site': 'same-origin' } });

test('damaged rows: after a restart other sessions send, and the damaged one is offline until its proxy and token are set again', async () => {
  const [whole, damaged] = [await scene.paired(), await scene.paired()];
  const { id } = await damaged.seen();
  const logins = scene.logins(damaged);
  const database = await openDatabase({ url: embeddedUrl(scene.gateway.dataDir), log: quietLog, poolSize: 1, application: 'test' });
  // The value of another row cannot be decrypted either.
  await database.rows(
    { name: '', text: `update instance set proxy = token, token = set_byte(token, 20, get_byte(token, 20) # 1) where id = $1` },
    [id],
  );
  await database.close();
  await scene.gateway.end('SIGKILL');
  await scene.gateway.start();
  await until(async () => (await scene.gateway.call('GET', '/health/ready')).status === 200, 'the gateway is ready');
  await whole.reaches('connected');
  await whole.sends(contact, 'from the other');
  const { status, lastDisconnectReason } = (await seen(id)) ?? {};
  assert.equal(status, 'disconnected');
  assert.match(lastDisconnectReason ?? '', /damaged in the database.*: token, proxy$/);
  assert.equal((await damaged.connect()).status, 401);

  const signedIn = await fetch(`${scene.gateway.address}/admin/session`, { method: 'POST', headers: { admintoken: adminToken } });
  const cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const refused = await asDashboard(cookie, id, 'POST', '/instance/connect');
  assert.equal(refused.status, 409);
  const rotated = (await (await asDashboard(cookie, id, 'POST', '/instance/token/rotate')).json()) as { readonly token: string };
  const call = (method: string, path: string, body: unknown) => scene.gateway.call(method, path, { token: rotated.token, body });
  assert.equal((await call('POST', '/instance/connect', {})).status, 409);
  assert.equal(scene.logins(damaged), logins, 'it connects nowhere without its proxy');
  const changed = await call('POST', '/instance/proxy', { mode: 'none', confirm_no_proxy: true });
  assert.equal(changed.status, 200, JSON.stringify(changed.body));
  assert.equal((await call('POST', '/instance/connect', {})).status, 200);
  await until(async () => (await seen(id))?.status === 'connected', 'the session is back');
});

test('damaged rows: a session with a damaged received stanza connects after a restart, and lists work despite impossible times', async () => {
  const account = await scene.paired();
  const { id } = await account.seen();
  const database = await openDatabase({ url: embeddedUrl(scene.gateway.dataDir), log: quietLog, poolSize: 1, application: 'test' });
  await database.rows({ name: '', text: `insert into inbound (instance_id, seq, tries, at, sealed) values ($1, 1, 0, $2, '\\x00')` }, [
    id,
    Date.now(),
  ]);
  await database.close();
  await scene.gateway.end('SIGKILL');
  await scene.gateway.start();
  await account.reaches('connected');
  await account.sends(contact, 'after the damage');
  assert.equal((await scene.gateway.call('GET', '/instance/all')).status, 200);
});
