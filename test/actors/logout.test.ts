/** Tests a logout that fails at first because of storage, a crash or a kill: the answers of the commands, and the continuation. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Unlinked } from '#actors/views.ts';
import type { Result } from '#actors/model.ts';
import { StorageUnavailable } from '#actors/ports.ts';
import { settle } from '#test/fakes/time.ts';
import { World } from '#test/fakes/world.ts';
import { refusalOf, Stage, staged } from './stage.ts';

const asleep = { id: 'r1', wanted: 'asleep' } as const;

/** Makes the link unable to remove its credentials. Returns a function that restores it. */
const jam = (stage: Stage): (() => void) => {
  const link = stage.link();
  const { discard } = link;
  link.discard = () => Promise.reject(new StorageUnavailable('keys are still being stored'));
  return () => void (link.discard = discard);
};

/** Starts a gateway on the data that the given one has stored, as after a kill. */
async function restarted(stage: Stage): Promise<Stage> {
  const world = new World();
  for (const [id, record] of stage.world.db.instances) world.db.instances.set(id, record);
  world.platform.credentials = (id) => stage.world.platform.links.get(id)?.hasCredentials ?? false;
  const gateway = await world.start();
  const next = new Stage(world, gateway);
  await gateway.restore();
  await settle();
  return next;
}

const assertLoggedOut = (stage: Stage): void => {
  assert.deepEqual([stage.status(), stage.wanted(), stage.gateway.view('r1')?.loggedIn], ['disconnected', 'offline', false]);
  assert.deepEqual(
    stage.link().discarded.map(({ how }) => how),
    ['delete'],
  );
  stage.world.assertKept();
};

/* ---------- credentials that cannot be deleted ---------- */

test('logout: while the credentials cannot be deleted it is not answered as done, and a connect does not use them', async () => {
  const stage = await staged();
  const { world, gateway } = stage;
  const mend = jam(stage);
  const answer = await world.answerOf(gateway.disconnect('r1'), 1000);
  assert.equal(refusalOf(answer), 'unavailable');
  assert.deepEqual([stage.status(), stage.wanted(), gateway.view('r1')?.loggedIn], ['disconnected', 'unlinked', true]);
  assert.equal(refusalOf(await world.answerOf(gateway.connect('r1', {}), 1000)), 'unavailable');
  assert.deepEqual([stage.opens(), stage.wanted(), stage.news], [1, 'unlinked', ['connected']]);
  mend();
  await world.time.pass(10_000);
  assertLoggedOut(stage);
  assert.deepEqual(stage.news, ['connected', 'disconnected']);
});

for (const command of ['connect', 'disconnect'] as const) {
  test(`logout: a ${command} that arrives when storage is back finishes it at once`, async () => {
    const stage = await staged();
    const mend = jam(stage);
    await stage.world.answerOf(stage.gateway.disconnect('r1'), 1000);
    await stage.world.answerOf(stage.gateway.connect('r1', {}), 1000);
    mend();
    stage.letIn();
    const answer = await stage.world.answerOf(command === 'connect' ? stage.gateway.connect('r1', {}) : stage.gateway.disconnect('r1'), 10);
    assert.equal(refusalOf(answer), '');
    assert.equal(stage.link().discarded.length, 1);
    assert.equal(stage.status(), command === 'connect' ? 'connected' : 'disconnected');
    stage.world.assertKept();
  });
}

test('logout: after one on the phone, whose credentials cannot be set aside, a connect does not use them', async () => {
  const stage = await staged();
  const mend = jam(stage);
  stage.link().end(401);
  await settle();
  assert.equal(refusalOf(await stage.world.answerOf(stage.gateway.connect('r1', {}), 1000)), 'unavailable');
  mend();
  void stage.gateway.connect('r1', {});
  await stage.world.time.pass(1000);
  assert.deepEqual([stage.opens(), stage.status(), stage.link().discarded.at(0)?.how], [2, 'connecting', 'setAside']);
});

test('logout: an instance whose credentials cannot be deleted can be removed', async () => {
  const stage = await staged();
  jam(stage);
  assert.equal(refusalOf(await stage.world.answerOf(stage.gateway.remove('r1'), 1000)), '');
  assert.equal(stage.gateway.view('r1'), null);
});

test('logout: credentials that could not be deleted before a kill are deleted by the next start', async () => {
  const stage = await staged();
  jam(stage);
  await stage.world.answerOf(stage.gateway.disconnect('r1'), 1000);
  const next = await restarted(stage);
  next.link().end(401); // The device was unlinked before.
  await settle();
  await next.world.time.pass(100);
  assertLoggedOut(next);
});

/* ---------- interruptions ---------- */

test('logout: the next start continues an unlinking that a kill interrupted', async () => {
  const stage = await staged([asleep]);
  void stage.gateway.disconnect('r1');
  await stage.world.time.pass(1000);
  assert.equal(stage.link().state, 'open');
  const next = await restarted(stage);
  assert.deepEqual([next.status(), next.link().state, next.gateway.ready()], ['disconnected', 'open', { restored: 0, total: 0 }]);
  next.link().login();
  await next.world.time.pass(100);
  assert.equal(next.link().logouts, 1);
  assertLoggedOut(next);
});

test('logout: after a kill between the deletion and its record the next start does not log in', async () => {
  const stage = await staged([{ id: 'r1', wanted: 'unlinked' }], {}, ({ platform }) => void (platform.credentials = () => false));
  await stage.world.time.pass(100);
  assert.equal(stage.opens(), 0);
  assertLoggedOut(stage);
});

test('logout: an unlinking that a crash interrupted is continued, and the command waits for it', async () => {
  const stage = await staged([asleep]);
  const answer = stage.gateway.disconnect('r1');
  await stage.world.time.pass(1000);
  stage.link().host.surprise(new Error('a listener threw'));
  await settle();
  while (stage.link().state !== 'open') await stage.world.time.pass(100);
  assert.equal(stage.opens(), 2);
  stage.link().login();
  assert.equal(refusalOf(await stage.world.answerOf(answer, 1000)), '');
  assert.equal(stage.link().logouts, 1);
  assertLoggedOut(stage);
});

test('logout: a connect during the restart of a crashed unlinking waits for it, and pairs anew', async () => {
  const stage = await staged([asleep]);
  void stage.gateway.disconnect('r1');
  await stage.world.time.pass(1000);
  stage.link().host.surprise(new Error('a listener threw'));
  await settle();
  const connected = stage.gateway.connect('r1', {});
  while (stage.link().state !== 'open') await stage.world.time.pass(100);
  assert.equal(stage.opens(), 2);
  stage.letIn();
  stage.link().login();
  assert.equal(refusalOf(await stage.world.answerOf(connected)), '');
  assert.deepEqual([stage.opens(), stage.link().logouts, stage.link().discarded.length], [3, 1, 1]);
});

/* ---------- the answer ---------- */

const endings: readonly (readonly [title: string, happens: (stage: Stage) => Promise<void> | void, reason: RegExp])[] = [
  ['the platform took the logout', (stage) => stage.link().login(), /^$/],
  ['the phone had removed the device', (stage) => stage.link().end(401), /^$/],
  ['the platform never answered', (stage) => stage.world.time.pass(8_000), /limit/],
  ['the account is locked', (stage) => stage.link().end(403), /platform/],
  ['the gateway stopped', (stage) => stage.gateway.stop(), /stop/],
];

for (const command of ['disconnect', 'remove'] as const)
  for (const [title, happens, reason] of endings)
    test(`logout: the answer of ${command} tells whether the phone still lists the device: ${title}`, async () => {
      const stage = await staged([asleep]);
      const answer: Promise<Result<Unlinked>> = stage.gateway[command]('r1');
      await stage.world.time.pass(100);
      await happens(stage);
      const result = await stage.world.answerOf(answer, 10_000);
      assert.ok(result.ok);
      assert.match(result.value.stillLinked, reason);
    });

test('logout: the warning about the device is not repeated for the next pairing', async () => {
  const stage = await staged([asleep]);
  const first = await stage.world.answerOf(stage.gateway.disconnect('r1'));
  assert.ok(first.ok && first.value.stillLinked !== '');
  stage.letIn();
  await stage.world.answerOf(stage.gateway.connect('r1', {}));
  const second = await stage.world.answerOf(stage.gateway.disconnect('r1'));
  assert.ok(second.ok);
  assert.equal(second.value.stillLinked, '');
});
