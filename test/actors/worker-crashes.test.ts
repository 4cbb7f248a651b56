/** Tests crashes of couriers and the sweeper. They are counted, the worker restarts, and no waiting row is lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { staged } from './stage.ts';

const ok = { ok: true, status: 200 } as const;

test('courier: a crashed one restarts and delivers the waiting rows', async () => {
  const stage = await staged(['r1', 'r2'], {}, (world) => void world.hook({ id: 'w1', instanceId: 'r1' }));
  const { receiver, time, db, log } = stage.world;
  receiver.answer = () => {
    throw new Error('not an Attempt');
  };
  stage.link().host.record([{ kind: 'event', type: 'groups', lane: 'g', payload: {} }]);
  await time.pass(300);
  assert.deepEqual(stage.numbers('r1').workerCrashes, { courier: 1 });
  assert.deepEqual(stage.numbers('r2').workerCrashes, {});
  assert.partialDeepStrictEqual(log.of('worker.crashed')[0], { fields: { instance: 'r1', worker: 'courier', webhook: 'w1' } });
  const waiting = db.outbox.size;
  assert.ok(waiting > 0);
  receiver.answer = () => ok;
  await time.pass(1000);
  assert.equal(db.outbox.size, 0, 'no commit was needed');
});

test('sweeper: an unexpected error is counted as a crash, and the next round follows', async () => {
  const stage = await staged(['r1']);
  const { ports, time, log } = stage.world;
  const { tally } = ports.deliveries;
  let rounds = 0;
  ports.deliveries.tally = () => {
    rounds += 1;
    throw new Error('value out of range');
  };
  await time.pass(10_000);
  assert.deepEqual(stage.gateway.numbers().workerCrashes, { sweeper: rounds });
  assert.ok(rounds >= 1);
  ports.deliveries.tally = tally;
  await time.pass(20_000);
  assert.equal(stage.gateway.numbers().workerCrashes['sweeper'], log.of('worker.crashed').length);
  const before = rounds;
  await time.pass(30_000);
  assert.equal(rounds, before);
  await stage.gateway.stop();
  assert.equal(time.armed, 0);
});
