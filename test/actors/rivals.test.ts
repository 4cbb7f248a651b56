/** Tests changes that several callers request at the same time, on one node or on several. One of them wins, and the others are told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { World } from '#test/fakes/world.ts';

test('gateway: simultaneous requests on several nodes create one global webhook', async () => {
  const world = new World();
  const nodes = [await world.start(), await world.start(), await world.start()];
  const input = { action: '', id: '', events: ['All'] } as const;
  const saved = await Promise.all(nodes.map((node, n) => node.saveGlobalWebhook({ ...input, url: `http://${n}.test` })));
  const ids = saved.flatMap((result) => (result.ok ? result.value.webhooks.map(({ id }) => id) : []));
  assert.deepEqual([ids.length, new Set(ids).size, world.db.webhooks.size], [3, 1, 1]);
});

test('gateway: of several global webhooks, which earlier versions could create, the next change keeps one', async () => {
  const world = new World();
  for (const [created, id] of ['first', 'second', 'third'].entries()) world.hook({ id, instanceId: null, created });
  const node = await world.start();
  assert.ok((await node.saveGlobalWebhook({ action: '', id: '', url: 'http://a.test', events: ['All'] })).ok);
  assert.deepEqual(
    [...world.db.webhooks.values()].map(({ id, url }) => [id, url]),
    [['first', 'http://a.test']],
  );
  assert.equal(node.globalWebhook()?.id, 'first');
});

test('gateway: of simultaneous rotations with one token one is answered with a token', async () => {
  const world = new World();
  world.register({ id: 'r1', token: 'token-r1' });
  const gateway = await world.start();
  const results = await Promise.all([1, 2, 3].map(() => gateway.rotateToken('r1', 'token-r1')));
  const [token, ...others] = results.flatMap((result) => (result.ok ? [result.value.record.token] : []));
  assert.deepEqual(others, []);
  assert.equal(gateway.authenticate(token ?? ''), 'r1');
  assert.deepEqual(
    results.flatMap((result) => (result.ok ? [] : [result.refusal.reason])),
    ['conflict', 'conflict'],
  );
});
