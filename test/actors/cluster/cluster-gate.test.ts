/** Tests the limit of handshakes across all nodes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterGate } from '#actors/cluster/cluster-gate.ts';
import { createGate } from '#actors/policy/gate.ts';
import { StorageUnavailable } from '#actors/ports.ts';
import { FakeTime, settle } from '#test/fakes/time.ts';
import { quietLog } from '#test/support/database.ts';

const room = (grants: readonly (number | Error)[]) => {
  const time = new FakeTime();
  const asked: number[] = [];
  const given = [...grants];
  const admit = async (count: number): Promise<number> => {
    asked.push(count);
    const next = given.shift() ?? 0;
    if (next instanceof Error) throw next;
    return Math.min(next, count);
  };
  const own = createGate({ atOnce: 3, perSecond: 100 }, time);
  const gate = new ClusterGate({ own, store: { admit }, rate: { perSecond: 5, burst: 5 }, time, log: quietLog, random: () => 1 });
  const entered: string[] = [];
  const refused: string[] = [];
  const ask = (id: string): AbortController => {
    const controller = new AbortController();
    gate.admit(id, controller.signal).then(
      () => entered.push(id),
      () => refused.push(id),
    );
    return controller;
  };
  return { time, gate, own, asked, entered, refused, ask };
};

test('cluster gate: sessions that the local gate has admitted ask together, and start as slots are granted', async () => {
  const { time, gate, asked, entered, ask } = room([0, 2, 1]);
  for (const id of 'abcd') ask(id);
  await settle();
  assert.deepEqual(asked, [1]);
  assert.equal(gate.waiting, 4);
  await time.pass(1_000);
  assert.deepEqual(asked, [1, 3, 1]);
  assert.deepEqual(entered, ['a', 'b', 'c']);
  assert.equal(time.armed, 0, 'nobody asks for a session that waits for the own gate');
});

test('cluster gate: a session that gives up leaves both queues, and its slot goes to another one', async () => {
  const { gate, entered, refused, ask, time } = room([0, 0, 3]);
  const [first] = [...'abcd'].map((id) => ask(id));
  await settle();
  first?.abort(new Error('gone'));
  await settle();
  assert.deepEqual(refused, ['a']);
  await time.pass(2_000);
  assert.deepEqual(entered, ['b', 'c', 'd']);
  assert.equal(gate.waiting, 0);
});

test('cluster gate: it asks less often while no slot is granted, and grants nothing while the database is away', async () => {
  const { time, asked, entered, ask } = room([new StorageUnavailable('away'), new Error('odd'), 0, 0, 0, 0, 0, 0, 1]);
  ask('a');
  await time.pass(3_000);
  const before = asked.length;
  await time.pass(2_000);
  assert.equal(asked.length - before, 1);
  await time.pass(10_000);
  assert.deepEqual(entered, ['a']);
});

test('cluster gate: release, passed and the barrier behave as in the local gate', async () => {
  const { gate, own, ask, time, entered } = room([9, 9, 9, 9]);
  gate.raise('outage', 'x');
  assert.equal(gate.barrier, 'outage');
  for (const id of 'ab') ask(id);
  await time.pass(10_000);
  assert.deepEqual(entered, ['a']);
  gate.passed('a');
  assert.equal(own.barrier, '');
  await time.pass(1_000);
  assert.deepEqual(entered, ['a', 'b']);
});
