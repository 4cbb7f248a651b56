/** Tests the rate limits on a simulated clock. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { networkOf } from '#src/http/client-address.ts';
import { logGuesses } from '#src/http/rate-limit.ts';
import type { FastifyInstance } from 'fastify';
import { buildApp, type HttpOptions } from '#src/http/app.ts';
import { createFakeGateway } from '#test/fakes/gateway.ts';
import { until } from '#test/support/until.ts';
import { asAdmin, asInstance, optionsWith, setUp } from './setup.ts';

const limited = async (t: TestContext, options: Partial<HttpOptions>) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
  // The limits of wrong tokens use the monotonic clock.
  t.mock.method(performance, 'now', () => Date.now());
  const { app, gateway, lines } = await setUp(t, options);
  const ask = async (url: string, headers: object, remoteAddress = '10.0.0.1') => {
    const reply = await app.inject({ url, headers: { ...headers }, remoteAddress });
    return [reply.statusCode, reply.json().error ?? '', reply.headers['retry-after'] ?? ''];
  };
  return { app, gateway, lines, ask, pass: (ms: number) => t.mock.timers.tick(ms) };
};

const refused = (seconds: string) => [429, 'Rate limit exceeded', seconds];

test('requests: each token has its own limit per second, and a refusal names the time to wait', async (t) => {
  const { ask, pass } = await limited(t, { requestsPerSecond: 2 });
  const status = (headers: object) => ask('/instance/status', headers);
  assert.deepEqual(
    [await status(asInstance), await status(asInstance)],
    [
      [200, '', ''],
      [200, '', ''],
    ],
  );
  assert.deepEqual(await status(asInstance), refused('1'));
  assert.deepEqual(await ask('/instance/all', asAdmin), [200, '', '']);
  assert.deepEqual(await ask('/health', {}), [200, '', '']);
  pass(1_000);
  assert.deepEqual(await status(asInstance), [200, '', '']);
});

test('requests: without the setting any number is accepted', async (t) => {
  const { ask } = await limited(t, {});
  for (let n = 0; n < 200; n += 1) assert.equal((await ask('/instance/status', asInstance))[0], 200);
});

test('wrong tokens: over the limit an address gets 429, and the right token of an instance is still accepted', async (t) => {
  const { ask, pass } = await limited(t, { authFailuresPerMinute: 3 });
  const wrong = () => ask('/instance/status', { token: 'guess' });
  assert.deepEqual(
    [await wrong(), await wrong(), await wrong()].map(([status]) => status),
    [401, 401, 401],
  );
  pass(10_000);
  assert.deepEqual(await wrong(), refused('50'));
  assert.deepEqual((await ask('/webhook', {}))[0], 401, 'a missing token is no guess');
  assert.deepEqual(await ask('/instance/status', asInstance), [200, '', '']);
  assert.deepEqual((await ask('/instance/status', { token: 'guess' }, '10.0.0.2'))[0], 401);
  assert.deepEqual((await ask('/instance/all', asAdmin))[0], 200);
  pass(50_000);
  assert.deepEqual((await wrong())[0], 401);
});

test('wrong admin tokens: over the limit an address gets 429 for every admin token, even the right one', async (t) => {
  const { ask, pass } = await limited(t, { authFailuresPerMinute: 2 });
  const wrong = () => ask('/instance/all', { admintoken: 'guess' });
  assert.deepEqual(
    [await wrong(), await wrong()].map(([status]) => status),
    [403, 403],
  );
  assert.deepEqual(await wrong(), refused('60'));
  assert.deepEqual(await ask('/instance/all', asAdmin), refused('60'));
  assert.deepEqual((await ask('/instance/all', asAdmin, '10.0.0.2'))[0], 200);
  assert.deepEqual((await ask('/instance/status', { token: 'guess' }))[0], 401);
  pass(60_000);
  assert.deepEqual((await ask('/instance/all', asAdmin))[0], 200);
});

/** Returns a cookie of an ended or invented session. */
const cookieOf = (n: number) => ({ cookie: `dormouse_session=${'x'.repeat(40)}${String(n).padStart(3, '0')}` });

test('missing tokens: they do not count as wrong tokens, and neither do cookies of ended sessions', async (t) => {
  const { ask } = await limited(t, { authFailuresPerMinute: 2, healthDetails: 'admin' });
  for (let n = 0; n < 10; n += 1) {
    for (const headers of [{}, { admintoken: '' }]) {
      assert.equal((await ask('/instance/all', headers))[0], 401);
      assert.equal((await ask('/instance/status', headers))[0], 401);
      await ask('/health/ready', headers);
    }
    await ask('/instance/all', cookieOf(n));
  }
  assert.equal((await ask('/instance/all', asAdmin))[0], 200);
  assert.equal((await ask('/instance/status', { token: 'guess' }))[0], 401);
});

test('cookies: above the limit none is looked up in the database, and a known session continues', async (t) => {
  const gateway = createFakeGateway();
  let asked = 0;
  const find = async () => {
    asked += 1;
    return null;
  };
  const signIns = { add: async () => true, find, list: async () => [], end: async () => true, remembers: () => undefined };
  const app = await buildApp({ ...gateway, signIns }, optionsWith({ authFailuresPerMinute: 3 }));
  t.after(() => app.close());
  const ask = async (url: string, headers: object) => (await app.inject({ url, headers: { ...headers } })).statusCode;
  const begun = await app.inject({ method: 'POST', url: '/admin/session', headers: asAdmin });
  const cookie = String(begun.headers['set-cookie']).split(';', 1)[0] ?? '';
  const statuses = [];
  for (const url of ['/admin/session', '/instance/all', '/instance/status'])
    for (let n = 0; n < 3; n += 1) statuses.push(await ask(url, { ...cookieOf(n), 'x-instance': 'r1' }));
  assert.deepEqual(statuses, [200, 200, 200, 429, 429, 429, 429, 429, 429]);
  assert.equal(asked, 3);
  assert.equal(await ask('/instance/all', { cookie, 'sec-fetch-site': 'same-origin' }), 200);
  assert.equal(await ask('/instance/all', asAdmin), 200);
});

test('addresses: only a trusted proxy determines the address of a request', async (t) => {
  const guess = (client: string) => ({ token: 'guess', 'x-forwarded-for': client });
  const trusting = await limited(t, { authFailuresPerMinute: 1, trustedProxies: ['private'] });
  assert.equal((await trusting.ask('/instance/status', guess('1.1.1.1')))[0], 401);
  assert.equal((await trusting.ask('/instance/status', guess('2.2.2.2')))[0], 401);
  assert.equal((await trusting.ask('/instance/status', guess('1.1.1.1')))[0], 429);
});

test('addresses: without a trusted proxy the header is ignored', async (t) => {
  const { ask } = await limited(t, { authFailuresPerMinute: 1 });
  assert.equal((await ask('/instance/status', { token: 'guess', 'x-forwarded-for': '1.1.1.1' }))[0], 401);
  assert.equal((await ask('/instance/status', { token: 'guess', 'x-forwarded-for': '2.2.2.2' }))[0], 429);
});

test('addresses: wrong tokens are counted by the network of a customer, /64 of IPv6', async (t) => {
  const { ask } = await limited(t, { authFailuresPerMinute: 2 });
  const guess = async (address: string) => (await ask('/instance/status', { token: 'guess' }, address))[0];
  assert.deepEqual(
    [await guess('2001:db8:1:2::1'), await guess('2001:db8:1:2:ffff::9'), await guess('2001:db8:1:2:3:4:5:6')],
    [401, 401, 429],
  );
  assert.deepEqual([await guess('2001:db8:1:3::1'), await guess('2001:db8::1')], [401, 401]);
});

const networks: readonly (readonly [ip: string, network: string])[] = [
  ['10.0.0.1', '10.0.0.1'],
  ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
  ['2001:DB8:0001:0002:0:0:0:1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
];
for (const [ip, network] of networks) test(`networkOf: ${ip} counts as ${network}`, () => assert.equal(networkOf(ip), network));
test('networkOf: each IPv4 address in IPv6 notation counts by itself', () =>
  assert.notEqual(networkOf('::ffff:10.0.0.1'), networkOf('::ffff:10.0.0.2')));

test('health: HEALTH_DETAILS=admin answers no guesses above the limit of wrong admin tokens', async (t) => {
  const { app } = await limited(t, { authFailuresPerMinute: 2, healthDetails: 'admin' });
  const details = async (headers: object, remoteAddress: string) =>
    'total' in (await app.inject({ url: '/health/ready', headers: { ...headers }, remoteAddress })).json();
  assert.ok(await details(asAdmin, '10.0.0.1'));
  for (let n = 0; n < 3; n += 1) assert.ok(!(await details({ admintoken: `guess ${n}` }, '10.0.0.1')));
  assert.ok(!(await details(asAdmin, '10.0.0.1')), 'a right token says nothing either');
  assert.ok(await details(asAdmin, '10.0.0.2'));
});

test('wrong tokens: above the limit none is looked up in the database', async (t) => {
  const { ask, gateway } = await limited(t, { authFailuresPerMinute: 3 });
  let asked = 0;
  gateway.lookUp = async () => {
    asked += 1;
    return null;
  };
  for (let n = 0; n < 20; n += 1) await ask('/instance/status', { token: `guess ${n}` });
  assert.ok(asked <= 4, `${asked} queries`);
  assert.equal((await ask('/instance/status', asInstance))[0], 200);
});

test('wrong tokens: a burst gets no more look-ups than the limit', async (t) => {
  const { ask, gateway } = await limited(t, { authFailuresPerMinute: 3 });
  let asked = 0;
  const { promise: answer, resolve } = Promise.withResolvers<null>();
  gateway.lookUp = () => {
    asked += 1;
    return answer;
  };
  const guesses = Promise.all(Array.from({ length: 100 }, (_, n) => ask('/instance/status', { token: `guess ${n}` })));
  await until(() => asked >= 3, 'the first look-ups');
  // The limit also applies to the next requests, while the first ones still wait for their answers.
  for (let n = 0; n < 20; n += 1) await new Promise(setImmediate);
  resolve(null);
  const statuses = (await guesses).map(([status]) => status);
  assert.equal(asked, 3);
  assert.equal(statuses.filter((status) => status === 429).length, 97);
  assert.equal((await ask('/instance/status', asInstance))[0], 200);
});

test('wrong tokens: a valid token does not count, and neither does a lookup while the database is unavailable', async (t) => {
  const { ask, gateway } = await limited(t, { authFailuresPerMinute: 2 });
  const id = gateway.authenticate(asInstance.token);
  assert.ok(id !== null);
  gateway.lookUp = async () => id;
  for (let n = 0; n < 10; n += 1) assert.equal((await ask('/instance/status', { token: 'made elsewhere' }))[0], 200);
  gateway.lookUp = () => Promise.reject(new Error('away'));
  for (let n = 0; n < 10; n += 1) assert.equal((await ask('/instance/status', { token: 'made elsewhere' }))[0], 500);
  gateway.lookUp = async () => null;
  const wrong = [];
  for (let n = 0; n < 3; n += 1) wrong.push((await ask('/instance/status', { token: 'guess' }))[0]);
  assert.deepEqual(wrong, [401, 401, 429]);
});

for (const url of ['/health/ready', '/instance/all'])
  test(`wrong admin tokens: a burst at ${url} gets no more tries than the limit`, async (t) => {
    const { app, gateway } = await limited(t, { authFailuresPerMinute: 3, healthDetails: 'admin' });
    let looked = 0;
    const { isAdmin } = gateway;
    gateway.isAdmin = (token) => {
      looked += 1;
      return isAdmin(token);
    };
    const guess = (n: number) => app.inject({ url, headers: { admintoken: `guess ${n}` }, remoteAddress: '10.0.0.1' });
    await Promise.all(Array.from({ length: 100 }, (_, n) => guess(n)));
    assert.equal(looked, 3);
  });

test('addresses: an X-Forwarded-For header of an untrusted proxy logs one warning', async (t) => {
  const forwarded = { 'x-forwarded-for': '1.1.1.1' };
  const warnings = async (trustedProxies: readonly string[]) => {
    const { ask, lines } = await limited(t, { trustedProxies });
    for (let n = 0; n < 3; n += 1) await ask('/health', forwarded);
    return lines.filter(({ event }) => event === 'http.unknownProxy').map(({ level }) => level);
  };
  assert.deepEqual(await warnings([]), ['warn']);
  t.mock.timers.reset();
  assert.deepEqual(await warnings(['192.168.0.0/16']), ['warn']);
  t.mock.timers.reset();
  assert.deepEqual(await warnings(['private']), []);
});

test('wrong tokens: the log names address, kind and count once a minute, and never a token', async (t) => {
  const { app, ask, lines } = await limited(t, { authFailuresPerMinute: 3 });
  for (let n = 0; n < 5; n += 1) await ask('/instance/status', { token: `guess ${n}` });
  await ask('/instance/all', { admintoken: 'guess of the administrator' }, '2001:db8:1:2:3::4');
  await ask('/instance/all', asAdmin);
  await ask('/instance/status', asInstance);
  await ask('/instance/status', {});
  const body = { name: 'ana', password: 'guess of a person' };
  await app.inject({ method: 'POST', url: '/admin/session/user', body, remoteAddress: '10.0.0.2' });
  await app.close();
  const told = lines.filter(({ event }) => event === 'http.guessed');
  assert.deepEqual(
    told.map(({ level, fields }) => [level, fields]),
    [
      ['warn', { address: '10.0.0.1', kind: 'instance', count: 5 }],
      ['warn', { address: '2001:db8:1:2::/64', kind: 'admin', count: 1 }],
      ['warn', { address: '10.0.0.2', kind: 'signIn', count: 1 }],
    ],
  );
  assert.ok(!JSON.stringify(lines).includes('guess '));
});

test('wrong tokens: an attack from thousands of addresses logs a hundred lines per minute', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const told: object[] = [];
  const log = { debug: () => undefined, info: () => undefined, error: () => undefined, warn: (fields: object) => void told.push(fields) };
  const note = logGuesses({ addHook: () => undefined, decorate: () => undefined } as unknown as FastifyInstance, log);
  for (let n = 0; n < 5_000; n += 1) note({ ip: `10.0.${n >> 8}.${n & 255}` }, 'admin');
  t.mock.timers.tick(59_999);
  assert.equal(told.length, 0);
  t.mock.timers.tick(1);
  assert.equal(told.length, 101);
  assert.deepEqual(told.at(-1), { address: 'others', kind: 'admin', count: 4_900 });
  note({ ip: '10.0.0.1' }, 'admin');
  t.mock.timers.tick(60_000);
  assert.deepEqual(told.at(-1), { address: '10.0.0.1', kind: 'admin', count: 1 });
});
