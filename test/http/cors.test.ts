/** Tests web pages of other origins (CORS). They have no access by default, and CORS_ORIGINS gives them access. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { asAdmin, asInstance, setUp } from './setup.ts';

const page = 'https://app.example.com';
const stranger = 'https://other.example.com';

const asked = { origin: page, 'access-control-request-method': 'POST', 'access-control-request-headers': 'token,content-type' };

const asking = async (t: TestContext, corsOrigins: readonly string[]) => {
  const { app } = await setUp(t, { corsOrigins });
  return (method: 'GET' | 'OPTIONS', url: string, headers: object) => app.inject({ method, url, headers: { ...headers } });
};

test('cors: without the setting answers name no origin, and a preflight request is refused with 405', async (t) => {
  const ask = await asking(t, []);
  const answer = await ask('GET', '/instance/status', { ...asInstance, origin: page });
  assert.deepEqual([answer.statusCode, answer.headers['access-control-allow-origin']], [200, undefined]);
  const question = await ask('OPTIONS', '/send/text', asked);
  assert.deepEqual([question.statusCode, question.headers['access-control-allow-origin']], [405, undefined]);
});

const rows: readonly (readonly [title: string, origins: readonly string[], origin: string, allowed: string | undefined])[] = [
  ['every origin', ['*'], stranger, '*'],
  ['a named origin', [page, stranger], stranger, stranger],
  ['an origin that is not named', [page], stranger, undefined],
];
for (const [title, origins, origin, allowed] of rows)
  test(`cors: ${title}, in preflight requests without a credential, in answers and in refusals`, async (t) => {
    const ask = await asking(t, origins);
    const question = await ask('OPTIONS', '/instance/create', { ...asked, origin });
    assert.equal(question.statusCode, 204);
    assert.equal(question.headers['access-control-allow-origin'], allowed);
    const names = String(question.headers['access-control-allow-headers']);
    for (const name of ['token', 'admintoken', 'idempotency-key', 'last-event-id', 'content-type']) assert.ok(names.includes(name), name);
    assert.match(String(question.headers['access-control-allow-methods']), /DELETE/);
    for (const [headers, status] of [
      [asInstance, 200],
      [{}, 401],
    ] as const) {
      const answer = await ask('GET', '/instance/status', { ...headers, origin });
      assert.deepEqual([answer.statusCode, answer.headers['access-control-allow-origin']], [status, allowed]);
      assert.match(String(answer.headers['access-control-expose-headers']), /retry-after/);
    }
    const admin = await ask('GET', '/admin/numbers', { ...asAdmin, origin });
    assert.deepEqual([admin.statusCode, admin.headers['access-control-allow-credentials']], [200, undefined]);
  });

test('cors: an unknown address is a 404 with the usual error body', async (t) => {
  const ask = await asking(t, ['*']);
  const answer = await ask('GET', '/nothing', { origin: page });
  assert.deepEqual([answer.statusCode, answer.json()], [404, { error: 'nothing is at /nothing' }]);
});

test('cors: a stream allows every origin, and a file names the allowed origin', async (t) => {
  const { address, gateway } = await setUp(t, { corsOrigins: [page] });
  const [name = ''] = [...gateway.kept.keys()];
  const stop = new AbortController();
  for (const [path, allowed] of [
    [`/sse?token=${asInstance.token}&events=messages`, '*'],
    [`/files/${name}`, page],
  ] as const) {
    const answer = await fetch((await address()) + path, { headers: { origin: page }, signal: stop.signal });
    assert.deepEqual([answer.status, answer.headers.get('access-control-allow-origin')], [200, allowed], path);
    if (path.startsWith('/files')) await answer.arrayBuffer();
  }
  stop.abort();
});

test('status: it needs no credential, and warns if no instance is connected', async (t) => {
  const { app, gateway } = await setUp(t);
  const ask = async () => (await app.inject({ url: '/status' })).json<Readonly<Record<string, unknown>>>();
  const first = await ask();
  assert.deepEqual(Object.keys(first['status'] as object), ['server_status', 'checked_instance', 'last_check', 'dc']);
  assert.deepEqual(first['instance_counts'], { total: 1, connected: 1, disconnected: 0, reconnecting: 0, connecting: 0 });
  gateway.counts = () => ({ total: 2, connected: 0, disconnected: 1, reconnecting: 1, connecting: 0 });
  const second = await ask();
  assert.deepEqual([second['status'], second['connected_instances'], typeof second['info']], ['warning', 0, 'string']);
});
