/** Tests the cost of many requests for instances without an owner. The node takes the leases in batches and shares reads of leases. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LeaseLooks } from '#actors/cluster/commands.ts';
import { FakeTime } from '#test/fakes/time.ts';
import { Simulation } from './simulated.ts';

test('takes: instances that requests ask for at once are taken together', async () => {
  const simulation = new Simulation({ nodes: 0, instances: 100 });
  const { leases } = simulation;
  const batches: number[] = [];
  const makeStore = leases.store.bind(leases);
  leases.store = (...args) => {
    const store = makeStore(...args);
    return {
      ...store,
      take: (incarnation, ids, cause) => {
        batches.push(ids.length);
        return store.take(incarnation, ids, cause);
      },
    };
  };
  for (const id of simulation.instances) leases.resting.add(id);
  const { cluster } = simulation.add('a');
  await cluster.join();
  cluster.begin();
  await simulation.time.pass(1_000);
  const taken = await Promise.all(simulation.instances.map((id) => cluster.take(id)));
  assert.ok(taken.every(Boolean));
  assert.ok(batches.length <= 2, `takes of ${batches.join(', ')} instances`);
});

test('takes: a batch has no more instances than the node has room for', async () => {
  const simulation = new Simulation({ nodes: 0, instances: 20 });
  for (const id of simulation.instances) simulation.leases.resting.add(id);
  const { cluster } = simulation.add('a', 0, 7);
  await cluster.join();
  cluster.begin();
  await simulation.time.pass(1_000);
  const taken = await Promise.all(simulation.instances.map((id) => cluster.take(id)));
  assert.equal(taken.filter(Boolean).length, 7);
});

test('looks: requests for one instance share a read of its lease from the last second, and the age of the read counts', async () => {
  const time = new FakeTime();
  let looks = 0;
  const leaseOf = async () => ({ node: 'b', since: 1, heldMs: 100 * (looks += 1), leftMs: 9_000, cause: 'placed' as const });
  const shared = new LeaseLooks({ leaseOf }, time);
  const all = await Promise.all(Array.from({ length: 50 }, () => shared.of('r1')));
  assert.deepEqual([looks, all[0]?.heldMs], [1, 100]);
  await time.pass(900);
  assert.deepEqual([(await shared.of('r1'))?.heldMs, looks], [1_000, 1]);
  await shared.of('r2');
  assert.equal(looks, 2);
  await time.pass(100);
  assert.deepEqual([(await shared.of('r1'))?.heldMs, looks], [300, 3]);
});
