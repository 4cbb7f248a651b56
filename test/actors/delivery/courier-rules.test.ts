/** Tests a courier's rules for signatures, dead letters, changes of the configuration and shared slots. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Webhook } from '#actors/model.ts';
import type { DeliveryPolicy } from '#actors/policy/policy.ts';
import type { Attempt } from '#actors/ports.ts';
import { Slots } from '#actors/policy/pacing.ts';
import { signer } from '#src/webhooks/receiver.ts';
import { webhook as sample } from '#test/fakes/records.ts';
import { CourierDesk as Desk, no } from '#test/fakes/courier-desk.ts';
import { settle } from '#test/fakes/world.ts';

const ok = { ok: true, status: 200 } as const;

test('courier: it signs with the current secret and sends the current headers of the webhook', async () => {
  const desk = new Desk();
  desk.webhook = { ...sample, secret: signer.make(), headers: { Authorization: 'Bearer x' } };
  await desk.commit(1);
  const [post] = desk.world.receiver.posts;
  const stamp = Math.floor(desk.start / 1000);
  assert.deepEqual(post?.headers, {
    Authorization: 'Bearer x',
    'webhook-id': 'e1',
    'webhook-timestamp': String(stamp),
    'webhook-signature': signer.sign(desk.webhook.secret, 'e1', stamp, JSON.stringify(post?.body)),
  });
  desk.webhook = sample;
  await desk.commit(1);
  assert.deepEqual(Object.keys(desk.world.receiver.posts[1]?.headers ?? {}), ['webhook-id', 'webhook-timestamp']);
});

test('courier: delivered and dead rows are kept with their outcome, unless the setting turns this off', async () => {
  const desk = new Desk({ slow: [] });
  desk.world.receiver.answer = ({ headers }) => (headers['webhook-id'] === 'e2' ? no(500) : ok);
  await desk.commit(1, 'a');
  await desk.commit(1, 'b');
  await desk.world.time.pass(10_000);
  const ended = desk.world.db.archive.map(({ seq, dead, attempts, status, error }) => ({ seq, dead, attempts, status, error }));
  assert.deepEqual(ended, [
    { seq: 1, dead: false, attempts: 1, status: 200, error: '' },
    { seq: 2, dead: true, attempts: 3, status: 500, error: 'said 500' },
  ]);
  const plain = new Desk({ slow: [], kept: { rows: 10, delivered: 0, dead: 0 } });
  await plain.commit(3);
  assert.deepEqual([plain.stored, plain.world.db.archive.length], [0, 0]);
});

test('courier: waiting rows that a changed webhook does not want any more are removed', async () => {
  const desk = new Desk();
  const body = (fromMe: boolean): string => JSON.stringify({ message: { fromMe, isGroup: false, wasSentByApi: false } });
  desk.webhook = { ...sample, enabled: false };
  desk.rows(1, 'a', { type: 'presence' });
  desk.rows(1, 'b', { type: 'messages', body: body(true) });
  desk.rows(1, 'c', { type: 'messages', body: body(false) });
  desk.rows(1, 'd', { type: 'messages_update' });
  desk.webhook = { ...sample, events: ['messages', 'messages_update'], excludeMessages: ['fromMeYes'] };
  desk.changed();
  await settle();
  assert.equal(desk.order, 'e3 e4');
  desk.assertQuiet();
  assert.equal(desk.world.db.archive.length, 2);
});

test('courier: while a receiver asks for patience no other lane posts to it', async () => {
  const desk = new Desk();
  desk.world.receiver.answer = () => (desk.world.receiver.posts.length === 1 ? no(429, { retryAfter: 20 }) : ok);
  await desk.commit(1, 'a');
  await desk.commit(1, 'b');
  await desk.world.time.pass(19_000);
  assert.equal(desk.order, 'e1');
  await desk.world.time.pass(5000);
  assert.deepEqual(desk.order.split(' ').sort(), ['e1', 'e1', 'e2']);
  desk.assertQuiet();
});

test('courier: an attempt that asks for a wait of its own delays no other lane', async () => {
  const desk = new Desk();
  const unanswered: Attempt = { ok: false, error: 'no answer in time', laneAfter: 10 };
  desk.world.receiver.answer = () => (desk.world.receiver.posts.length === 1 ? unanswered : ok);
  await desk.commit(2, 'a');
  await desk.commit(1, 'b');
  await desk.world.time.pass(9_900);
  assert.equal(desk.order, 'e1 e3');
  await desk.world.time.pass(200);
  assert.equal(desk.order, 'e1 e3 e1 e2');
  desk.assertQuiet();
});

test('courier: a 410 is recorded in the error history', async () => {
  const desk = new Desk();
  desk.world.receiver.answer = () => no(410);
  await desk.commit(1);
  assert.deepEqual(
    desk.failures.map(({ eventId, attempts, statusCode }) => [eventId, attempts, statusCode]),
    [['e1', 1, 410]],
  );
});

test('courier: it waits for a slot, and sends nothing if the webhook was removed meanwhile', async () => {
  const slots = new Slots({ total: 1, perHost: 1 });
  slots.take('another.test');
  const [one, gone] = [new Desk({}, slots), new Desk({}, slots)];
  await one.commit(1);
  await gone.commit(1);
  assert.equal(one.order, '');
  gone.webhook = null;
  slots.free('another.test');
  await settle();
  assert.deepEqual([one.order, gone.order, slots.busy], ['e1', '', 0]);
});

test('courier: a probe that is not made, or throws, frees its slot', async () => {
  const failing = { circuit: { failures: 1, min: 1000, max: 1000 } };
  const slots = new Slots({ total: 1, perHost: 1 });
  const desk = new Desk(failing, slots);
  desk.circuit.judge(0, no(500), desk.world.time.now());
  await slots.take('other');
  await desk.commit(1);
  await desk.world.time.pass(2000);
  assert.equal(desk.circuit.admit(99), false, 'the probe waits for a place');
  desk.webhook = null;
  slots.free('other');
  await settle();
  assert.deepEqual([desk.posts, desk.circuit.admit(99)], ['', true]);

  const surprised = new Desk(failing);
  surprised.circuit.judge(0, no(500), surprised.world.time.now());
  surprised.world.receiver.answer = () => Promise.reject(new Error('no such thing'));
  await surprised.commit(1);
  await surprised.world.time.pass(2000);
  assert.deepEqual([surprised.crashes.length, surprised.circuit.admit(99)], [1, true]);
});

test('courier: a receiver that never replies holds fewer slots with each failure, and others are not delayed', async () => {
  const slots = new Slots({ total: 5, perHost: 100 });
  const [dead, healthy] = [new Desk({ concurrency: 4 }, slots), new Desk({ concurrency: 4 }, slots)];
  dead.world.receiver.answer = () => new Promise((resolve) => void dead.world.time.setTimeout(() => resolve(no(504)), 10_000));
  for (const lane of 'abcdefgh') await dead.commit(1, lane);
  assert.equal(slots.busy, 4);
  await healthy.commit(5, 'x');
  await healthy.commit(5, 'y');
  assert.equal(healthy.order.split(' ').length, 10);
  await dead.world.time.pass(10_000);
  assert.ok(slots.busy <= 1, `${slots.busy} places are taken by it`);
});

test('courier: rows that were dropped from the outbox are forgotten, and the pause of the receiver stays', async () => {
  const desk = new Desk({ circuit: { failures: 1, min: 60_000, max: 60_000 } });
  desk.world.receiver.answer = () => no(500);
  await desk.commit(1, 'a');
  await desk.commit(3, 'b');
  assert.equal(desk.circuit.until, desk.start + 60_000);
  desk.world.db.outbox.clear();
  desk.courier.handle({ type: 'delivery.trimmed' });
  desk.world.receiver.answer = () => ok;
  await desk.world.time.pass(59_000);
  assert.equal(desk.order, 'e1');
  await desk.world.time.pass(10_000);
  assert.ok(!desk.order.includes('e2'));
});

const changes: readonly (readonly [string, Partial<Webhook>, string])[] = [
  ['address', { url: 'http://new.test' }, 'http://new.test'],
  ['path segments', { addUrlEvents: true, addUrlTypesMessages: true }, 'http://receiver.test/hook/messages/Conversation'],
];
for (const [what, change, url] of changes)
  test(`courier: a new ${what} counts for waiting rows`, async () => {
    const desk = new Desk();
    desk.webhook = { ...sample, enabled: false };
    await desk.commit(2);
    desk.webhook = { ...sample, ...change };
    desk.changed();
    await settle();
    assert.deepEqual(
      desk.world.receiver.posts.map((post) => post.url),
      [url, url],
    );
  });

const policies: readonly Partial<DeliveryPolicy>[] = [{}, { concurrency: 1 }, { inMemory: 8 }];
for (const policy of policies)
  test(`courier: a replay is found behind the waiting rows, with its id (${JSON.stringify(policy)})`, async () => {
    const desk = new Desk(policy);
    await desk.commit(12);
    const again = (await desk.world.ports.deliveries.replay({ ...everything, limit: 5 })).reduce((sum, { count }) => sum + count, 0);
    assert.equal(again, 5);
    desk.add([]);
    await settle();
    await desk.world.time.pass(1000);
    assert.equal(desk.order.split(' ').slice(12).join(' '), 'e1 e2 e3 e4 e5');
    desk.assertQuiet();
  });

const everything = {
  owner: null,
  webhook: sample.id,
  events: null,
  types: null,
  states: ['delivered', 'dead', 'parked'],
  from: 0,
  to: Infinity,
} satisfies Partial<Parameters<Desk['world']['ports']['deliveries']['replay']>[0]>;

test('courier: a row that was taken out of the outbox while an older page was read is not sent again', async () => {
  const desk = new Desk();
  const { db } = desk.world;
  const [archived, read] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const [row] = desk.rows(1, 'chat');
  desk.add([]);
  db.holds.set('outbox.archive', archived.promise);
  await settle();
  assert.equal(desk.order, 'e1', 'it is taken, and its end is being written');
  // The page still contains the row, and arrives after the row has ended.
  db.outbox.set(1, row!);
  db.holds.set('outbox.due', read.promise);
  desk.add([]);
  await settle();
  archived.resolve();
  await settle();
  db.outbox.clear();
  db.holds.clear();
  read.resolve();
  await desk.world.time.pass(10_000);
  assert.equal(desk.order, 'e1');
  desk.assertQuiet();
});

test('courier: a row that a former address refused with 410 is posted to the new address, before later rows of its chat', async () => {
  const desk = new Desk();
  const first = Promise.withResolvers<Attempt>();
  desk.world.receiver.answer = ({ url }) => (url === sample.url ? first.promise : ok);
  desk.host.disable = () => undefined; // The answer came from the former address, so the webhook stays enabled.
  await desk.commit(3);
  desk.webhook = { ...sample, url: 'http://new.test/hook' };
  desk.changed();
  await settle();
  first.resolve(no(410));
  await settle();
  assert.equal(desk.order, 'e1 e1 e2 e3');
  desk.assertQuiet();
});

test('courier: rows that are committed during a doubt about the lease are posted after the doubt', async () => {
  const desk = new Desk();
  let isSure = false;
  desk.host.owns = () => isSure;
  await desk.commit(2);
  await desk.world.time.pass(5_000);
  assert.equal(desk.order, '');
  isSure = true;
  await desk.world.time.pass(1_000);
  assert.equal(desk.order, 'e1 e2');
  desk.assertQuiet();
});

test('courier: a retry that falls into a doubt about the lease is made after the doubt, before later rows of the chat', async () => {
  const desk = new Desk();
  let isSure = true;
  desk.host.owns = () => isSure;
  desk.world.receiver.answer = () => no(500);
  await desk.commit(2);
  isSure = false;
  await desk.world.time.pass(5_000);
  assert.equal(desk.order, 'e1');
  desk.world.receiver.answer = () => ok;
  isSure = true;
  await desk.world.time.pass(1_000);
  assert.equal(desk.order, 'e1 e1 e2');
  desk.assertQuiet();
});
