/** Tests events that cannot be rendered. Each is set aside, counted, logged and shown, and the events behind it are delivered. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { staged } from '../stage.ts';
import { CourierDesk as Desk } from '#test/fakes/courier-desk.ts';
import { settle } from '#test/fakes/world.ts';

type Break = (desk: Desk, bad: (event: string) => boolean) => void;

const breaks: readonly (readonly [what: string, breakIt: Break])[] = [
  [
    'the envelope throws',
    (desk, bad) => {
      const { envelope } = desk.host;
      desk.host = { ...desk.host, envelope: (sender, type) => (bad(type) ? assert.fail('no envelope') : envelope(sender, type)) };
    },
  ],
  [
    'the signature throws',
    (desk, bad) => {
      desk.webhook = { ...desk.webhook!, secret: 'whsec_x' };
      const sign = (_secret: string, id: string): string => (bad(id) ? assert.fail('no envelope') : 'v1,x');
      desk.host = { ...desk.host, signer: { ...desk.host.signer, sign } };
    },
  ],
];

for (const [what, breakIt] of breaks)
  test(`courier: when ${what}, the event is set aside and the others are delivered`, async () => {
    const desk = new Desk();
    breakIt(desk, (name) => name === 'presence' || name === 'e2');
    desk.restart();
    desk.rows(1, 'a');
    desk.rows(1, 'a', { type: 'presence' });
    desk.add(desk.rows(1, 'a'));
    await settle();
    assert.equal(desk.order, 'e1 e3');
    assert.deepEqual([desk.crashes, desk.setAside], [[], 1]);
    assert.deepEqual(
      desk.failures.map(({ eventId, error, statusCode, attempts }) => [eventId, error, statusCode, attempts]),
      [['e2', 'the event could not be rendered: no envelope', null, 0]],
    );
    const [past] = desk.world.db.archive.filter(({ dead }) => dead);
    assert.deepEqual([past?.eventId, past?.error], ['e2', 'the event could not be rendered: no envelope']);
    assert.partialDeepStrictEqual(desk.world.log.of('event.setAside')[0], { level: 'error', fields: { webhook: 'w1', event: 'presence' } });
    await desk.world.time.pass(1000);
    desk.assertQuiet();
  });

test('courier: a thousand events that cannot be rendered are set aside one after the other', async () => {
  const desk = new Desk({ inMemory: 2000 });
  desk.host = { ...desk.host, envelope: () => assert.fail('no envelope') };
  desk.restart();
  desk.add(desk.rows(1000, 'a'));
  await desk.world.time.pass(1000);
  assert.deepEqual([desk.setAside, desk.crashes.length], [1000, 0]);
  desk.assertQuiet();
});

test('courier: a row whose body no filter can read is not read again and again', async () => {
  const desk = new Desk();
  desk.webhook = { ...desk.webhook!, excludeMessages: ['fromMeYes'] };
  let posts = 0;
  const post = async () => ({ ok: true, status: 200, n: (posts += 1) }) as const;
  desk.host = { ...desk.host, receiver: { ...desk.host.receiver, post } };
  desk.restart();
  desk.rows(1, 'a', { body: '{"broken' });
  desk.add([]);
  await desk.world.time.pass(1000);
  assert.equal(posts, 1);
  desk.assertQuiet();
});

test('courier: an error that is thrown in one of its timers crashes the courier, not the process', async () => {
  const desk = new Desk();
  desk.world.receiver.answer = () => ({ ok: false, error: 'no' });
  await desk.commit(1);
  desk.host.slots.take = () => assert.fail('broken');
  await desk.world.time.pass(5000);
  assert.equal(desk.crashes.length, 1);
  assert.equal(desk.world.time.armed, 0);
});

test('journal: an event that JSON cannot represent is counted and shown to the webhooks that want it, and its message is stored', async () => {
  const stage = await staged(['r1'], {}, (world) => {
    world.hook({ id: 'w1', instanceId: 'r1' });
    world.hook({ id: 'w2', instanceId: 'r1', events: ['call'] });
    world.hook({ id: 'w3', instanceId: null });
  });
  const { world } = stage;
  world.receiver.posts.length = 0;
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  const event = (payload: Record<string, unknown>) => ({ kind: 'event', type: 'groups', lane: 'g', payload }) as const;
  stage.link().host.record([event({ n: 1 }), event(circle), event({ n: 2 })]);
  await world.time.pass(100);
  const own = world.receiver.posts.filter(({ body }) => body['EventType'] === 'groups').map(({ body }) => body['n']);
  assert.deepEqual(own, [1, 1, 2, 2], 'both webhooks get the others');
  assert.equal(stage.numbers().eventsSetAside, 1);
  assert.deepEqual(stage.numbers().workerCrashes, {});
  for (const { errors } of [await stage.gateway.webhookErrors('r1'), await stage.gateway.globalWebhookErrors()]) {
    assert.equal(errors.length, 1);
    assert.match(errors[0]?.error ?? '', /^the event could not be rendered: /);
  }
  assert.equal(world.log.of('event.setAside').length, 1);
});
