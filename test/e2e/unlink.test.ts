/** Tests disconnect and delete of sessions that are not connected. The list of linked devices on the phone shows whether the device is gone there too. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Account } from '#test/support/account.ts';
import { Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
before(async () => {
  scene = await Scene.open({ UNLINK_TIMEOUT_MS: '30000' }); // Long enough for a busy machine.
});
after(() => scene.close());

/** Returns the number of devices that the phone lists. */
const linked = ({ number }: Account): number =>
  scene.platform.sandbox.people().find((person) => person.number === number)?.devices.length ?? 0;

const asleep = async (): Promise<Account> => {
  const account = await scene.paired();
  const { status } = await account.call('POST', '/instance/hibernate');
  assert.equal(status, 200);
  await account.reaches('hibernated');
  assert.equal(linked(account), 1);
  return account;
};

const unlinked = (account: Account): Promise<unknown> => until(() => linked(account) === 0, 'the phone lists no device');

/** Makes the platform leave the next `times` handshakes unanswered. No other session may connect meanwhile. */
const silent = (times: number) => scene.platform.sandbox.fault({ kind: 'silentHandshake', times });

const restart = async (env: Readonly<Record<string, string>>): Promise<void> => {
  assert.equal(await scene.gateway.end('SIGTERM'), 0, scene.gateway.printed);
  await scene.gateway.start(env);
};

const warnings = (): number => scene.gateway.printed.split('session.stillLinked').length - 1;

test('unlink: disconnect of a hibernated session removes its device from the phone, and the session can be paired again', async () => {
  const account = await asleep();
  const { status, body } = await account.call('POST', '/instance/disconnect');
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(body['response'], 'Disconnected');
  assert.equal((body['instance'] as { status: string }).status, 'disconnected');
  await unlinked(account);
  await account.pair(scene.platform);
  await scene.works(account);
  assert.equal(linked(account), 1);
  assert.equal((await account.call('DELETE', '/instance')).status, 200);
  await unlinked(account);
});

test('unlink: delete of a hibernated session removes its device from the phone', async () => {
  const account = await asleep();
  assert.equal((await account.call('DELETE', '/instance')).status, 200);
  await unlinked(account);
  assert.equal((await account.call('GET', '/instance/status')).status, 401);
});

test('unlink: delete of a session that has not connected since the start of the gateway removes its device from the phone', async () => {
  const account = await asleep();
  await restart({});
  assert.equal((await account.seen()).status, 'hibernated');
  assert.equal((await account.call('DELETE', '/instance')).status, 200);
  await unlinked(account);
});

test('unlink: disconnect of a session that the platform refused removes its device from the phone', async () => {
  const account = await scene.paired();
  await scene.platform.sandbox.fault({ kind: 'loginFailure', code: 403, number: account.number });
  await account.call('POST', '/instance/reset');
  await account.reaches('disconnected');
  assert.equal(linked(account), 1);
  assert.equal((await account.call('POST', '/instance/disconnect')).status, 200);
  await unlinked(account);
  assert.equal(warnings(), 0, scene.gateway.printed);
});

test('unlink: delete succeeds while the platform does not answer, and the log says that the device is still linked', async () => {
  const account = await asleep();
  await restart({ UNLINK_TIMEOUT_MS: '1000' });
  await silent(1);
  const { status, body } = await account.call('DELETE', '/instance');
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal((await account.call('GET', '/instance/status')).status, 401);
  await until(() => warnings() === 1, 'the log tells it');
  assert.equal(linked(account), 1);
  await silent(0);
});

test('unlink: the gateway logs in again if the platform refuses the first login', async () => {
  const account = await asleep();
  await restart({});
  const before = warnings();
  await scene.platform.sandbox.fault({ kind: 'loginFailure', code: 503, number: account.number });
  assert.equal((await account.call('DELETE', '/instance')).status, 200);
  await unlinked(account);
  assert.equal(warnings(), before);
});

test('unlink: after a connection that ends right after the login, the device is removed or the log says that it is still linked', async () => {
  const account = await asleep();
  const before = warnings();
  await scene.platform.sandbox.fault({ kind: 'closeAfterLogin', number: account.number });
  assert.equal((await account.call('DELETE', '/instance')).status, 200);
  await until(
    () => linked(account) === 0 || warnings() === before + 1,
    () => `it is gone, or the log tells that it is not:\n${scene.gateway.printed}`,
  );
});

test('unlink: a stop does not wait for the platform, and the session is disconnected all the same', async () => {
  const account = await asleep();
  await restart({ UNLINK_TIMEOUT_MS: '300000' });
  const { total } = scene.platform.sandbox.stats().connections;
  await silent(1);
  const answer = account.call('POST', '/instance/disconnect');
  answer.catch(() => undefined); // The answer is checked below.
  await until(() => scene.platform.sandbox.stats().connections.total > total, 'the gateway connects');
  assert.equal(await scene.gateway.end('SIGTERM'), 0, scene.gateway.printed);
  const { status, body: answered } = await answer;
  assert.deepEqual([status, answered['stillLinked']], [200, true]);
  assert.equal(warnings(), 1);
  await scene.gateway.start();
  const { body } = await account.call('GET', '/instance/status');
  assert.deepEqual(body['status'], { connected: false, loggedIn: false, jid: null });
});

test('unlink: the next start completes an unlink that a kill interrupted', async () => {
  const account = await asleep();
  await restart({ UNLINK_TIMEOUT_MS: '30000' });
  const before = warnings();
  const { total } = scene.platform.sandbox.stats().connections;
  await silent(1);
  account.call('POST', '/instance/disconnect').catch(() => undefined); // The killed gateway does not answer.
  await until(() => scene.platform.sandbox.stats().connections.total > total, 'the gateway connects');
  await scene.gateway.end('SIGKILL');
  assert.equal(linked(account), 1);
  await silent(0);
  await scene.gateway.start();
  await unlinked(account);
  await until(async () => {
    const { body } = await account.call('GET', '/instance/status');
    return (body['status'] as { loggedIn: boolean }).loggedIn === false;
  }, 'it is logged out');
  assert.equal(warnings(), before);
  await account.pair(scene.platform);
  await scene.works(account);
});
