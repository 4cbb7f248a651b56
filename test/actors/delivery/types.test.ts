/** Tests which webhook receives which of the thirteen types of events, through the whole gateway. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventTypes } from '#actors/model.ts';
import { settle, World } from '#test/fakes/world.ts';

test('types: each of the thirteen reaches webhooks that name it, All and all reach every type except posts of channels, unknown names none', async () => {
  assert.equal(eventTypes.length, 13);
  const world = new World();
  world.register({ id: 'r1' });
  world.register({ id: 'r2' });
  const hook = (id: string, instanceId: string | null, events: readonly string[], enabled = true) =>
    world.hook({ id, instanceId, events, enabled, url: `http://${id}.test/` });
  for (const type of eventTypes) hook(`w-${type}`, 'r1', [type]);
  hook('w-some', 'r1', ['call', 'blocks', 'messages_update', 'toString']);
  hook('w-all', 'r1', ['All']);
  hook('w-unknown', 'r1', ['blocks', 'ALL', '']);
  hook('w-off', 'r1', ['All'], false);
  hook('w-other', 'r2', ['All']);
  hook('global', null, ['leads', 'all']);
  const gateway = await world.start();
  await gateway.restore();
  for (const id of ['r1', 'r2']) await gateway.queue(id);
  world.platform.of('r1').host.record(eventTypes.map((type) => ({ kind: 'event', type, lane: '', payload: { event: { of: type } } })));
  await settle();
  await world.time.pass(1000);

  const heard = new Map<string, unknown[]>();
  for (const { url, body } of world.receiver.posts) {
    const { EventType, event, BaseUrl, owner, token, instanceName } = body;
    assert.deepEqual([event, BaseUrl, owner, token, instanceName], [{ of: EventType }, 'http://gateway.test', '', 'token-r1', 'shop']);
    const name = new URL(url).hostname.slice(0, -'.test'.length);
    heard.set(name, [...(heard.get(name) ?? []), EventType]);
  }
  const expected = Object.fromEntries(eventTypes.map((type) => [`w-${type}`, [type]]));
  const usual = eventTypes.filter((type) => type !== 'newsletter_messages');
  assert.deepEqual(Object.fromEntries(heard), {
    ...expected,
    'w-some': ['messages_update', 'call'],
    'w-all': usual,
    global: usual,
  });
});
