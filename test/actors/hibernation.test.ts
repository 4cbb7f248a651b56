/** Tests sleeping and waking: by command, when idle, on use and by schedule, each with the stored wish, the events and the counts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { done } from '#actors/model.ts';
import type { Outcome } from '#actors/ports.ts';
import type { Result, RunningGateway } from '#actors/gateway.ts';
import { message as sampleMessage } from '#test/contract/samples.ts';
import { Hibernation, hibernationSweeps } from '#actors/session/hibernation.ts';
import { supervisedWorkers } from '#actors/policy/supervised-workers.ts';
import { testPolicy } from '#test/fakes/world.ts';
import { options, refusalOf, staged, text } from './stage.ts';

const hour = 3_600_000;
const asleep = { id: 'r1', wanted: 'asleep' } as const;
const sleepy = { hibernation: { after: 600_000, wakeEvery: 1000 * hour, drain: 10_000 } };
const scheduled = { hibernation: { after: 0, wakeEvery: 24 * hour, drain: 10_000 } };

test('hibernation: the command closes the session, keeps its credentials, and is stored and announced', async () => {
  const stage = await staged();
  const { world, gateway } = stage;
  const answer = await world.answerOf(gateway.hibernate('r1'));
  assert.ok(answer.ok && answer.value.status === 'hibernated');
  await world.time.pass(100);
  assert.deepEqual([stage.link().state, stage.link().logouts, stage.wanted()], ['closed', 0, 'asleep']);
  assert.deepEqual(stage.news, ['connected', 'hibernated']);
  assert.ok((await gateway.hibernate('r1')).ok, 'once more changes nothing');
  await world.time.pass(2 * hour);
  assert.equal(stage.link().opens.length, 1);
  assert.equal(stage.numbers().hibernatedMs, 2 * hour + 100);
  world.assertKept();
});

test('hibernation: a check that throws counts as a crash, and the next checks follow', async () => {
  const { world } = await staged();
  const policy = { after: 0, wakeEvery: hour, drain: 10_000 };
  let looks = 0;
  const room = (): number => {
    looks += 1;
    if (looks === 2) throw new Error('a fault');
    return 0;
  };
  const workers = supervisedWorkers(world.ports, testPolicy, {});
  const sleepers = { cells: new Map(), resting: () => [], cell: () => null };
  const hibernation = new Hibernation({ ports: world.ports, policy, room });
  const sweeps = hibernationSweeps({ hibernation, sleepers, ports: world.ports, policy, workers });
  sweeps.start();
  await world.time.pass(5 * 60_000);
  sweeps.stop();
  assert.ok(looks > 3, String(looks));
  assert.equal(workers.crashes['hibernation'], 1);
});

test('hibernation: a session that is not connected cannot hibernate', async () => {
  const { gateway } = await staged([{ id: 'r1', wanted: 'offline' }]);
  assert.equal(refusalOf(await gateway.hibernate('r1')), 'notSent');
});

test('hibernation: an idle session hibernates, and one with traffic does not', async () => {
  const stage = await staged(['r1', 'r2'], sleepy);
  for (let n = 0; n < 4; n += 1) {
    await stage.world.time.pass(200_000);
    stage
      .link('r2')
      .host.record([
        { kind: 'message', message: { ...sampleMessage, messageId: `m${n}` }, chat: { chatId: sampleMessage.chatId }, unread: true },
      ]);
  }
  assert.deepEqual([stage.status('r1'), stage.wanted('r1')], ['hibernated', 'asleep']);
  assert.deepEqual([stage.status('r2'), stage.wanted('r2')], ['connected', 'online']);
  stage.world.assertKept();
});

test('hibernation: no session hibernates while a text is being sent or waits', async () => {
  const stage = await staged(['r1', 'r2'], sleepy);
  const never = Promise.withResolvers<never>();
  stage.link('r1').answer = () => never.promise;
  stage.link('r2').answer = () => never.promise;
  void stage.gateway.send('r1', text(), options);
  await stage.world.answerOf(stage.gateway.send('r2', text(), { ...options, async: true, payload: { async: true } }));
  await stage.world.time.pass(3 * 600_000);
  assert.deepEqual([stage.status('r1'), stage.status('r2')], ['connected', 'connected']);
});

const needs: readonly (readonly [string, (gateway: RunningGateway) => Promise<Result<unknown>>])[] = [
  ['connect', (gateway) => gateway.connect('r1', {})],
  ['a text', (gateway) => gateway.send('r1', text(), options)],
  ['presence', (gateway) => gateway.presence('r1', 'available')],
];

for (const [title, call] of needs) {
  test(`hibernation: ${title} wakes the session, which then is wanted online`, async () => {
    const stage = await staged([asleep]);
    stage.letIn();
    await stage.world.time.pass(hour);
    const answer = await stage.world.answerOf(call(stage.gateway));
    assert.ok(answer.ok);
    await stage.world.time.pass(100);
    assert.deepEqual([stage.status(), stage.wanted(), stage.numbers().wakes], ['connected', 'online', 1]);
    assert.ok(Math.abs(stage.numbers().hibernatedMs - hour) < 5000);
    assert.deepEqual(stage.news, ['connected']);
    stage.world.assertKept();
  });

  test(`hibernation: at the cap ${title} wakes no session and is refused for now`, async () => {
    const stage = await staged(['r2', asleep], { maxConnected: 1 });
    const answer = await stage.world.answerOf(call(stage.gateway));
    assert.equal(refusalOf(answer), 'capped');
    await stage.world.time.pass(hour);
    assert.deepEqual([stage.status(), stage.wanted(), stage.numbers().wakes], ['hibernated', 'asleep', 0]);
  });
}

test('hibernation: simultaneous calls wake the session once, and all of them wait', async () => {
  const stage = await staged([asleep]);
  const calls = [1, 2, 3].map((n) => stage.gateway.send('r1', text(`55${n}`), options));
  await stage.world.time.pass(2000);
  const late = stage.gateway.send('r1', text('559'), options);
  await stage.world.time.pass(1000);
  stage.link().login();
  const results = await Promise.all([...calls, late].map((call) => stage.world.answerOf(call)));
  assert.deepEqual(results.map(refusalOf), ['', '', '', '']);
  assert.deepEqual([stage.numbers().wakes, stage.link().opens.length], [1, 1]);
  stage.world.assertKept();
});

test('hibernation: of two sessions that wake at once for the last place one is refused', async () => {
  const stage = await staged([asleep, { ...asleep, id: 'r2' }], { maxConnected: 1 });
  stage.letIn();
  const results = await Promise.all(['r1', 'r2'].map((id) => stage.world.answerOf(stage.gateway.presence(id, 'available'))));
  assert.deepEqual(results.map(refusalOf).toSorted(), ['', 'capped']);
  await stage.world.time.pass(100);
  assert.deepEqual([stage.status('r1'), stage.status('r2')].toSorted(), ['connected', 'hibernated']);
  assert.deepEqual([stage.wanted('r1'), stage.wanted('r2')].toSorted(), ['asleep', 'online']);
});

test('hibernation: a wake that takes too long is reported and goes on trying, and a refusal is reported at once', async () => {
  const stage = await staged([asleep]);
  const { time } = stage.world;
  const began = time.now();
  const slow = await stage.world.answerOf(stage.gateway.send('r1', text(), options));
  assert.deepEqual([refusalOf(slow), stage.status(), time.now() - began], ['notSent', 'connecting', 20_000]);
  await stage.world.answerOf(stage.gateway.reset('r1'));
  assert.equal(refusalOf(await stage.world.answerOf(stage.gateway.send('r1', text(), options), 1000)), 'notSent');

  const other = await staged([asleep]);
  const refused = other.gateway.send('r1', text(), options);
  await other.world.time.pass(10);
  other.link().end(403);
  assert.equal(refusalOf(await other.world.answerOf(refused, 1000)), 'notSent');
});

test('hibernation: by schedule a session wakes, receives waiting messages and hibernates again, and stays wanted asleep', async () => {
  const stage = await staged([asleep], scheduled);
  const { world } = stage;
  world.platform.onOpen = (link) =>
    queueMicrotask(() => {
      link.login();
      link.host.record([{ kind: 'message', message: sampleMessage, chat: { chatId: sampleMessage.chatId }, unread: true }]);
    });
  await world.time.pass(24 * hour - 61_000);
  assert.equal(stage.opens(), 0);
  await world.time.pass(122_000);
  assert.equal(stage.opens(), 1);
  await world.time.pass(100_000);
  assert.deepEqual([stage.status(), stage.wanted(), world.db.messages.size], ['hibernated', 'asleep', 1]);
  assert.deepEqual(stage.news, ['connected', 'hibernated']);
  await world.time.pass(24 * hour);
  assert.deepEqual([stage.link().opens.length, stage.numbers().wakes], [2, 2]);
  assert.ok(stage.numbers().hibernatedMs > 47 * hour);
  world.assertKept();
});

test('hibernation: a call while a scheduled session drains keeps it awake, also over a restart', async () => {
  const stage = await staged([asleep], scheduled);
  stage.letIn();
  await stage.world.time.pass(24 * hour);
  while (stage.status() !== 'connected') await stage.world.time.pass(1000);
  assert.equal(stage.wanted(), 'asleep');
  assert.ok((await stage.world.answerOf(stage.gateway.send('r1', text(), options))).ok);
  await stage.world.time.pass(hour);
  assert.deepEqual([stage.status(), stage.wanted()], ['connected', 'online']);
});

test('hibernation: the schedule respects the cap, and tries again when there is room', async () => {
  const stage = await staged(['r2', asleep], { ...scheduled, maxConnected: 1 });
  stage.letIn();
  await stage.world.time.pass(26 * hour);
  assert.deepEqual([stage.opens('r1'), stage.numbers('r1').wakes], [0, 0]);
  await stage.world.answerOf(stage.gateway.disconnect('r2'));
  await stage.world.time.pass(61_000);
  assert.equal(stage.opens('r1'), 1);
});

test('hibernation: sessions that are due and find no room are logged once an hour, and their rows have the reason', async () => {
  const stage = await staged(['r0', asleep, { ...asleep, id: 'r2' }], { ...scheduled, maxConnected: 1 });
  const { world, gateway } = stage;
  stage.letIn();
  const reasons = async (): Promise<readonly string[]> => {
    const rows = await Promise.all(['r0', 'r1', 'r2'].map((id) => gateway.actor(id)));
    return rows.map((row) => (row.ok ? row.value.reason : 'unknown'));
  };
  const logged = (): readonly unknown[] => world.log.of('sessions.notWoken').map(({ fields }) => fields['waiting']);
  await world.time.pass(23 * hour);
  assert.deepEqual([logged(), await reasons()], [[], ['', '', '']]);
  await world.time.pass(3.5 * hour);
  const noRoom = 'the session is due to wake, and waits until fewer instances than MAX_CONNECTED_INSTANCES are connected';
  assert.deepEqual(
    [logged(), await reasons()],
    [
      [2, 2, 2],
      ['', noRoom, noRoom],
    ],
  );
  await world.answerOf(gateway.disconnect('r0'));
  await world.time.pass(10 * 60_000);
  assert.deepEqual([logged().length, stage.opens('r1'), stage.opens('r2')], [3, 1, 1]);
  assert.deepEqual(await reasons(), ['', '', '']);
});

test('hibernation: sessions that wake a few at each check are not logged while there is room', async () => {
  const sleepers = Array.from({ length: 350 }, (_, n) => ({ ...asleep, id: `r${n}` }));
  const stage = await staged(sleepers, { ...scheduled, maxConnected: 10_000, handshakes: { atOnce: 5000, perSecond: 5000 } });
  stage.letIn();
  await stage.world.time.pass(25 * hour);
  assert.ok(stage.opens('r349') > 0);
  assert.deepEqual(stage.world.log.of('sessions.notWoken'), []);
  await stage.gateway.stop();
  assert.deepEqual(stage.world.log.of('sessions.notWoken'), []);
});

test('hibernation: of many sessions that are due at once some wake at each check, none twice', async () => {
  const sleepers = Array.from({ length: 350 }, (_, n) => ({ ...asleep, id: `r${n}` }));
  const wide = { maxConnected: 10_000, handshakes: { atOnce: 5000, perSecond: 5000 } };
  const stage = await staged(sleepers, { ...scheduled, ...wide });
  stage.letIn();
  const opens = (): number => sleepers.reduce((sum, { id }) => sum + stage.opens(id), 0);
  for (let n = 0; n < 3000 && opens() === 0; n += 1) await stage.world.time.pass(30_000);
  assert.ok(opens() < sleepers.length, `${opens()} woke at one look`);
  await stage.world.time.pass(10 * 60_000);
  assert.equal(opens(), sleepers.length);
});

test('hibernation: disconnect of a hibernated session logs out and ends the hibernation', async () => {
  const stage = await staged([asleep]);
  await stage.world.time.pass(hour);
  assert.ok((await stage.world.answerOf(stage.gateway.disconnect('r1'))).ok);
  const { hibernatedMs } = stage.numbers();
  await stage.world.time.pass(hour);
  assert.deepEqual([stage.status(), stage.wanted(), stage.numbers().hibernatedMs], ['disconnected', 'offline', hibernatedMs]);
});

test('hibernation: accepted messages leave before the session hibernates', async () => {
  const stage = await staged();
  const sent = Promise.withResolvers<Outcome<{ readonly at: number }>>();
  stage.link().answer = () => sent.promise;
  await stage.world.answerOf(stage.gateway.send('r1', text(), { ...options, async: true, payload: { async: true } }));
  const slept = stage.gateway.hibernate('r1');
  await stage.world.time.pass(100);
  assert.equal(stage.status(), 'connected');
  sent.resolve(done({ at: stage.world.time.now() }));
  assert.ok((await stage.world.answerOf(slept)).ok);
  assert.equal(stage.status(), 'hibernated');
});

test('hibernation: a text that arrives while the session closes for hibernation wakes it', async () => {
  const stage = await staged();
  stage.letIn();
  const slept = stage.gateway.hibernate('r1');
  const answers = [1, 2, 3].map(() => stage.gateway.send('r1', text(), options));
  const results = await stage.world.answerOf(Promise.all(answers));
  assert.deepEqual(
    results.map(({ ok }) => ok),
    [true, true, true],
  );
  await stage.world.answerOf(slept);
  stage.world.assertKept();
});

test('hibernation: a start wakes a hibernated session for queued messages of an earlier run', async () => {
  const left = {
    ...sampleMessage,
    messageId: 'left',
    fromMe: true,
    status: 'Queued',
    timestamp: 0,
    queuedSend: { send: null, delay: 0, readChat: false, readMessages: false },
  } as const;
  const stage = await staged([asleep], {}, (world) => {
    world.db.putMessage({ ...left, instanceId: 'r1', unread: false });
  });
  assert.deepEqual([stage.link().opens.length, stage.wanted()], [1, 'asleep']);
  assert.equal((await stage.gateway.queue('r1')).pending, 0);
  assert.equal(stage.link().sent.length, 1);
});
