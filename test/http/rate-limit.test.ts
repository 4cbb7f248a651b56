/** How many requests are taken, on a clock of the test. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { HttpOptions } from '#src/http/app.ts';
import { asAdmin, asInstance, setUp } from './setup.ts';

const limited = async (t: TestContext, options: Partial<HttpOptions>) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
  const { app } = await setUp(t, options);
  const ask = async (url: string, headers: object, remoteAddress = '10.0.0.1') => {
    const reply = await app.inject({ url, headers: { ...headers }, remoteAddress });
    return [reply.statusCode, reply.json().error ?? '', reply.headers['retry-after'] ?? ''];
  };
  return { ask, pass: (ms: number) => t.mock.timers.tick(ms) };
};

const refused = (seconds: string) => [429, 'Rate limit exceeded', seconds];

test('requests: those over the number of a second are refused with the time to wait, by token', async (t) => {
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

test('requests: without the setting any number is taken', async (t) => {
  const { ask } = await limited(t, {});
  for (let n = 0; n < 200; n += 1) assert.equal((await ask('/instance/status', asInstance))[0], 200);
});

test('wrong tokens: over the limit an address gets 429, the right token of an instance still comes in', async (t) => {
  const { ask, pass } = await limited(t, { authFailuresPerMinute: 3 });
  const wrong = () => ask('/instance/status', { token: 'guess' });
  const missing = () => ask('/webhook', {});
  assert.deepEqual(
    [await wrong(), await missing(), await wrong()].map(([status]) => status),
    [401, 401, 401],
  );
  pass(10_000);
  assert.deepEqual(await wrong(), refused('50'));
  assert.deepEqual(await missing(), refused('50'));
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

test('addresses: only a proxy that is trusted says where a request comes from', async (t) => {
  const guess = (client: string) => ({ token: 'guess', 'x-forwarded-for': client });
  const trusting = await limited(t, { authFailuresPerMinute: 1, trustedProxies: ['private'] });
  assert.equal((await trusting.ask('/instance/status', guess('1.1.1.1')))[0], 401);
  assert.equal((await trusting.ask('/instance/status', guess('2.2.2.2')))[0], 401);
  assert.equal((await trusting.ask('/instance/status', guess('1.1.1.1')))[0], 429);
});

test('addresses: without a trusted proxy the header says nothing', async (t) => {
  const { ask } = await limited(t, { authFailuresPerMinute: 1 });
  assert.equal((await ask('/instance/status', { token: 'guess', 'x-forwarded-for': '1.1.1.1' }))[0], 401);
  assert.equal((await ask('/instance/status', { token: 'guess', 'x-forwarded-for': '2.2.2.2' }))[0], 429);
});
