/** Tests the history of the steps of an instance: each step once, with its cause, across crashes, within its bound. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ActorDetail, Step } from '#actors/views.ts';
import { closeTexts, reactions } from '#actors/policy/close-cause.ts';
import { charts } from '#actors/session/charts.ts';
import { chartNames } from '#actors/views/inspector.ts';
import { staged, type Stage } from '#test/actors/stage.ts';
import { settle } from '#test/fakes/world.ts';

const detailOf = async ({ gateway }: Stage, id = 'r1'): Promise<ActorDetail> => {
  const found = await gateway.actor(id);
  assert.ok(found.ok);
  return found.value;
};

/** Returns each step as `from>to event`, with its cause. */
const told = (steps: readonly Step[]) => steps.map(({ from, to, event, cause }) => [`${from}>${to} ${event}`, cause]);

test('steps: a login has the steps start, admission, transport and login, and requests and profile changes add none', async () => {
  const stage = await staged();
  const { link, world } = { link: stage.link(), world: stage.world };
  assert.deepEqual(
    (await detailOf(stage)).steps.map(({ edge, event }) => `${edge} ${event}`),
    [
      'beginning>connecting start',
      'connecting.admission>connecting.opening done.admission',
      'connecting.opening>connecting.authenticating platform.handshaken',
      'connecting.authenticating>connected platform.opened',
    ],
  );
  link.say({ type: 'platform.identity', patch: { profileName: 'New' } });
  await settle();
  assert.equal((await detailOf(stage)).steps.length, 4);
  world.assertKept();
});

test('steps: a close has its code, its verdict and the pause, and the timer names its length', async () => {
  const stage = await staged();
  stage.link().end(503);
  await settle();
  const before = await detailOf(stage);
  assert.deepEqual(
    [before.state, before.status, before.reason, before.cause, before.failures],
    ['connecting.waiting', 'connecting', '503: the platform is unavailable', 'connectionLost', 1],
  );
  const close = before.steps.at(-1)?.cause;
  assert.ok(close?.kind === 'close');
  assert.deepEqual([close.code, close.cause, close.reaction], [503, 'connectionLost', 'backOff']);
  assert.ok(close.retryInMs > 0 && Math.abs((before.retryAt ?? 0) - before.since - close.retryInMs) <= 50);
  await stage.world.time.pass(close.retryInMs + 100);
  const timer = (await detailOf(stage)).steps.find(({ event }) => event === 'after.retryDelay');
  assert.ok(timer?.cause.kind === 'timer');
  assert.deepEqual([timer.cause.delay, Math.abs(timer.cause.ms - close.retryInMs) <= 100], ['retryDelay', true]);
});

test('steps: a restart that the platform requests during opening is a step from the state to itself', async () => {
  const stage = await staged();
  stage.link().end(428);
  await stage.world.time.pass(2_000);
  assert.equal((await detailOf(stage)).state, 'connecting.opening');
  stage.link().end(515);
  await settle();
  assert.deepEqual((await detailOf(stage)).steps.at(-1)?.edge, 'connecting.opening>connecting.opening');
});

test('steps: commands name their sender', async () => {
  const stage = await staged();
  await stage.gateway.hibernate('r1');
  assert.deepEqual(told((await detailOf(stage)).steps.slice(-2)), [
    ['connected>hibernated.closing instance.hibernate', { kind: 'command', by: 'api' }],
    ['hibernated.closing>hibernated.asleep done.closing', { kind: 'worker', src: 'closing', ok: true }],
  ]);
  stage.letIn();
  await stage.gateway.perform('r1', 'account.presence', { presence: 'available' });
  const wake = (await detailOf(stage)).steps.find(({ from }) => from === 'hibernated.asleep');
  assert.deepEqual(wake?.cause, { kind: 'command', by: 'call' });
});

test('steps: a crash has the name of the error without its text, and the steps survive the crash', async () => {
  const stage = await staged();
  stage.link().host.surprise(new TypeError('token 5511999999999'));
  await settle();
  const crashed = await detailOf(stage);
  assert.deepEqual(told(crashed.steps.filter(({ cause }) => cause.kind === 'crash')), [
    ['running>recovering link.surprised', { kind: 'crash', error: 'TypeError' }],
  ]);
  assert.deepEqual([crashed.state, crashed.root, crashed.status, crashed.cause], ['crashed', 'restarting', 'connecting', 'crashed']);
  stage.letIn();
  await stage.world.time.pass(2_000);
  const { steps, state, crashes } = await detailOf(stage);
  assert.deepEqual([state, crashes, steps[0]?.n], ['connected', 1, 1]);
  assert.ok(!JSON.stringify(await detailOf(stage)).includes('5511999999999'));
});

test('steps: the last hundred are kept, with continued numbers, the newest last', async () => {
  const stage = await staged(['r1'], { restarts: { limit: 1000, window: 1 } });
  stage.letIn();
  for (let n = 0; n < 60; n += 1) {
    stage.link().end(515);
    await stage.world.time.pass(1_000);
  }
  const { steps } = await detailOf(stage);
  assert.equal(steps.length, 100);
  const numbers = steps.map(({ n }) => n);
  assert.deepEqual(
    numbers,
    Array.from({ length: 100 }, (_, index) => (numbers[0] ?? 0) + index),
  );
  assert.equal(steps.at(-1)?.to, 'connected');
  assert.deepEqual(
    new Set(steps.map(({ event }) => event)),
    new Set(['platform.closed', 'done.admission', 'platform.handshaken', 'platform.opened']),
  );
});

test('steps: a resting instance has none, and reading them creates no actor', async () => {
  const stage = await staged([{ id: 'r1', wanted: 'asleep' }]);
  const { steps, root, state, status, hour } = await detailOf(stage);
  assert.deepEqual([steps, root, state, status], [[], 'resting', 'hibernated.asleep', 'hibernated']);
  assert.match(hour, /^\.+h+$/);
  assert.equal(stage.opens(), 0);
  assert.equal((await stage.gateway.actor('nobody')).ok, false);
});

test('steps: every verdict on a close fits the bits that a step has for it', () => {
  assert.ok(closeTexts.size <= 2 ** 13 && reactions.length <= 8);
  assert.ok(chartNames.flatMap((name) => charts[name].states).length < 255);
});
