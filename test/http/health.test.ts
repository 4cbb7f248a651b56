/** Tests health checks, overload and request ids. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asAdmin, asInstance, setUp, type Setup } from './setup.ts';

const readiness = async ({ app }: Setup, headers = {}) => {
  const { statusCode, payload } = await app.inject({ url: '/health/ready', headers });
  return [statusCode, JSON.parse(payload) as Readonly<Record<string, unknown>>] as const;
};

test('health: the process is alive without the database, and ready only with it', async (t) => {
  let troubles = ['the database is not available now'];
  const setup = await setUp(t, { storageTroubles: () => troubles });
  const alive = async (): Promise<number> => (await setup.app.inject({ url: '/health/live' })).statusCode;
  assert.equal(await alive(), 200);
  const away = 'the database is not available now';
  assert.deepEqual(await readiness(setup), [503, { error: away, reasons: [away] }]);
  troubles = [];
  assert.deepEqual(await readiness(setup), [200, { ready: true, restored: 1, total: 2 }]);
  setup.gateway.accepting = false;
  assert.deepEqual(await readiness(setup), [503, { error: 'the server is stopping', reasons: ['the server is stopping'] }]);
  assert.equal(await alive(), 200);
});

test('health: with HEALTH_DETAILS=admin only the administrator gets the reasons', async (t) => {
  let troubles: string[] = [];
  const setup = await setUp(t, { healthDetails: 'admin', storageTroubles: () => troubles });
  assert.deepEqual(await readiness(setup), [200, { ready: true }]);
  assert.deepEqual(await readiness(setup, asAdmin), [200, { ready: true, restored: 1, total: 2 }]);
  troubles = ['the database is not available now'];
  assert.deepEqual(await readiness(setup), [503, { error: 'not ready' }]);
  assert.deepEqual(await readiness(setup, { admintoken: 'a wrong token of some length' }), [503, { error: 'not ready' }]);
  assert.equal((await readiness(setup, asAdmin))[1]['error'], 'the database is not available now');
});

test('health: a server with warnings is ready, and lists the warnings', async (t) => {
  const setup = await setUp(t, { healthDetails: 'admin' });
  setup.gateway.warnings = () => ['the disk of the data folder is nearly full: 9.9 of 100.0 GB are free'];
  assert.deepEqual(await readiness(setup), [200, { ready: true }]);
  assert.deepEqual((await readiness(setup, asAdmin))[1]['warnings'], setup.gateway.warnings());
});

test('health: readiness names each problem of the database and of the sessions once', async (t) => {
  const missing = 'the database fails: relation "chat" does not exist (42P01)';
  const setup = await setUp(t, { storageTroubles: () => ['the disk of the database is full', missing] });
  setup.gateway.troubles = () => [missing];
  const [status, { reasons }] = await readiness(setup);
  assert.deepEqual([status, reasons], [503, ['the disk of the database is full', missing]]);
});

const sampleMs = 50;

/** Blocks the event loop until the overload check measures the delay. */
const overload = async ({ app }: Setup): Promise<void> => {
  while (!app.isUnderPressure()) {
    const until = performance.now() + 2 * sampleMs;
    while (performance.now() < until);
    await new Promise((resolve) => setTimeout(resolve));
  }
};

test('overload: work is refused with Retry-After, and requests that relieve the server or show its state are answered', async (t) => {
  const setup = await setUp(t, { overloadLagMs: 20, overloadSampleMs: sampleMs });
  const { app } = setup;
  const status = async (method: 'GET' | 'POST', url: string, headers: object): Promise<number> => {
    await overload(setup);
    return (await app.inject({ method, url, headers: { ...headers } })).statusCode;
  };
  await overload(setup);
  const refused = await app.inject({ url: '/instance/status', headers: asInstance });
  assert.deepEqual([refused.statusCode, refused.headers['retry-after']], [503, '3']);
  assert.deepEqual(JSON.parse(refused.payload), { error: 'the server is overloaded: try again later' });
  assert.equal(await status('POST', '/instance/hibernate', asInstance), 200);
  assert.equal(await status('POST', '/instance/disconnect', asInstance), 200);
  assert.equal(await status('GET', '/admin/numbers', asAdmin), 200);
  assert.equal(await status('GET', '/health/live', {}), 200);
  await overload(setup);
  assert.deepEqual((await readiness(setup))[1]['reasons'], ['the event loop is overloaded']);
});

test('request ids: a valid id of the client is kept, an invalid id is replaced, and the answer and the log have the id', async (t) => {
  const { app, lines } = await setUp(t);
  const idOf = async (given?: string): Promise<string> => {
    const headers = given === undefined ? {} : { 'x-request-id': given };
    return String((await app.inject({ url: '/instance/status', headers: { ...asInstance, ...headers } })).headers['x-request-id']);
  };
  assert.equal(await idOf('order-17.a:b_c'), 'order-17.a:b_c');
  const made = await idOf();
  assert.match(made, /^[\da-f-]{36}$/);
  assert.notEqual(await idOf('two words'), 'two words');
  assert.match(await idOf('x'.repeat(65)), /^[\da-f-]{36}$/);
  const logged = lines.filter(({ event }) => event === 'http.answered').map(({ fields }) => fields['request']);
  assert.deepEqual(logged.slice(0, 2), ['order-17.a:b_c', made]);
});
