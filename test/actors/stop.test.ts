/** Tests a stop of the gateway. It is bounded and complete, and nothing starts while it lasts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Result, RunningGateway } from '#actors/gateway.ts';
import { settle } from '#test/fakes/time.ts';
import { options, refusalOf, staged, text, type Stage } from './stage.ts';

test('stop: storage that is away does not delay it, sockets are closed and nothing is left running', async () => {
  const stage = await staged(['r1', 'r2']);
  const { world } = stage;
  world.db.away = true;
  for (const id of ['r1', 'r2']) stage.link(id).host.record([{ kind: 'event', type: 'contacts', lane: '', payload: {} }]);
  stage.link().end(428);
  await settle();
  const began = world.time.now();
  await world.answerOf(stage.gateway.stop(), 10_000);
  assert.ok(world.time.now() - began <= 5000);
  assert.deepEqual([stage.link('r1').state, stage.link('r2').state, world.time.armed], ['closed', 'closed', 0]);
  assert.equal(world.log.of('entries.lost').length, 2);
});

test('stop: a socket that fails to close does not keep the others open', async () => {
  const stage = await staged(['r1', 'r2']);
  stage.link('r1').broken.add('close');
  await stage.world.answerOf(stage.gateway.stop(), 10_000);
  assert.deepEqual([stage.link('r2').state, stage.world.time.armed], ['closed', 0]);
});

for (const [title, seconds, left] of [
  ['an event that a receiver accepts during it is not delivered again', 1, 0],
  ['a receiver that does not reply delays it by some seconds only', 3600, 1],
] as const) {
  test(`stop: ${title}`, async () => {
    const stage = await staged(['r1'], {}, (world) => void world.hook({ id: 'w1', instanceId: 'r1', events: ['contacts'] }));
    const { world } = stage;
    world.receiver.answer = () =>
      new Promise((resolve) => void world.time.setTimeout(() => resolve({ ok: true, status: 200 }), seconds * 1000));
    stage.link().host.record([{ kind: 'event', type: 'contacts', lane: 'a', payload: {} }]);
    await world.time.pass(100);
    assert.deepEqual([world.receiver.posts.length, world.db.outbox.size], [1, 1]);
    stage.link().host.record([{ kind: 'event', type: 'contacts', lane: 'b', payload: {} }]);
    const began = world.time.now();
    await world.answerOf(stage.gateway.stop(), 10_000);
    assert.ok(world.time.now() - began <= 5000);
    assert.deepEqual([world.receiver.posts.length, world.db.outbox.size], [1, left + 1], 'what came last waits for the next start');
  });
}

/* ---------- what comes during a stop ---------- */

/** Begins a stop that takes a while because the socket of `r2` closes slowly. */
const stopping = async (stage: Stage): Promise<() => Promise<void>> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  stage.link('r2').closeGate = promise;
  const stopped = stage.gateway.stop();
  await settle();
  return async () => {
    resolve();
    await stage.world.answerOf(stopped);
    assert.deepEqual([stage.world.time.armed, stage.link('r2').state], [0, 'closed']);
  };
};

const closedWith =
  (code: number, data?: Readonly<Record<string, string>>) =>
  async (stage: Stage): Promise<void> =>
    stage.link().end(code, data);

/** Ways to a session that has no socket. */
const resting: readonly (readonly [title: string, wanted: 'asleep' | 'online' | 'offline', rest: (stage: Stage) => Promise<void>])[] = [
  ['sleeps', 'asleep', async () => undefined],
  ['was never connected', 'offline', async () => undefined],
  ['waits for its next try', 'online', closedWith(428)],
  ['is suspended', 'online', closedWith(402, { expire: '1' })],
  ['is refused', 'online', closedWith(403)],
  [
    'crashed too often',
    'online',
    async (stage) => {
      for (let n = 0; n < 3; n += 1) {
        stage.link().host.surprise(new Error('no'));
        await stage.world.time.pass(n < 2 ? 5_000 : 14 * 60_000 + 59_000);
      }
    },
  ],
];

const calls: readonly (readonly [string, (gateway: RunningGateway) => Promise<Result<unknown>>])[] = [
  ['a connect', (gateway) => gateway.connect('r1', {})],
  ['a text', (gateway) => gateway.send('r1', text(), options)],
  ['a reset', (gateway) => gateway.reset('r1')],
];

for (const [title, wanted, rest] of resting) {
  test(`stop: a session that ${title} opens no connection any more, by itself or by a call`, async () => {
    const stage = await staged([{ id: 'r1', wanted }, 'r2']);
    stage.gateway.view('r1');
    await rest(stage);
    await settle();
    const opens = stage.opens();
    const finish = await stopping(stage);
    const answers = calls.map(([, call]) => call(stage.gateway));
    await stage.world.time.pass(2_500);
    assert.equal(stage.opens(), opens);
    await finish();
    const [connected, sent, reset] = (await stage.world.answerOf(Promise.all(answers))).map(refusalOf);
    assert.equal(connected, 'unavailable');
    assert.notEqual(sent, '');
    assert.notEqual(reset, '');
    assert.deepEqual([stage.opens(), stage.wanted()], [opens, title === 'is refused' ? 'offline' : wanted]);
    stage.world.assertKept();
  });
}

test('stop: a session that crashes during it is not opened again', async () => {
  const stage = await staged(['r1', 'r2']);
  const finish = await stopping(stage);
  stage.link().host.surprise(new Error('no'));
  await stage.world.time.pass(2_500);
  assert.equal(stage.opens(), 1);
  await finish();
});

for (const [title, call] of calls.slice(0, 2)) {
  test(`stop: ${title} that waits for a session on its way to sleep does not wake it`, async () => {
    const stage = await staged(['r1', 'r2']);
    const { promise, resolve } = Promise.withResolvers<void>();
    stage.link().closeGate = promise;
    void stage.gateway.hibernate('r1');
    await settle();
    const answer = call(stage.gateway);
    const finish = await stopping(stage);
    resolve();
    await stage.world.time.pass(100);
    assert.notEqual(refusalOf(await stage.world.answerOf(answer)), '');
    await finish();
    assert.deepEqual([stage.opens(), stage.wanted()], [1, 'asleep']);
  });
}
