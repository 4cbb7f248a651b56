/** Tests resting instances, which are disconnected or hibernated and have no actors until they are used. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { options, staged, text } from './stage.ts';

const hour = 3_600_000;
const resting = [
  { id: 'r1', wanted: 'asleep' },
  { id: 'r2', wanted: 'offline' },
  { id: 'r3', wanted: 'online', jid: '' },
] as const;

test('resting: a start creates no actors for them, and they are shown and counted in their state', async () => {
  const { world, gateway } = await staged([...resting, 'r4']);
  assert.deepEqual([...world.platform.links.keys()], ['r4']);
  const words = { r1: 'hibernated', r2: 'disconnected', r3: 'disconnected', r4: 'connected' };
  assert.deepEqual(Object.fromEntries(gateway.all().map(({ record, status }) => [record.id, status])), words);
  const { registered, disconnected, hibernated, connected, instances } = gateway.numbers();
  assert.deepEqual([registered, disconnected, hibernated, connected], [4, 2, 1, 1]);
  assert.deepEqual(Object.fromEntries(instances.map(({ id, status }) => [id, status])), words);
  assert.deepEqual(gateway.ready(), { restored: 1, total: 1 });
});

test('resting: a command creates the actors of its instance only, which knows how long it hibernated', async () => {
  const stage = await staged(resting);
  const { world, gateway } = stage;
  await world.time.pass(hour);
  const slept = stage.numbers().hibernatedMs;
  assert.ok(slept >= hour);
  stage.letIn();
  assert.ok((await world.answerOf(gateway.send('r1', text(), options))).ok);
  assert.deepEqual([...world.platform.links.keys()], ['r1']);
  const { hibernatedMs, wakes } = stage.numbers();
  assert.ok(hibernatedMs >= slept && wakes === 1, `${hibernatedMs} ms, ${wakes} wakes`);
});

test('resting: a test delivery of its webhook names the account', async () => {
  const { world, gateway } = await staged(resting, {}, (before) => before.hook({ id: 'w1', instanceId: 'r1', url: 'http://hook.test' }));
  assert.ok((await world.answerOf(gateway.testWebhook('r1', {}))).ok);
  const [post] = world.receiver.posts;
  assert.equal(post?.body['owner'], gateway.view('r1')?.record.owner);
  assert.equal(world.platform.links.size, 0);
});

test('resting: a removed one has disappeared, together with its token', async () => {
  const { world, gateway } = await staged(resting);
  const token = gateway.view('r2')?.record.token ?? '';
  assert.equal(gateway.authenticate(token), 'r2');
  assert.ok((await world.answerOf(gateway.remove('r2'))).ok);
  assert.deepEqual([gateway.authenticate(token), gateway.view('r2')], [null, null]);
});
