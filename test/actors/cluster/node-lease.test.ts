/** The lease of a node that is lost: its sessions close, and the node joins again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeLease } from '#actors/cluster/node-lease.ts';
import { usualClusterPolicy } from '#actors/cluster/policy.ts';
import { FakeLeases } from '#test/fakes/leases.ts';
import { FakeLog, FakeTime } from '#test/fakes/time.ts';

test('node lease: a node that lost its lease joins again, and its log has a warning', async () => {
  const [time, log] = [new FakeTime(), new FakeLog()];
  const leases = new FakeLeases(() => time.now());
  let reachable = true;
  let made = 0;
  const lease = new NodeLease({
    store: leases.store(() => reachable),
    time,
    log,
    policy: usualClusterPolicy,
    node: { name: 'a', capacity: 1, version: '1.0.0' },
    newIncarnation: () => `incarnation ${(made += 1)}`,
    load: () => 0,
    astray: () => 0,
    renewed: () => undefined,
    ended: () => Promise.resolve(),
  });
  await lease.start();
  reachable = false;
  await time.pass(20_000);
  assert.equal(lease.incarnation, null);
  reachable = true;
  await time.pass(5_000);
  assert.notEqual(lease.incarnation, null);
  assert.deepEqual(
    log.of('node.lost').map(({ level }) => level),
    ['warn'],
  );
  await lease.stop();
});
