/** Tests the effect of a changed webhook on deliveries under way. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunningGateway } from '#actors/gateway.ts';
import type { Attempt } from '#actors/ports.ts';
import { message } from '#test/contract/samples.ts';
import { settle, World } from '#test/fakes/world.ts';

async function delivering() {
  const world = new World();
  world.register({ id: 'r1' });
  for (let n = 2; n < 50; n += 1) world.register({ id: `r${n}` });
  world.hook({ id: 'w1', instanceId: 'r1', events: ['messages'] });
  const gateway: RunningGateway = await world.start();
  await gateway.restore();
  await gateway.queue('r1'); // A resting instance has no link.
  const record = async (): Promise<void> => {
    const messageId = world.chance.hex(4);
    world.platform
      .of('r1')
      .host.record([
        { kind: 'message', message: { ...message, messageId, fromMe: true }, chat: { chatId: message.chatId }, unread: false },
      ]);
    await settle();
  };
  return { world, gateway, record };
}

const change = { action: 'update', id: 'w1', url: 'http://new.test', events: ['messages'], enabled: true } as const;

test('configuration: a removed webhook sends nothing more and leaves no timer', async () => {
  const { world, gateway, record } = await delivering();
  const before = world.time.armed;
  world.receiver.answer = () => ({ ok: false, status: 500, error: 'no' });
  await record();
  await record();
  assert.equal(world.receiver.posts.length, 1);
  await gateway.saveWebhook('r1', { action: 'delete', id: 'w1', url: '' });
  await world.time.pass(1000); // Its rows are removed after the answer.
  assert.equal(world.time.armed, before);
  await world.time.pass(60_000);
  assert.equal(world.receiver.posts.length, 1);
});

test('configuration: a late 410 of an old address does not switch the new address off', async () => {
  const { world, gateway, record } = await delivering();
  const { promise, resolve } = Promise.withResolvers<Attempt>();
  world.receiver.answer = ({ url }) => (url === change.url ? { ok: true, status: 200 } : promise);
  await record();
  await gateway.saveWebhook('r1', change);
  resolve({ ok: false, status: 410, error: 'gone' });
  await world.time.pass(10_000);
  const [webhook] = gateway.webhooks('r1');
  assert.deepEqual([webhook?.enabled, webhook?.url], [true, change.url]);
});

test('configuration: a 410 during a change does not store the former configuration', async () => {
  const { world, gateway, record } = await delivering();
  const answer = Promise.withResolvers<Attempt>();
  const stored = Promise.withResolvers<void>();
  world.receiver.answer = ({ url }) => (url === change.url ? { ok: true, status: 200 } : answer.promise);
  await record();
  world.db.holds.set('webhooks.save', stored.promise);
  const changed = gateway.saveWebhook('r1', change);
  await settle();
  answer.resolve({ ok: false, status: 410, error: 'gone' });
  await settle();
  stored.resolve();
  await changed;
  const { enabled, url } = world.db.webhooks.get('w1')!;
  assert.deepEqual([enabled, url], [true, change.url]);
});

test('configuration: a 410 is stored', async () => {
  const { world, gateway, record } = await delivering();
  world.receiver.answer = () => ({ ok: false, status: 410, error: 'gone' });
  await record();
  assert.equal(gateway.webhooks('r1')[0]?.enabled, false);
  assert.equal(world.db.webhooks.get('w1')?.enabled, false);
});

test('configuration: a change of the global webhook reads nothing for instances that never delivered', async () => {
  const { world, gateway } = await delivering();
  await gateway.saveGlobalWebhook({ ...change, action: '', id: '' });
  await gateway.saveGlobalWebhook({ ...change, action: '', id: '', url: 'http://newer.test' });
  await settle();
  assert.equal(world.db.count('outbox.due'), 0);
});

test('configuration: a webhook beyond the limit of an instance is refused, and a change of an existing one is not', async () => {
  const world = new World();
  world.register({ id: 'r1' });
  const gateway = await world.start({ webhooksPerInstance: 2 });
  const add = (n: number) =>
    gateway.saveWebhook('r1', { action: 'add', id: '', url: `http://receiver.test/${n}`, events: ['All'], enabled: true });
  assert.deepEqual([(await add(1)).ok, (await add(2)).ok], [true, true]);
  const refused = await add(3);
  assert.deepEqual(refused, {
    ok: false,
    refusal: { reason: 'invalid', message: 'Maximum number of webhooks per instance reached (2)' },
  });
  const [webhook] = gateway.webhooks('r1');
  assert.ok((await gateway.saveWebhook('r1', { action: 'update', id: webhook?.id ?? '', url: 'http://other.test', events: ['All'] })).ok);
  await gateway.saveWebhook('r1', { action: 'delete', id: webhook?.id ?? '', url: '' });
  assert.ok((await add(3)).ok);
});
