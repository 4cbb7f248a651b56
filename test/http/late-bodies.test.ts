/** Tests requests whose credential ends between the start and the end of their body. */
import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { type TestContext, test } from 'node:test';
import { passkeyCode } from '#test/fakes/gateway.ts';
import { testDatabase } from '#test/support/database.ts';
import { own, password, peopleOf } from '#test/support/people.ts';
import { TestService } from '#test/support/service.ts';
import { asAdmin, setUp } from './setup.ts';

const database = await testDatabase();
const service = await TestService.open(database.url);
const { newUser, signedIn } = peopleOf(service);

/** Sends the first half of a body. Returns a function that sends the rest, and returns the status and the error of the answer. */
const half = async (t: TestContext, address: string, path: string, headers: Readonly<Record<string, string>>, body: object) => {
  const text = JSON.stringify(body);
  const { promise, resolve, reject } = Promise.withResolvers<readonly [status: number, error: unknown]>();
  const asked = httpRequest(new URL(path, address), {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', 'content-length': String(text.length) },
  });
  t.after(() => asked.destroy());
  asked.once('error', reject);
  asked.once('response', (answer) => {
    let told = '';
    answer.setEncoding('utf8').on('data', (chunk: string) => (told += chunk));
    answer.on('end', () => resolve([answer.statusCode ?? 0, (JSON.parse(told) as { readonly error?: string }).error]));
  });
  promise.catch(() => undefined);
  asked.write(text.slice(0, 2));
  // The pause lets the gateway check the credential before the test changes it.
  await new Promise((sent) => setTimeout(sent, 300));
  return () => {
    asked.end(text.slice(2));
    return promise;
  };
};

const unauthorized = [401, 'Unauthorized'] as const;

test('late bodies: an administrator who is deleted meanwhile makes no user', async (t) => {
  const user = await newUser('administrator');
  const { cookie } = await signedIn(user.name);
  const finish = await half(t, service.address, '/admin/users', { cookie, ...own }, { name: 'too-late', role: 'administrator', password });
  assert.equal((await service.admin('POST', '/admin/users/delete', { id: user.id })).status, 200);
  assert.deepEqual(await finish(), unauthorized);
  const { users } = (await service.admin('GET', '/admin/users')).body as { readonly users: readonly { readonly name: string }[] };
  assert.ok(!users.some(({ name }) => name === 'too-late'));
});

test('late bodies: an operator who is demoted meanwhile disconnects no session', async (t) => {
  const user = await newUser('operator');
  const { cookie } = await signedIn(user.name);
  const { id } = await service.instance('watched');
  const headers = { cookie, ...own, 'x-instance': id };
  const finish = await half(t, service.address, '/instance/disconnect', headers, { reason: 'none' });
  assert.equal((await service.admin('POST', '/admin/users/update', { id: user.id, role: 'viewer' })).status, 200);
  assert.deepEqual(await finish(), [401, 'instance info not found']);
});

test('late bodies: an instance token that is rotated meanwhile sets no webhook and cannot read the new token', async (t) => {
  const { call, token } = await service.instance('rotated');
  const webhook = await half(t, service.address, '/webhook', { token }, { url: 'http://127.0.0.1:9/', events: ['messages'] });
  const rotation = await half(t, service.address, '/instance/token/rotate', { token }, { again: true });
  const rotated = (await call('POST', '/instance/token/rotate', {})).body as { readonly token: string };
  assert.deepEqual(await webhook(), [401, 'missing token']);
  assert.deepEqual(await rotation(), [401, 'Invalid token']);
  assert.deepEqual((await service.call('GET', '/webhook', { token: rotated.token })).body, []);
});

test('late bodies: an admin token that is replaced meanwhile makes no instance', async (t) => {
  const { gateway, address } = await setUp(t);
  const finish = await half(t, await address(), '/instance/create', asAdmin, { name: 'too-late' });
  gateway.isAdmin = () => false;
  const before = gateway.all().length;
  assert.deepEqual(await finish(), [403, 'Invalid AdminToken Header']);
  assert.equal(gateway.all().length, before);
});

test('late bodies: a passkey code that was used meanwhile confirms no link', async (t) => {
  const { gateway, address } = await setUp(t);
  const confirmed = await half(t, await address(), '/passkey/confirm', { 'passkey-code': passkeyCode }, { any: true });
  const late = await half(t, await address(), '/passkey/confirm', { 'passkey-code': passkeyCode }, { any: true });
  assert.equal((await confirmed())[0], 200);
  gateway.passkeyLink = () => Promise.resolve(null);
  assert.equal((await late())[0], 401);
});

test('late bodies: a session that its owner ends meanwhile makes no user, and a lasting session does', async (t) => {
  const user = await newUser('administrator');
  const [ended, kept] = [await signedIn(user.name), await signedIn(user.name)];
  const late = await half(
    t,
    service.address,
    '/admin/users',
    { cookie: ended.cookie, ...own },
    { name: 'of-ended', role: 'viewer', password },
  );
  const right = await half(
    t,
    service.address,
    '/admin/users',
    { cookie: kept.cookie, ...own },
    { name: 'of-kept', role: 'viewer', password },
  );
  assert.equal((await ended.ask('DELETE', '/admin/session')).status, 200);
  assert.deepEqual(await late(), unauthorized);
  assert.equal((await right())[0], 200);
});
