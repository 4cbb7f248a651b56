/** Tests the pace of an instance: a random time between two messages of the asynchronous queue, and of no others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { options, staged, text, type Stage } from './stage.ts';

const send = (stage: Stage, body: string, asynchronous = true) =>
  stage.world.answerOf(stage.gateway.send('r1', text('551', body), { ...options, async: asynchronous }));

const paced = (msgDelayMin: number, msgDelayMax: number) => staged([{ id: 'r1', msgDelayMin, msgDelayMax }]);

/** Records the times at which messages leave, from the time of the call. */
const departures = (stage: Stage): number[] => {
  const at: number[] = [];
  stage.link().answer = () => {
    at.push(stage.world.time.now());
    return { ok: true, value: { at: stage.world.time.now() } };
  };
  return at;
};

const gaps = (at: readonly number[]): readonly number[] => at.slice(1).map((time, n) => time - (at[n] ?? 0));

test('pace: the time between two messages of the queue is random within the bounds', async () => {
  const stage = await paced(2, 4);
  const at = departures(stage);
  for (let n = 0; n < 8; n += 1) await send(stage, `${n}`);
  await stage.world.time.pass(60_000);
  assert.equal(at.length, 8);
  const found = gaps(at);
  assert.ok(
    found.every((gap) => gap >= 2_000 && gap <= 4_200),
    `${found}`,
  );
  assert.ok(new Set(found).size > 3, `always the same: ${found}`);
});

test('pace: the queue shows how many wait and when the next one leaves, and other messages do not wait', async () => {
  const stage = await paced(10, 10);
  const at = departures(stage);
  for (const body of ['one', 'two', 'three']) await send(stage, body);
  await stage.world.time.pass(1_000);
  const view = await stage.gateway.queue('r1');
  assert.deepEqual([view.pending, view.nextAt, view.processingNow], [2, (at[0] ?? 0) + 10_000, false]);
  await send(stage, 'at once', false);
  assert.equal(at.length, 2);
  await stage.world.time.pass(20_000);
  const after = await stage.gateway.queue('r1');
  assert.deepEqual([at.length, after.pending, after.nextAt], [4, 0, undefined]);
});

test('pace: a change applies at once, and waiting messages can be cancelled', async () => {
  const stage = await paced(1_000, 1_000);
  const at = departures(stage);
  for (const body of ['one', 'two', 'three']) await send(stage, body);
  await stage.world.time.pass(5_000);
  assert.equal(at.length, 1);
  await stage.world.answerOf(stage.gateway.update('r1', { msgDelayMin: 0, msgDelayMax: 0 }));
  await stage.world.time.pass(1_000);
  assert.equal(at.length, 3);
  await stage.world.answerOf(stage.gateway.update('r1', { msgDelayMin: 1_000, msgDelayMax: 1_000 }));
  for (const body of ['four', 'five', 'six']) await send(stage, body);
  await stage.world.time.pass(100);
  const cleared = await stage.world.answerOf(stage.gateway.clearQueue('r1'));
  assert.deepEqual([at.length, cleared.ok && cleared.value], [4, 2]);
});

test('pace: messages of an earlier run keep it', async () => {
  const first = await paced(30, 30);
  for (const body of ['one', 'two']) await send(first, body);
  await first.world.time.pass(1_000);
  const second = await staged([{ id: 'r1', msgDelayMin: 30, msgDelayMax: 30 }], {}, (world) => {
    for (const row of first.world.db.messages.values()) world.db.putMessage(row);
  });
  await second.world.time.pass(20_000);
  assert.equal(second.link().sent.length, 0);
  await second.world.time.pass(15_000);
  assert.deepEqual(
    second.link().sent.map((message) => message.text),
    ['two'],
  );
});
