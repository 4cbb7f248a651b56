/** Tests thrown errors. The link closes first, the instance returns, and other instances are not affected. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Policy } from '#actors/policy/policy.ts';
import type { Cell } from '#actors/session/cell.ts';
import { Supervisor } from '#actors/supervisor.ts';
import { identity } from '#test/fakes/platform.ts';
import { webhook } from '#test/fakes/records.ts';
import { settle, testPolicy, World } from '#test/fakes/world.ts';

const paired = { wanted: 'online', jid: identity.jid, owner: identity.owner } as const;

async function supervised(change: Partial<Policy> = {}, ids = ['r1', 'r2'], prepare: (world: World) => void = () => undefined) {
  const world = new World();
  prepare(world);
  for (const id of ids) world.register({ id, ...paired });
  const supervisor = new Supervisor({ ports: world.ports, policy: { ...testPolicy, ...change }, baseUrl: '' });
  await supervisor.load();
  await supervisor.restore();
  await settle();
  for (const link of world.platform.links.values()) link.login();
  await settle();
  const cell = (id: string): Cell => supervisor.cells.get(id) as Cell;
  const crash = async (id: string): Promise<void> => {
    world.platform.of(id).host.surprise(new Error('a listener threw'));
    await settle();
  };
  return { world, supervisor, cell, crash, link: world.platform.of('r1') };
}

/** Makes the root machine of `r1` throw. */
async function breakRoot(world: World): Promise<void> {
  const { log } = world;
  const error = log.error;
  log.error = (fields, event) => {
    log.error = error;
    error(fields, event);
    throw new Error('even the log is broken');
  };
  world.platform.of('r1').host.surprise(new Error('a listener threw'));
  await settle();
}

test('supervision: an unexpected error closes the link, restarts the session after a pause and affects no other instance', async () => {
  const { world, cell, crash, link } = await supervised();
  await crash('r1');
  assert.equal(link.state, 'closed');
  assert.equal(cell('r1').view.status, 'connecting');
  assert.equal(cell('r2').view.status, 'connected');
  assert.equal(link.opens.length, 1);
  await world.time.pass(499);
  assert.equal(link.opens.length, 1);
  await world.time.pass(501);
  assert.equal(link.opens.length, 2);
  link.login();
  await settle();
  assert.equal(cell('r1').view.status, 'connected');
  assert.equal(world.platform.of('r2').opens.length, 1);
  assert.equal(world.log.of('instance.crashed').length, 1);
  world.assertKept();
});

test('supervision: the link is closed before it is opened again, however long that takes', async () => {
  const { world, crash, link } = await supervised();
  const { promise, resolve } = Promise.withResolvers<void>();
  link.closeGate = promise;
  await crash('r1');
  await world.time.pass(60_000);
  assert.equal(link.opens.length, 1);
  resolve();
  await world.time.pass(1000);
  assert.equal(link.opens.length, 2);
  world.assertKept();
});

test('supervision: a link that throws in open is a crash like any other', async () => {
  const { world, cell, link } = await supervised();
  link.broken.add('open');
  link.end(428);
  await world.time.pass(1000);
  assert.equal(cell('r1').view.status, 'connecting');
  assert.equal(world.log.of('instance.crashed').length, 1);
  link.broken.clear();
  await world.time.pass(2000);
  link.login();
  await settle();
  assert.equal(cell('r1').view.status, 'connected');
  world.assertKept();
});

test('supervision: the third crash within a minute is final: failed, announced, and half-open after the cooldown', async () => {
  const { world, cell, crash, link } = await supervised();
  for (let n = 0; n < 3; n += 1) {
    await crash('r1');
    if (n < 2) {
      await world.time.pass(4000);
      link.login();
      await settle();
    }
  }
  const { view } = cell('r1');
  assert.equal(view.status, 'disconnected');
  assert.equal(view.record.lastDisconnectReason, 'crashed too often: a listener threw');
  assert.equal(view.record.lastDisconnectCause, 'crashed');
  assert.equal(view.record.wanted, 'online', 'what was asked for stays');
  assert.equal(link.opens.length, 3);
  await world.time.pass(899_000);
  assert.equal(link.opens.length, 3);
  await world.time.pass(1000);
  assert.equal(link.opens.length, 4);
  world.assertKept();
});

test('supervision: crashes that are far apart never add up', async () => {
  const { world, cell, crash, link } = await supervised();
  for (let n = 0; n < 6; n += 1) {
    await crash('r1');
    await world.time.pass(31_000);
    link.login();
    await settle();
    assert.equal(cell('r1').view.status, 'connected');
  }
});

test('supervision: connect clears a failed instance, and its crashes', async () => {
  const { world, cell, crash, link } = await supervised({ crash: { limit: 1, window: 60_000, cooldown: 900_000 } });
  await crash('r1');
  assert.equal(cell('r1').view.status, 'disconnected');
  cell('r1').send({ type: 'instance.connect', options: {} });
  await settle();
  link.login();
  await settle();
  assert.equal(cell('r1').view.status, 'connected');
  assert.equal(cell('r1').record.wanted, 'online');
  world.assertKept();
});

for (const [title, limit] of [
  ['failed', 1],
  ['being restarted', 3],
] as const) {
  test(`supervision: an unpaired instance that is ${title} still obeys connect, with its options`, async () => {
    const { world, cell, crash, link } = await supervised({ crash: { limit, window: 60_000, cooldown: 900_000 } });
    link.end(401);
    await settle();
    await crash('r1');
    const opens = link.opens.length;
    cell('r1').send({ type: 'instance.connect', options: { phone: '55' } });
    await settle();
    assert.equal(link.opens.length, opens + 1);
    assert.deepEqual(link.opens.at(-1)?.options, { phone: '55' });
    assert.equal(cell('r1').record.wanted, 'online');
    world.assertKept();
  });

  test(`supervision: disconnect of an instance that is ${title} logs out and deletes the credentials`, async () => {
    const { world, cell, crash, link } = await supervised({ crash: { limit, window: 60_000, cooldown: 900_000 } });
    await crash('r1');
    cell('r1').send({ type: 'instance.disconnect' });
    await world.time.pass(1010);
    assert.equal(link.opens.length, 2, 'once more, to unlink the device');
    link.login();
    await settle();
    assert.equal(link.logouts, 1);
    assert.equal(link.discarded.length, 1);
    assert.equal(cell('r1').view.status, 'disconnected');
    assert.equal(cell('r1').view.loggedIn, false);
    await world.time.pass(3_600_000);
    assert.equal(link.opens.length, 2);
    world.assertKept();
  });

  test(`supervision: an instance that is ${title} and is stopped stays closed`, async () => {
    const { world, cell, crash, link } = await supervised({ crash: { limit, window: 60_000, cooldown: 900_000 } });
    await crash('r1');
    cell('r1').send({ type: 'instance.stop' });
    await world.time.pass(3_600_000);
    assert.equal(link.opens.length, 1);
    assert.equal(link.logouts, 0);
    assert.equal(cell('r1').record.wanted, 'online');
  });
}

test('supervision: a disconnect during the close after a crash is executed after that close', async () => {
  const { world, cell, crash, link } = await supervised();
  const { promise, resolve } = Promise.withResolvers<void>();
  link.closeGate = promise;
  await crash('r1');
  cell('r1').send({ type: 'instance.disconnect' });
  await settle();
  assert.equal(link.logouts, 0);
  link.closeGate = null;
  resolve();
  await world.time.pass(1010);
  link.login();
  await settle();
  assert.equal(link.logouts, 1);
  assert.equal(cell('r1').view.status, 'disconnected');
  assert.equal(cell('r1').view.loggedIn, false);
  world.assertKept();
});

test('supervision: an error of an instance that is already down is reported, not counted', async () => {
  const { world, cell, crash } = await supervised();
  await crash('r1');
  await crash('r1');
  await crash('r1');
  assert.equal(cell('r1').view.status, 'connecting');
  assert.equal(world.log.of('instance.crashed').length, 3);
});

test('supervision: after an error in the root the link is closed, no old chart opens a connection, and the root restarts', async () => {
  const { world, cell, link } = await supervised();
  link.end(428); // The chart waits with a timer of its own.
  await settle();
  const waiter = cell('r1').waitFor((one) => one.view.connected, 200_000);
  await breakRoot(world);
  assert.equal(world.log.of('instance.rootCrashed').length, 1);
  assert.equal(cell('r1').view.status, 'connecting');
  assert.equal(
    cell('r1').request(async () => 1),
    null,
  );
  await world.time.pass(59_000);
  assert.equal(link.opens.length, 1);
  await world.time.pass(1000);
  assert.equal(link.opens.length, 2);
  link.login();
  await settle();
  assert.equal(cell('r1').view.status, 'connected');
  await world.time.pass(200_000);
  assert.equal(await waiter, true);
  world.assertKept();
});

test('supervision: rows in the outbox are posted after an error in the root, without another event', async () => {
  const { world, link } = await supervised({}, ['r1'], ({ db }) => db.webhooks.set('w1', { ...webhook, instanceId: 'r1' }));
  const { receiver, db, time } = world;
  receiver.answer = () => ({ ok: false, status: 500, error: 'busy' });
  link.host.record([{ kind: 'news', lane: '', news: { type: 'connection', name: 'r1', connection: { status: 'connected' } } }]);
  await settle();
  await breakRoot(world);
  assert.equal(world.log.of('instance.rootCrashed').length, 1);
  assert.ok(db.outbox.size > 0, 'a row waits');
  receiver.answer = () => ({ ok: true, status: 200 });
  // The root restarts after a minute. The session does not log in again, so it has no event.
  await time.pass(62_000);
  assert.equal(db.outbox.size, 0);
});

test('supervision: an instance that is stopped while its root is down leaves no timer', async () => {
  const { world, supervisor } = await supervised({}, ['r1']);
  await breakRoot(world);
  await world.answerOf(supervisor.stop());
  assert.equal(world.time.armed, 0);
});

/* ---------- requests ---------- */

test('request: only a live session accepts one, and its promise is the answer', async () => {
  const { cell, crash } = await supervised();
  assert.equal(await cell('r1').request(async () => 42), 42);
  await crash('r1');
  let ran = false;
  assert.equal(
    cell('r1').request(async () => (ran = true)),
    null,
  );
  assert.equal(ran, false);
});

for (const [title, task] of [
  ['rejects', () => Promise.reject(new Error('no'))],
  [
    'throws before it began',
    () => {
      throw new Error('no');
    },
  ],
] as const) {
  test(`request: a task that ${title} rejects the answer and leaves the session alone`, async () => {
    const { cell } = await supervised();
    const answer = cell('r1').request(task as () => Promise<never>);
    assert.ok(answer);
    await assert.rejects(answer, /no/);
    assert.equal(cell('r1').view.status, 'connected');
    await settle();
    assert.deepEqual(Object.keys(cell('r1').lifecycle?.children ?? {}), ['link']);
  });
}

test('request: its answer survives a crash of the chart', async () => {
  const { cell, crash } = await supervised();
  const { promise, resolve } = Promise.withResolvers<string>();
  const answer = cell('r1').request(() => promise);
  await crash('r1');
  resolve('late');
  assert.equal(await answer, 'late');
});
