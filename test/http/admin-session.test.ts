/** Tests the session of the dashboard: a cookie in place of the admin token, for requests of the dashboard only. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { type TestContext, test } from 'node:test';
import { eventTypes, messageFilters, streamTypes } from '#actors/gateway.ts';
import { en } from '#src/web/page/texts/en.js';
import { deliveryError, instance, now } from '#test/contract/samples.ts';
import { asAdmin, type Setup, setUp, setUpCommon } from './setup.ts';

const { id } = instance.record;
const host = 'gateway.example';
const own = { host, 'sec-fetch-site': 'same-origin' };

const cookieIn = (headers: Readonly<Record<string, unknown>>): string => String(headers['set-cookie'] ?? '');

/** Signs in. Returns the headers of later requests of the browser. */
const signedIn = async (t: TestContext, options?: Parameters<typeof setUp>[1]) => {
  const setup = await (options ? setUp(t, options) : setUpCommon());
  const reply = await setup.app.inject({ method: 'POST', url: '/admin/session', headers: { ...own, ...asAdmin } });
  assert.equal(reply.statusCode, 200, reply.body);
  const cookie = cookieIn(reply.headers).split(';', 1)[0] ?? '';
  const ask = async (method: 'GET' | 'POST' | 'DELETE', url: string, headers: object = own, payload?: object) => {
    const answer = await setup.app.inject({ method, url, headers: { host, cookie, ...headers }, ...(payload ? { payload } : {}) });
    return { status: answer.statusCode, body: answer.json() as Record<string, unknown>, setCookie: cookieIn(answer.headers) };
  };
  return { ...setup, cookie, ask };
};

test('sign-in: the admin token gets a cookie that scripts cannot read and other sites cannot send', async () => {
  const { app } = await setUpCommon();
  const begin = (headers: object) => app.inject({ method: 'POST', url: '/admin/session', headers: { ...asAdmin, ...headers } });
  const plain = cookieIn((await begin({})).headers);
  assert.match(plain, /^dormouse_session=[\w-]{43}; Max-Age=60; Path=\/; HttpOnly; SameSite=Strict$/);
  assert.match(cookieIn((await begin({ origin: 'https://gateway.example' })).headers), /; Secure/);
  assert.notEqual(cookieIn((await begin({})).headers), plain);
});

test('sign-in: a wrong token, or none, makes no cookie', async () => {
  const { app } = await setUpCommon();
  for (const [headers, status] of [
    [{ admintoken: 'wrong' }, 403],
    [{}, 401],
  ] as const) {
    const reply = await app.inject({ method: 'POST', url: '/admin/session', headers });
    assert.deepEqual([reply.statusCode, cookieIn(reply.headers)], [status, '']);
  }
});

test('sign-in: attempts count for the limit of wrong admin tokens, and requests with a session do not', async (t) => {
  const { app, ask } = await signedIn(t, { authFailuresPerMinute: 2 });
  const guess = (admintoken: string) => app.inject({ method: 'POST', url: '/admin/session', headers: { admintoken } });
  assert.deepEqual([(await guess('a')).statusCode, (await guess('b')).statusCode, (await guess('c')).statusCode], [403, 403, 429]);
  assert.equal((await guess(asAdmin.admintoken)).statusCode, 429);
  assert.equal((await ask('GET', '/instance/all')).status, 200);
});

test('session: it is accepted as the admin token, and with x-instance as the token of that instance', async (t) => {
  const { ask } = await signedIn(t);
  assert.equal((await ask('GET', '/instance/all')).status, 200);
  assert.equal((await ask('GET', '/instance/status')).status, 401);
  const named = { ...own, 'x-instance': id };
  assert.equal((await ask('GET', '/instance/status', named)).status, 200);
  assert.equal((await ask('POST', '/instance/hibernate', named)).status, 200);
  assert.equal((await ask('GET', '/webhook', named)).status, 200);
  assert.deepEqual(await ask('GET', '/instance/status', { ...own, 'x-instance': 'r0' }), {
    status: 404,
    body: { error: 'instance not found' },
    setCookie: '',
  });
  assert.equal((await ask('GET', '/instance/status', { ...named, token: 'wrong' })).status, 401, 'a token that is sent counts instead');
});

test('session: x-instance without a session gives no access', async () => {
  const { app } = await setUpCommon();
  const reply = await app.inject({ url: '/instance/status', headers: { ...own, 'x-instance': id, cookie: 'dormouse_session=guess' } });
  assert.equal(reply.statusCode, 401);
});

const forgeries: readonly (readonly [title: string, headers: object, get: number, post: number])[] = [
  ['our own page', { 'sec-fetch-site': 'same-origin' }, 200, 200],
  ['the address line', { 'sec-fetch-site': 'none' }, 200, 403],
  ['another site', { 'sec-fetch-site': 'cross-site' }, 403, 403],
  ['another host of our domain', { 'sec-fetch-site': 'same-site' }, 403, 403],
  ['another site, which names our origin', { 'sec-fetch-site': 'cross-site', origin: `http://${host}` }, 403, 403],
  ['our own page, over plain HTTP', { origin: `http://${host}` }, 200, 200],
  ['another site, over plain HTTP', { origin: 'http://evil.example' }, 200, 403],
  ['another port, over plain HTTP', { origin: `http://${host}:8080` }, 200, 403],
  ['a hidden origin', { origin: 'null' }, 200, 403],
  ['nobody knows where', {}, 200, 403],
];
for (const [title, headers, get, post] of forgeries) {
  test(`forged requests: from ${title}, GET answers ${get} and POST answers ${post}`, async (t) => {
    const { ask, gateway } = await signedIn(t);
    const before = gateway.all().length;
    assert.equal((await ask('GET', '/instance/all', headers)).status, get);
    assert.equal((await ask('POST', '/instance/create', headers, { name: 'forged' })).status, post);
    assert.equal((await ask('POST', '/instance/hibernate', { ...headers, 'x-instance': id })).status, post);
    if (post === 403) assert.equal(gateway.all().length, before);
  });
}

test('forged requests: an origin without a host does not match a request without one', async (t) => {
  const { address, app } = await setUp(t);
  const url = new URL('/instance/create', await address());
  const begun = await app.inject({ method: 'POST', url: '/admin/session', headers: asAdmin });
  const cookie = cookieIn(begun.headers).split(';', 1)[0] ?? '';
  const statusFrom = async (origin: string): Promise<number | undefined> => {
    const asked = httpRequest(url, { method: 'POST', setHost: false, headers: { cookie, origin, 'content-type': 'application/json' } });
    asked.end('{"name":"forged"}');
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.resume();
    return answer.statusCode;
  };
  for (const origin of ['file://', 'null', 'data:text/html,x', '']) assert.equal(await statusFrom(origin), 403, origin);
});

test('sign-out: it ends the session on the server too', async (t) => {
  const { ask } = await signedIn(t);
  const { status, body, setCookie } = await ask('DELETE', '/admin/session');
  assert.deepEqual([status, body['signedIn']], [200, false]);
  assert.match(setCookie, /^dormouse_session=; Max-Age=0/);
  assert.equal((await ask('GET', '/instance/all')).status, 401);
});

test('session: it ends when the admin token is replaced, after the answer to that request', async (t) => {
  const { ask } = await signedIn(t);
  assert.equal((await ask('POST', '/admin/token/rotate')).status, 200);
  assert.equal((await ask('GET', '/instance/all')).status, 401);
});

test('session: it ends after its maximum time', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { ask } = await signedIn(t);
  t.mock.timers.tick(59_999);
  assert.equal((await ask('GET', '/instance/all')).status, 200);
  t.mock.timers.tick(1);
  assert.equal((await ask('GET', '/instance/all')).status, 401);
});

test('session: a session cannot begin another session', async (t) => {
  const { ask } = await signedIn(t);
  const { status, setCookie } = await ask('POST', '/admin/session');
  assert.deepEqual([status, setCookie], [400, '']);
});

test('session: beyond a thousand sessions the oldest ends', async (t) => {
  const { app, ask } = await signedIn(t);
  const begin = () => app.inject({ method: 'POST', url: '/admin/session', headers: asAdmin });
  for (let n = 0; n < 999; n += 1) await begin();
  assert.equal((await ask('GET', '/instance/all')).status, 200);
  await begin();
  assert.equal((await ask('GET', '/instance/all')).status, 401);
});

// The page sends this request first.
test('session: the answer says if there is a session, and names the version only to a session', async (t) => {
  const { app, ask } = await signedIn(t);
  const { body } = await ask('GET', '/admin/session');
  assert.partialDeepStrictEqual(body, { signedIn: true, demo: false, version: '0.0.0', eventTypes, messageFilters, streamTypes });
  const stranger = (await app.inject({ url: '/admin/session' })).json();
  assert.equal(stranger.signedIn, false);
  assert.ok(!('version' in stranger));
});

test('session: the page has a text for each choice of a webhook that the server names', () => {
  const names = [...eventTypes.map((type) => `event_${type}`), ...messageFilters.map((filter) => `filter_${filter}`)];
  assert.deepEqual(
    names.filter((name) => !(name in en)),
    [],
  );
});

test('session: the end of a session ends its streams', async (t) => {
  const setup: Setup = await setUp(t);
  const address = await setup.address();
  const begun = await fetch(`${address}/admin/session`, { method: 'POST', headers: asAdmin });
  const cookie = (begun.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
  const stream = await fetch(`${address}/sse?events=messages`, { headers: { cookie, 'x-instance': id } });
  assert.equal(stream.status, 200);
  const ended = stream.text().then(
    () => 'ended',
    () => 'ended',
  );
  const out = await fetch(`${address}/admin/session`, { method: 'DELETE', headers: { cookie, 'sec-fetch-site': 'same-origin' } });
  assert.equal(out.status, 200);
  assert.equal(await ended, 'ended');
});

test('demo: a demo server refuses every sign-in', async (t) => {
  const { app } = await setUp(t, { demoServer: true });
  const reply = await app.inject({ method: 'POST', url: '/admin/session', headers: asAdmin });
  assert.deepEqual([reply.statusCode, cookieIn(reply.headers)], [403, '']);
  assert.equal((await app.inject({ url: '/admin/session' })).json().demo, true);
});

test('session: no answer holds the token of an instance, unless it is asked for', async (t) => {
  const { ask } = await signedIn(t);
  const named = { ...own, 'x-instance': id };
  for (const [method, url, payload] of [
    ['GET', '/instance/all'],
    ['GET', '/instance/status'],
    ['POST', '/instance/create', { name: 'new' }],
    ['POST', '/instance/connect', {}],
    ['POST', '/instance/updateInstanceName', { name: 'newer' }],
  ] as const) {
    const { status, body } = await ask(method, url, named, payload);
    assert.equal(status, 200);
    const tokens = [...JSON.stringify(body).matchAll(/"token":"([^"]*)"/g)].map(([, token]) => token);
    assert.ok(tokens.length > 0 && tokens.every((token) => token === ''), `${url}: ${tokens.join()}`);
  }
  assert.deepEqual((await ask('GET', '/admin/session/token', named)).body, { token: instance.record.token });
  assert.equal((await ask('POST', '/instance/token/rotate', named)).body['token'], 'rotated-token');
});

for (const url of ['/webhook/errors', '/globalwebhook/errors'])
  test(`session: ${url} has no token in the shown bodies of failed deliveries`, async (t) => {
    const { ask, app, gateway } = await signedIn(t, {});
    const { token } = instance.record;
    const history = async () => ({
      since: now,
      errors: [{ ...deliveryError, payload: { EventType: 'messages', token, message: { token: 'a word' } } }],
    });
    Object.assign(gateway, { webhookErrors: history, globalWebhookErrors: history });
    const shown = (await ask('GET', url, { ...own, 'x-instance': id })).body as unknown as readonly { payload: object }[];
    assert.deepEqual(shown[0]?.payload, { EventType: 'messages', token: '', message: { token: 'a word' } });
    const asToken = await app.inject({ url, headers: { token, ...asAdmin } });
    assert.equal(asToken.json()[0].payload.token, token);
  });

test('session: requests with the admin token still get the tokens of instances', async () => {
  const { app } = await setUpCommon();
  const [first] = (await app.inject({ url: '/instance/all', headers: asAdmin })).json();
  assert.equal(first.token, instance.record.token);
});

const picture = 'data:image/png;base64,AAAA';
for (const [title, qrcode, objection, status, scanned] of [
  ['it scans the QR code of the instance', picture, null, 200, [picture]],
  ['it refuses a scan without a QR code', '', null, 409, []],
  ['it reports the reason of a failed scan', picture, 'the code is stale', 409, [picture]],
] as const) {
  test(`simulated phone: ${title}`, async (t) => {
    const pictures: string[] = [];
    const scan = async (shown: string): Promise<string | null> => {
      pictures.push(shown);
      return objection;
    };
    const { ask, gateway } = await signedIn(t, { simulatedPhone: { page: 'http://127.0.0.1:3001/', scan } });
    gateway.current = async (named) => {
      const found = gateway.view(named);
      return found && { ...found, qrcode };
    };
    const answer = await ask('POST', '/admin/sandbox/scan', { ...own, 'x-instance': id });
    assert.deepEqual([answer.status, pictures], [status, scanned]);
    if (objection !== null) assert.equal(answer.body['error'], objection);
  });
}

test('simulated phone: it does not exist with the real platform', async (t) => {
  const { ask } = await signedIn(t);
  assert.equal((await ask('POST', '/admin/sandbox/scan', { ...own, 'x-instance': id })).status, 404);
  assert.equal((await ask('GET', '/admin/session')).body['sandbox'], false);
});
