/** Tests that no command hangs or stays half done during storage outages, removals, crashes and pairings that never finish. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { done } from '#actors/model.ts';
import { StorageUnavailable } from '#actors/ports.ts';
import { identity } from '#test/fakes/platform.ts';
import { settle } from '#test/fakes/time.ts';
import { World } from '#test/fakes/world.ts';
import { options, paired, refusalOf, Stage, staged, text } from './stage.ts';

const asynchronous = { ...options, async: true, payload: { async: true } };
const statusesOf = (stage: Stage): readonly string[] => [...stage.world.db.messages.values()].map((message) => message.status);

/* ---------- texts while storage is away ---------- */

for (const [title, send] of [
  ['a text', options],
  ['a text for the queue', asynchronous],
] as const) {
  test(`storage away: ${title} is refused at once, and neither sent nor stored later`, async () => {
    const stage = await staged();
    stage.world.db.away = true;
    const began = stage.world.time.now();
    for (let n = 0; n < 3; n += 1) {
      await assert.rejects(stage.world.answerOf(stage.gateway.send('r1', text(), send), 1000), StorageUnavailable);
    }
    assert.ok(stage.world.time.now() - began <= 500);
    stage.world.db.away = false;
    await stage.world.time.pass(5000);
    assert.deepEqual([statusesOf(stage), stage.link().sent], [[], []]);
    assert.ok((await stage.world.answerOf(stage.gateway.send('r1', text(), send))).ok);
  });
}

test('storage away: a text that was stored although the reply was lost becomes Failed and is not sent after a restart', async () => {
  const stage = await staged();
  const { journal } = stage.world;
  const commit = journal.commit.bind(journal);
  journal.commit = async (...args) => {
    await commit(...args);
    journal.commit = commit;
    throw new StorageUnavailable('the answer was lost');
  };
  await assert.rejects(stage.world.answerOf(stage.gateway.send('r1', text(), asynchronous), 1000), StorageUnavailable);
  await stage.world.time.pass(1000);
  assert.deepEqual([statusesOf(stage), stage.link().sent], [['Failed'], []]);
});

test('storage away: a text whose frame left is answered as Sent, and its status is stored when storage is back', async () => {
  const stage = await staged();
  stage.link().answer = () => {
    stage.world.db.away = true;
    return done({ at: stage.world.time.now() });
  };
  const sent = await stage.world.answerOf(stage.gateway.send('r1', text(), options), 1000);
  assert.ok(sent.ok && sent.value.status === 'Sent');
  assert.deepEqual(statusesOf(stage), ['Queued']);
  stage.world.db.away = false;
  await stage.world.time.pass(1000);
  assert.deepEqual(statusesOf(stage), ['Sent']);
});

test('storage away: a text whose read receipts cannot be read from storage is neither sent nor stored', async () => {
  const stage = await staged();
  const sending = stage.gateway.send('r1', text(), { ...options, delay: 1000, readChat: true });
  await stage.world.time.pass(500);
  stage.world.db.away = true;
  await assert.rejects(stage.world.answerOf(sending), StorageUnavailable);
  stage.world.db.away = false;
  await stage.world.time.pass(1000);
  assert.deepEqual([statusesOf(stage), stage.link().sent], [[], []]);
});

test('storage away: clearing the queue answers', async () => {
  const stage = await staged();
  stage.link().answer = () => Promise.withResolvers<never>().promise;
  for (const body of ['one', 'two', 'three']) await stage.world.answerOf(stage.gateway.send('r1', text('551', body), asynchronous));
  stage.world.db.away = true;
  assert.deepEqual(await stage.world.answerOf(stage.gateway.clearQueue('r1'), 1000), { ok: true, value: 2 });
  stage.world.db.away = false;
  await stage.world.time.pass(1000);
  assert.deepEqual(statusesOf(stage).toSorted(), ['Canceled', 'Canceled', 'Queued']);
});

/* ---------- removal ---------- */

test('remove: if the last statement fails, the instance can be used or removed again', async () => {
  const stage = await staged();
  const { instances } = stage.world.ports;
  const remove = instances.remove;
  instances.remove = () => Promise.reject(new StorageUnavailable('away'));
  await assert.rejects(stage.world.answerOf(stage.gateway.remove('r1')), StorageUnavailable);
  assert.equal(stage.status(), 'disconnected');
  stage.letIn();
  assert.ok((await stage.world.answerOf(stage.gateway.connect('r1', {}))).ok);
  await stage.world.time.pass(1000);
  assert.ok((await stage.world.answerOf(stage.gateway.send('r1', text(), options))).ok);
  instances.remove = remove;
  assert.ok((await stage.world.answerOf(stage.gateway.remove('r1'))).ok);
  assert.deepEqual([stage.gateway.view('r1'), stage.world.db.instances.size], [null, 0]);
  stage.world.assertKept();
});

test('remove: while storage is away it fails before anything is undone', async () => {
  const stage = await staged();
  stage.world.db.away = true;
  await assert.rejects(stage.world.answerOf(stage.gateway.remove('r1')), StorageUnavailable);
  assert.deepEqual([stage.status(), stage.link().logouts], ['connected', 0]);
});

/* ---------- restore ---------- */

test('restore: a send within the first minute waits for the starting session, and a later send is answered at once', async () => {
  const world = new World();
  for (const id of ['r1', 'r2']) world.register({ id, ...paired });
  const gateway = await world.start();
  await gateway.restore();
  await world.time.pass(50_000);
  const waiting = gateway.send('r1', text(), options);
  await world.time.pass(9_000);
  world.platform.of('r1').login();
  assert.equal((await world.answerOf(waiting, 1_000)).ok, true);
  await world.time.pass(2_000);
  const late = await world.answerOf(gateway.send('r2', text(), options), 100);
  assert.equal(late.ok ? '' : late.refusal.reason, 'notSent');
});

test('restore: the most recently active sessions start first, whichever instances were read before', async () => {
  const world = new World();
  for (const [n, lastActiveAt] of [3, 1, 4, 2].entries()) world.register({ id: `r${n}`, ...paired, lastActiveAt });
  const gateway = await world.start({ handshakes: { atOnce: 1, perSecond: 100 } });
  const stage = new Stage(world, gateway);
  assert.deepEqual([...new Set(gateway.all().map((view) => view.status))], ['connecting']);
  assert.equal(gateway.view('r1')?.loggedIn, true);
  assert.equal(gateway.view('none'), null);
  stage.letIn();
  await gateway.restore();
  await world.time.pass(1000);
  const order = [...world.platform.links.values()].toSorted((a, b) => (a.opens[0]?.at ?? 0) - (b.opens[0]?.at ?? 0));
  assert.deepEqual(
    order.map((link) => link.host.id),
    ['r2', 'r0', 'r3', 'r1'],
  );
});

/* ---------- pairing ---------- */

for (const [code, wanted] of [
  [403, 'offline'],
  [401, 'offline'],
  [402, 'offline'],
] as const) {
  test(`connect: after a ${code} the instance is stored as not in use, and a connect works again`, async () => {
    const stage = await staged();
    stage.link().end(code);
    await stage.world.time.pass(100);
    assert.deepEqual([stage.status(), stage.wanted()], ['disconnected', wanted]);
    for (let n = 0; n < 2; n += 1) {
      const opens = stage.link().opens.length;
      void stage.gateway.connect('r1', {});
      await stage.world.time.pass(2000);
      assert.deepEqual([stage.status(), stage.wanted(), stage.link().opens.length], ['connecting', 'online', opens + 1]);
      stage.link().login();
      await stage.world.time.pass(100);
      assert.equal(stage.status(), 'connected');
      if (n === 0) stage.link().end(code);
      await stage.world.time.pass(100);
    }
    stage.world.assertKept();
  });
}

for (const [title, abandon] of [
  ['runs out', (stage: Stage) => stage.world.time.pass(120_000)],
  ['crashes', async (stage: Stage) => stage.link().host.surprise(new Error('no'))],
  ['is cut short by a stop', (stage: Stage) => stage.world.answerOf(stage.gateway.stop())],
] as const) {
  test(`pairing: one that ${title} is neither retried nor started again after a restart`, async () => {
    const stage = await staged([{ id: 'r1', jid: '', owner: '', wanted: 'offline' }]);
    void stage.gateway.connect('r1', {});
    await settle();
    stage.link().say({ type: 'platform.handshaken' }, { type: 'platform.qr', qr: 'QR' });
    await stage.world.time.pass(100);
    await abandon(stage);
    await stage.world.time.pass(3_600_000);
    assert.equal(stage.link().opens.length, 1);
    const next = new World();
    next.register({ ...(stage.world.db.instances.get('r1') ?? { id: 'r1' }) });
    const gateway = await next.start();
    assert.deepEqual(gateway.ready(), { restored: 0, total: 0 });
    await gateway.restore();
    await next.time.pass(10_000);
    assert.deepEqual([gateway.view('r1')?.status, next.platform.opens.length], ['disconnected', 0]);
  });
}

test('connect: a connect that finds no free place keeps the stored wish of the instance', async () => {
  const stage = await staged(
    [
      { id: 'r1', wanted: 'asleep' },
      { id: 'r2', wanted: 'offline' },
    ],
    { maxConnected: 1 },
  );
  const results = await Promise.all(['r2', 'r1'].map((id) => stage.world.answerOf(stage.gateway.connect(id, {}))));
  await stage.world.time.pass(100);
  assert.deepEqual(results.map(refusalOf), ['', 'capped']);
  assert.equal(stage.wanted('r1'), 'asleep');
});

/* ---------- half-open ---------- */

test('failed: after the cooldown there is one try, which fails at once if it crashes and resets the count if it succeeds', async () => {
  const stage = await staged();
  const crash = async (): Promise<void> => {
    stage.link().host.surprise(new Error('a listener threw'));
    await settle();
  };
  stage.letIn();
  for (let n = 0; n < 3; n += 1) {
    await crash();
    if (n < 2) await stage.world.time.pass(5000);
  }
  for (let n = 0; n < 2; n += 1) {
    assert.equal(stage.status(), 'disconnected');
    await stage.world.time.pass(900_000);
    assert.equal(stage.status(), 'connected');
    await crash();
  }
  assert.equal(stage.status(), 'disconnected');
  await stage.world.time.pass(961_000);
  assert.equal(stage.status(), 'connected');
  await crash();
  assert.equal(stage.status(), 'connecting', 'a minute later it counts from the beginning');
  assert.equal(identity.jid, stage.gateway.view('r1')?.record.jid);
  stage.world.assertKept();
});
