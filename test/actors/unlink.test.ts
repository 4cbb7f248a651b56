/** Tests disconnect and delete of sessions that are not connected. The device is unlinked first, within a limit, and the command always succeeds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Result } from '#actors/gateway.ts';
import { refusalOf, staged, type Stage } from './stage.ts';

const asleep = { id: 'r1', wanted: 'asleep' } as const;
const idle = { id: 'r1', wanted: 'offline' } as const;

const commands = {
  disconnect: (stage: Stage): Promise<Result<unknown>> => stage.gateway.disconnect('r1'),
  remove: (stage: Stage): Promise<Result<unknown>> => stage.gateway.remove('r1'),
} as const;

const stillLinked = (stage: Stage): number => stage.world.log.of('session.stillLinked').length;

const assertDone = (stage: Stage, name: keyof typeof commands): void => {
  const link = stage.link();
  assert.deepEqual([link.state, link.discarded.map(({ how }) => how)], ['closed', ['delete']]);
  if (name === 'remove') assert.deepEqual([stage.gateway.view('r1'), stage.world.db.instances.has('r1')], [null, false]);
  else assert.deepEqual([stage.status(), stage.wanted(), stage.gateway.view('r1')?.loggedIn], ['disconnected', 'offline', false]);
  stage.world.assertKept();
};

for (const [name, command] of Object.entries(commands) as [keyof typeof commands, (stage: Stage) => Promise<Result<unknown>>][]) {
  for (const record of [asleep, idle]) {
    test(`unlink: ${name} of one that is wanted ${record.wanted} logs in to log out, and is shown as disconnected meanwhile`, async () => {
      const stage = await staged([record]);
      const answer = command(stage);
      await stage.world.time.pass(1000);
      assert.deepEqual([stage.status(), stage.link().state], ['disconnected', 'open']);
      stage.link().login();
      assert.ok((await stage.world.answerOf(answer, 1000)).ok);
      assert.deepEqual([stage.link().opens.length, stage.link().logouts, stillLinked(stage)], [1, 1, 0]);
      assertDone(stage, name);
    });

    test(`unlink: ${name} of one that is wanted ${record.wanted} succeeds at the limit when the platform does not answer`, async () => {
      const stage = await staged([record]);
      const began = stage.world.time.now();
      assert.ok((await stage.world.answerOf(command(stage))).ok);
      const took = stage.world.time.now() - began;
      assert.ok(took >= 8_000 && took <= 8_200, `${took} ms`);
      assert.equal(stillLinked(stage), 1);
      assertDone(stage, name);
    });
  }

  test(`unlink: ${name} of an instance that was never paired opens nothing and waits for nothing`, async () => {
    const stage = await staged([{ id: 'r1', wanted: 'offline', jid: '', owner: '' }]);
    assert.ok((await stage.world.answerOf(command(stage), 0)).ok);
    assert.deepEqual([stage.opens(), stillLinked(stage)], [0, 0]);
    assertDone(stage, name);
  });

  test(`unlink: ${name} at the cap of connected instances is not refused, and unlinks`, async () => {
    const stage = await staged(['r2', asleep], { maxConnected: 1 });
    stage.letIn();
    assert.ok((await stage.world.answerOf(command(stage), 1000)).ok);
    assert.deepEqual([stage.link().logouts, stillLinked(stage), stage.status('r2')], [1, 0, 'connected']);
    assertDone(stage, name);
  });

  test(`unlink: ${name} behind the barrier of an outage succeeds at the limit`, async () => {
    const ids = ['r2', 'r3', 'r4', 'r5', 'r6'];
    const stage = await staged([...ids, asleep]);
    for (const id of ids) stage.link(id).end(503);
    assert.equal(stage.gateway.numbers().barrier, 'outage');
    // One of the sessions tries and gets no answer. The others wait for it.
    while (ids.every((id) => stage.link(id).state === 'closed')) await stage.world.time.pass(100);
    assert.ok((await stage.world.answerOf(command(stage), 9_000)).ok);
    assert.deepEqual([stage.opens(), stillLinked(stage)], [0, 1]);
    assertDone(stage, name);
  });

  test(`unlink: ${name} that is under way when the gateway stops is finished by the stop, which does not wait for the platform`, async () => {
    const stage = await staged([asleep]);
    const { world } = stage;
    const answer = command(stage);
    await world.time.pass(1000);
    const link = stage.link();
    assert.equal(link.state, 'open');
    const discard = link.discard.bind(link);
    link.discard = (...how) => new Promise((resolve) => void world.time.setTimeout(() => resolve(discard(...how)), 500));
    const began = world.time.now();
    await world.answerOf(Promise.all([answer, stage.gateway.stop()]), 1000);
    assert.ok(world.time.now() - began <= 600, `${world.time.now() - began} ms`);
    assert.deepEqual([world.time.armed, stillLinked(stage)], [0, 1]);
    assert.deepEqual([stage.link().state, stage.link().discarded.length], ['closed', 1]);
    assert.equal(world.db.instances.get('r1')?.jid ?? '', '');
    world.assertKept();
  });
}

test('unlink: a stop ends although storage hangs, and the waiting command is answered as not done', async () => {
  const stage = await staged([asleep]);
  const answer = stage.gateway.disconnect('r1');
  await stage.world.time.pass(1000);
  stage.link().discard = () => Promise.withResolvers<never>().promise;
  await stage.world.answerOf(stage.gateway.stop(), 4_000);
  assert.equal(refusalOf(await stage.world.answerOf(answer, 4_000)), 'unavailable');
  assert.equal(stage.wanted(), 'unlinked', 'the next start takes it up');
});

test('unlink: a login that only unlinks a device also shows that an outage is over', async () => {
  const ids = ['r2', 'r3', 'r4', 'r5', 'r6'];
  const stage = await staged([...ids, asleep]);
  for (const id of ids) stage.link(id).end(503);
  assert.equal(stage.gateway.numbers().barrier, 'outage');
  const answer = stage.gateway.disconnect('r1');
  while (stage.opens() === 0) await stage.world.time.pass(100);
  assert.ok(
    ids.every((id) => stage.link(id).state === 'closed'),
    'it is the one that tries',
  );
  stage.link().login();
  assert.ok((await stage.world.answerOf(answer, 1000)).ok);
  assert.equal(stage.gateway.numbers().barrier, '');
});

test('unlink: a connect meanwhile waits, and begins a new pairing', async () => {
  const stage = await staged([asleep]);
  const disconnected = stage.gateway.disconnect('r1');
  await stage.world.time.pass(100);
  const connected = stage.gateway.connect('r1', {});
  await stage.world.time.pass(100);
  assert.equal(stage.opens(), 1);
  stage.letIn();
  stage.link().login();
  await stage.world.answerOf(Promise.all([disconnected, connected]));
  assert.deepEqual([stage.link().logouts, stage.opens(), stage.status()], [1, 2, 'connected']);
  stage.world.assertKept();
});

test('unlink: a second disconnect and a delete meanwhile get the answer of the first, and the device is unlinked once', async () => {
  const stage = await staged([asleep]);
  const answers = [stage.gateway.disconnect('r1')];
  await stage.world.time.pass(100);
  answers.push(stage.gateway.disconnect('r1'));
  const removed = stage.gateway.remove('r1');
  await stage.world.time.pass(100);
  stage.link().login();
  const [first, second] = await stage.world.answerOf(Promise.all(answers), 1000);
  assert.ok(first?.ok && second?.ok);
  assert.ok((await stage.world.answerOf(removed, 1000)).ok);
  assert.deepEqual([stage.opens(), stage.gateway.view('r1')], [1, null]);
  stage.world.assertKept();
});

test('unlink: while an instance is being deleted a second delete gets the same answer, and other commands answer not found', async () => {
  const stage = await staged([asleep]);
  const { gateway, world } = stage;
  const removals = [gateway.remove('r1')];
  await world.time.pass(100);
  removals.push(gateway.remove('r1'));
  const others = [gateway.connect('r1', {}), gateway.disconnect('r1'), gateway.update('r1', { name: 'late' })];
  await world.time.pass(100);
  stage.link().login();
  assert.deepEqual((await world.answerOf(Promise.all(removals), 1000)).map(refusalOf), ['', '']);
  assert.deepEqual((await world.answerOf(Promise.all(others), 1000)).map(refusalOf), ['notFound', 'notFound', 'notFound']);
  assert.deepEqual([stage.opens(), world.db.instances.size], [1, 0]);
  assert.equal(stage.news.filter((status) => status === 'disconnected').length, 1);
  world.assertKept();
});
