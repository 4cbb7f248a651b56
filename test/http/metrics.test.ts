/** Tests `/metrics` at the API: the admin token in either header, and counts of requests and streams. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProcessMeter } from '#src/metrics/meter.ts';
import { adminToken } from '#test/fakes/gateway.ts';
import { asAdmin, asInstance, setUp, until } from './setup.ts';
import { openStream } from './stream-client.ts';

const counted = () => {
  const meter = new ProcessMeter();
  return { meter, metrics: { contentType: 'text/plain; version=0.0.4; charset=utf-8', text: async () => 'up 1\n', meter } };
};

test('GET /metrics: accepts the admin token in its own header and as a bearer token', async (t) => {
  const { app } = await setUp(t, { metrics: counted().metrics });
  for (const headers of [asAdmin, { authorization: `Bearer ${adminToken}` }]) {
    const answer = await app.inject({ url: '/metrics', headers });
    assert.deepEqual([answer.statusCode, answer.body], [200, 'up 1\n']);
    assert.equal(answer.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
    assert.deepEqual([answer.headers['cache-control'], answer.headers['x-content-type-options']], ['no-store', 'nosniff']);
  }
  assert.equal((await app.inject({ url: '/metrics' })).statusCode, 401);
  assert.equal((await app.inject({ url: '/metrics', headers: { authorization: 'Bearer wrong' } })).statusCode, 403);
  assert.equal((await app.inject({ url: '/admin/numbers', headers: { authorization: `Bearer ${adminToken}` } })).statusCode, 401);
});

test('metrics: requests are counted by the pattern of their route, not by their address', async (t) => {
  const { metrics, meter } = counted();
  const { app } = await setUp(t, { metrics });
  await app.inject({ url: '/admin/actors/r1?token=secret', headers: asAdmin });
  await app.inject({ url: '/nothing/5511999999999', headers: asInstance });
  assert.deepEqual(
    new Map(meter.answers.entries),
    new Map([
      ['GET /admin/actors/:id 4xx', 1],
      [' none 4xx', 1],
    ]),
  );
});

test('metrics: streams are counted while they are open', async (t) => {
  const { metrics, meter } = counted();
  const { address } = await setUp(t, { metrics });
  const stream = await openStream(t, await address(), 'events=messages');
  assert.equal(meter.streams.open, 1);
  stream.leave();
  await until(() => meter.streams.open === 0);
  assert.deepEqual(meter.streams, { open: 0, cut: 0 });
});
