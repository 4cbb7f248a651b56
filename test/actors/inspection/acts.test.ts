/** Tests the actions of an administrator on an instance in the inspector, and the updates for other observers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ActorChanges, ActorEvent, Part, Step } from '#actors/views.ts';
import { refusalOf, staged, type Stage } from '#test/actors/stage.ts';
import { settle } from '#test/fakes/world.ts';

const by = { address: '127.0.0.1', via: 'token' } as const;

const act = (stage: Stage, event: ActorEvent, id = 'r1') => stage.world.answerOf(stage.gateway.act(id, event, by));

const stepsOf = async ({ gateway }: Stage): Promise<readonly Step[]> => {
  const actor = await gateway.actor('r1');
  return actor.ok ? actor.value.steps : [];
};

test('act: reconnect closes the connection and opens it again, and the step names an administrator', async () => {
  const stage = await staged();
  stage.letIn();
  assert.ok((await act(stage, { type: 'reconnect' })).ok);
  await stage.world.time.pass(2_000);
  assert.equal(stage.status(), 'connected');
  assert.equal(stage.opens(), 2);
  assert.deepEqual((await stepsOf(stage)).find(({ event }) => event === 'instance.reset')?.cause, { kind: 'command', by: 'admin' });
  assert.deepEqual(stage.world.log.of('inspector.asked').at(-1)?.fields, { instance: 'r1', asked: 'reconnect', ...by });
});

test('act: hibernate and wake work', async () => {
  const stage = await staged();
  assert.equal(refusalOf(await act(stage, { type: 'wake' })), 'conflict');
  const asleep = await act(stage, { type: 'hibernate' });
  assert.equal(asleep.ok && asleep.value.state, 'hibernated.asleep');
  assert.equal(stage.wanted(), 'asleep');
  stage.letIn();
  const awake = await act(stage, { type: 'wake' });
  assert.equal(awake.ok && awake.value.state, 'connected');
  assert.equal(stage.wanted(), 'online');
});

test('act: reconnect does not pair, and an unknown instance is refused', async () => {
  const stage = await staged([{ id: 'r1', wanted: 'offline', jid: '', owner: '' }]);
  assert.equal(refusalOf(await act(stage, { type: 'reconnect' })), 'conflict');
  assert.equal(refusalOf(await act(stage, { type: 'reconnect' }, 'nobody')), 'notFound');
  assert.deepEqual(
    stage.world.log.of('inspector.refused').map(({ fields }) => fields['refused']),
    ['conflict', 'notFound'],
  );
});

const partOf = async ({ gateway }: Stage, id: string): Promise<Part | undefined> => {
  const actor = await gateway.actor('r1');
  return actor.ok ? actor.value.parts.find((part) => part.id === id) : undefined;
};

let told = 0;
/** Sends an event for the webhooks of the instance, each in another group, because a failing event holds back later ones of its group. */
const tell = async (stage: Stage): Promise<void> => {
  stage.link().host.record([{ kind: 'event', type: 'groups', lane: `g${(told += 1)}`, payload: {} }]);
  await stage.world.time.pass(300);
};

test('act: an open circuit is closed, and waiting events are posted at once', async () => {
  const stage = await staged(
    ['r1'],
    {},
    (world) => void world.hook({ id: 'w1', instanceId: 'r1', url: 'https://receiver.test/secret-path' }),
  );
  const { receiver, time } = stage.world;
  receiver.answer = () => ({ ok: false, status: 500, error: 'no' });
  for (let n = 0; n < 40 && (await partOf(stage, 'courier.w1'))?.courier?.circuit.open !== true; n += 1) {
    await tell(stage);
    await time.pass(3_000);
  }
  const open = await partOf(stage, 'courier.w1');
  assert.deepEqual([open?.state, open?.courier?.host], ['trouble', 'receiver.test']);
  assert.match(open?.note ?? '', /^circuit open, probe in \d+ s$/);
  receiver.answer = () => ({ ok: true, status: 200 });
  await tell(stage);
  const posts = receiver.posts.length;
  assert.equal(refusalOf(await act(stage, { type: 'clearCircuit', webhookId: 'other' })), 'notFound');
  assert.equal(receiver.posts.length, posts);
  assert.ok((await act(stage, { type: 'clearCircuit', webhookId: 'w1' })).ok);
  await settle();
  assert.ok(receiver.posts.length > posts);
  assert.equal((await partOf(stage, 'courier.w1'))?.courier?.circuit.open, false);
});

test('act: a crashed worker restarts at once instead of after its pause', async () => {
  const stage = await staged(['r1'], {}, (world) => void world.hook({ id: 'w1', instanceId: 'r1' }));
  const { receiver, db } = stage.world;
  assert.equal(refusalOf(await act(stage, { type: 'restartWorker', worker: null })), 'conflict');
  receiver.answer = () => {
    throw new Error('not an Attempt');
  };
  await tell(stage);
  assert.deepEqual([(await partOf(stage, 'courier.w1'))?.state, (await partOf(stage, 'courier.w1'))?.crashes], ['trouble', 1]);
  receiver.answer = () => ({ ok: true, status: 200 });
  assert.ok(db.outbox.size > 0);
  assert.equal(refusalOf(await act(stage, { type: 'restartWorker', worker: 'recorder' })), 'conflict');
  assert.ok((await act(stage, { type: 'restartWorker', worker: 'courier' })).ok);
  await stage.world.time.pass(10);
  assert.equal(db.outbox.size, 0);
});

test('act: the log level applies to the instance until its end', async () => {
  const stage = await staged();
  const changed = await act(stage, { type: 'logLevel', level: 'debug', ms: 60_000 });
  const until = stage.world.time.now() + 60_000;
  assert.ok(changed.ok);
  assert.equal(changed.value.logLevel?.level, 'debug');
  assert.ok(Math.abs((changed.value.logLevel?.until ?? 0) - until) <= 200);
  await stage.world.time.pass(60_001);
  const after = await stage.gateway.actor('r1');
  assert.equal(after.ok && after.value.logLevel, null);
});

test('watch: steps of one instance are sent as they happen, and end with the instance', async () => {
  const stage = await staged(['r1', 'r2']);
  const steps: Step[] = [];
  let ends = 0;
  const watch = stage.gateway.watchSteps('r1', { onStep: (step) => void steps.push(step), onEnd: () => (ends += 1) });
  assert.ok(watch.ok);
  stage.link('r2').end(503);
  stage.link().end(503);
  await settle();
  assert.deepEqual(
    steps.map(({ n, edge }) => [n, edge]),
    [[5, 'connected>connecting.waiting']],
  );
  await stage.world.answerOf(stage.gateway.remove('r1'));
  assert.equal(ends, 1);
  assert.equal(refusalOf(stage.gateway.watchSteps('r1', { onStep: () => undefined, onEnd: () => undefined })), 'notFound');
});

test('watch: a listener that left gets nothing more', async () => {
  const stage = await staged();
  const steps: Step[] = [];
  const watch = stage.gateway.watchSteps('r1', { onStep: (step) => void steps.push(step), onEnd: () => undefined });
  if (watch.ok) watch.value();
  stage.link().end(503);
  await settle();
  assert.deepEqual(steps, []);
});

test('watch: changes of the list are gathered, come with the counts of all instances, and leave no timer armed', async () => {
  const stage = await staged(['r1', 'r2', { id: 'r3', wanted: 'asleep' }]);
  const batches: ActorChanges[] = [];
  let ends = 0;
  const leave = stage.gateway.watchActors({ onChanges: (changes) => void batches.push(changes), onEnd: () => (ends += 1) });
  stage.link('r1').end(503);
  stage.link('r2').end(403);
  await stage.world.time.pass(199);
  assert.equal(batches.length, 0);
  await stage.world.time.pass(1);
  assert.deepEqual(
    batches[0]?.rows.map(([id, row]) => [id, row?.state, row?.reason]),
    [
      ['r1', 'connecting.waiting', '503: the platform is unavailable'],
      ['r2', 'disconnected.refused', '403: the account is locked'],
    ],
  );
  assert.deepEqual(batches[0]?.counts, { connected: 0, connecting: 1, hibernated: 1, disconnected: 1, needsPerson: 1 });
  await stage.world.answerOf(stage.gateway.remove('r2'));
  await stage.world.time.pass(200);
  assert.deepEqual(
    batches.at(-1)?.rows.find(([id]) => id === 'r2'),
    ['r2', null],
  );
  const armed = stage.world.time.armed;
  leave();
  stage.link('r1').login();
  await settle();
  assert.ok(stage.world.time.armed <= armed);
  assert.equal(ends, 0);
});

test('watch: a new admin token and a stop end all observers', async () => {
  const stage = await staged();
  const ends: string[] = [];
  const look = (name: string): void => {
    stage.gateway.watchActors({ onChanges: () => undefined, onEnd: () => void ends.push(`${name} list`) });
    stage.gateway.watchSteps('r1', { onStep: () => undefined, onEnd: () => void ends.push(`${name} steps`) });
  };
  look('first');
  assert.ok((await stage.gateway.rotateAdminToken()).ok);
  assert.deepEqual(ends.toSorted(), ['first list', 'first steps']);
  look('second');
  await stage.world.answerOf(stage.gateway.stop());
  assert.deepEqual(ends.length, 4);
});
