/** Tests the quality metrics in the log: one line per interval, with totals and without names. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { staged, type Stage } from './stage.ts';

const minute = 60_000;
const numbersEvery = minute;

const lines = (stage: Stage) => stage.world.log.of('service.numbers');
const last = (stage: Stage): Readonly<Record<string, unknown>> => lines(stage).at(-1)?.fields ?? {};

/** Waits until a line is written that covers the time before the call. */
const nextLine = async (stage: Stage): Promise<Readonly<Record<string, unknown>>> => {
  await stage.world.time.pass(minute);
  return last(stage);
};

test('figures: the log has one line per interval, from the start to the stop', async () => {
  const stage = await staged(['r1'], { numbersEvery });
  const { length } = lines(stage);
  await stage.world.time.pass(3 * minute);
  assert.equal(lines(stage).length, length + 3);
  assert.deepEqual([...new Set(lines(stage).map(({ level }) => level))], ['info']);
  await stage.world.answerOf(stage.gateway.stop());
  await stage.world.time.pass(3 * minute);
  assert.equal(lines(stage).length, length + 3);
});

for (const policy of [{}, { numbersEvery: 0 }])
  test(`figures: no line is written with ${JSON.stringify(policy)}`, async () => {
    const stage = await staged(['r1'], policy);
    await stage.world.time.pass(10 * minute);
    assert.deepEqual(lines(stage), []);
  });

test('figures: a line has sums over all instances, and the worst value where a sum has no meaning', async () => {
  const asleep = { id: 'r3', wanted: 'asleep' } as const;
  const stage = await staged(['r1', 'r2', asleep, { id: 'r4', wanted: 'offline' }], { numbersEvery });
  const quiet = await nextLine(stage);
  assert.deepEqual([quiet['registered'], quiet['connected'], quiet['hibernated'], quiet['disconnected'], quiet['failed']], [4, 2, 1, 1, 0]);
  assert.deepEqual([quiet['attempts'], quiet['opened'], quiet['closes']], [2, 2, {}]);
  stage.letIn();
  const seen = stage.world.time.now();
  stage.link('r1').lastFrameAt = () => seen - 10 * minute;
  stage.link('r2').lastFrameAt = () => seen;
  stage.link('r1').end(428);
  stage.link('r2').end(428);
  await stage.world.time.pass(2_000);
  stage.link('r2').end(500);
  const struck = await nextLine(stage);
  assert.deepEqual([struck['attempts'], struck['opened'], struck['connected']], [5, 5, 2]);
  assert.deepEqual(struck['closes'], { connectionLost: 2, unknownError: 1 });
  assert.ok(Number(struck['lastFrameAgeMs']) > 10 * minute);
  assert.equal(struck['longestReconnectMs'], Math.max(...['r1', 'r2'].map((id) => stage.numbers(id).longestReconnectMs)));
  const woken = stage.gateway.connect('r3', {});
  await stage.world.answerOf(woken);
  assert.deepEqual([(await nextLine(stage))['wakes'], last(stage)['hibernated']], [1, 0]);
});

test('figures: a line counts crashes and the instances that were stopped because of them', async () => {
  const stage = await staged(['r1', 'r2'], { numbersEvery, crash: { limit: 3, window: minute, cooldown: 10 * minute } });
  stage.letIn();
  for (let crash = 0; crash < 3; crash += 1) {
    stage.link('r1').host.surprise(new Error('no'));
    await stage.world.time.pass(2_000);
  }
  const { crashes, failed, disconnected, connected } = await nextLine(stage);
  assert.deepEqual({ crashes, failed, disconnected, connected }, { crashes: 3, failed: 1, disconnected: 1, connected: 1 });
  assert.equal(stage.gateway.numbers().failed, 1);
});

test('figures: a line has the last count of waiting deliveries', async () => {
  const stage = await staged(['r1'], { numbersEvery }, (world) => {
    world.hook({ id: 'w1', instanceId: 'r1', enabled: true, events: ['connection'] });
    world.receiver.answer = () => ({ ok: false, error: 'nobody there' });
  });
  const { outboxWaiting, outboxParked } = await nextLine(stage);
  assert.equal(Number(outboxWaiting) + Number(outboxParked), stage.world.db.outbox.size);
  assert.ok(stage.world.db.outbox.size > 0);
});

test('figures: a line names no instance, and has the same length for one instance as for many', async () => {
  const one = await staged(['r1'], { numbersEvery });
  const names = Array.from({ length: 40 }, (_, n) => `somebody-${n}`);
  const many = await staged(names, { numbersEvery });
  const line = await nextLine(many);
  assert.deepEqual(Object.keys(line), Object.keys(await nextLine(one)));
  const told = JSON.stringify(line);
  assert.ok(told.length < 600, `${told.length} characters`);
  for (const { id, token, name, owner } of many.world.db.instances.values())
    for (const secret of [id, token, name, owner]) assert.ok(secret === '' || !told.includes(secret), `the line holds ${secret}`);
});
