/** Tests the routes of nodes over HTTP, which are for administrators only. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asAdmin, asInstance, setUp } from './setup.ts';

const list = { method: 'GET', url: '/admin/nodes' } as const;
const drain = (name: string) => ({ method: 'POST', url: `/admin/nodes/${name}/drain` }) as const;

const node = {
  name: 'a',
  version: '1.0.0',
  state: 'live',
  owned: 1,
  capacity: 200,
  astray: 0,
  bus: false,
  draining: false,
  leaseMs: 9_000,
  renewedMs: 6_000,
  age: 5,
  taken: { failover: 1 },
};

const calls: readonly (readonly [title: string, call: object, headers: Readonly<Record<string, string>>, status: number, body: unknown])[] =
  [
    ['are listed', list, asAdmin, 200, [node]],
    ['are not listed without the admin token', list, asInstance, 401, { error: 'Unauthorized' }],
    ['are drained by their name', drain('a'), asAdmin, 202, { message: 'The node gives its sessions away' }],
    ['that are not live are not drained', drain('b'), asAdmin, 404, { error: 'no node' }],
    ['are not drained without the admin token', drain('a'), {}, 401, { error: 'Unauthorized' }],
  ];
for (const [title, call, headers, status, body] of calls)
  test(`nodes ${title}: ${status}`, async (t) => {
    const { app } = await setUp(t);
    const reply = await app.inject({ ...call, headers });
    assert.deepEqual([reply.statusCode, reply.json()], [status, body]);
  });

test('nodes: a node that drains is not ready', async (t) => {
  const { app, gateway } = await setUp(t);
  Object.assign(gateway, { draining: () => true });
  const reply = await app.inject('/health/ready');
  assert.equal(reply.statusCode, 503);
  assert.match(reply.body, /the node gives its sessions away/);
});
