/** Tests the loss of the lease of a node. Its sessions close, and the node joins again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeLease } from '#actors/cluster/node-lease.ts';
import { LeaseTerm } from '#actors/cluster/ownership.ts';
import { usualClusterPolicy } from '#actors/cluster/policy.ts';
import { FakeLeases } from '#test/fakes/leases.ts';
import { FakeLog, FakeTime } from '#test/fakes/time.ts';

test('node lease: a node that lost its lease joins again and logs a warning', async () => {
  const [time, log] = [new FakeTime(), new FakeLog()];
  const leases = new FakeLeases(() => time.now());
  let reachable = true;
  let made = 0;
  const term = new LeaseTerm(time, usualClusterPolicy);
  const lease = new NodeLease({
    term,
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
  assert.equal(term.incarnation, null);
  reachable = true;
  await time.pass(5_000);
  assert.notEqual(term.incarnation, null);
  assert.deepEqual(
    log.of('node.lost').map(({ level }) => level),
    ['warn'],
  );
  await lease.stop();
});

test('node lease: a second process of the name does not start while the first one renews, however far the database clock steps', async () => {
  const time = new FakeTime();
  let steps = 0;
  const leases = new FakeLeases(() => time.now() + steps);
  const terms = [new LeaseTerm(time, usualClusterPolicy), new LeaseTerm(time, usualClusterPolicy)];
  const [first, second] = terms.map(
    (term, at) =>
      new NodeLease({
        term,
        store: leases.store(),
        time,
        log: new FakeLog(),
        policy: usualClusterPolicy,
        node: { name: 'a', capacity: 1, version: '1.0.0' },
        newIncarnation: () => ['first', 'second'][at] ?? '',
        load: () => 0,
        astray: () => 0,
        renewed: () => undefined,
        ended: () => Promise.resolve(),
      }),
  );
  assert.ok(first && second);
  await first.start();
  steps = 2 * usualClusterPolicy.lease;
  const rejected = assert.rejects(second.start(), /Another node named a is running/);
  await time.pass(2 * usualClusterPolicy.lease);
  await rejected;
  assert.deepEqual(
    terms.map(({ incarnation }) => incarnation),
    ['first', null],
  );
  await first.stop();
});

test('node lease: a node that was killed is replaced after the length of its lease', async () => {
  const time = new FakeTime();
  const leases = new FakeLeases(() => time.now());
  const node = { name: 'a', incarnation: 'killed', capacity: 1, load: 0, astray: 0, draining: false, version: '1.0.0' };
  await leases.store().join(node, usualClusterPolicy.lease, null);
  const term = new LeaseTerm(time, usualClusterPolicy);
  const lease = new NodeLease({
    term,
    store: leases.store(),
    time,
    log: new FakeLog(),
    policy: usualClusterPolicy,
    node: { name: 'a', capacity: 1, version: '1.0.0' },
    newIncarnation: () => 'next',
    load: () => 0,
    astray: () => 0,
    renewed: () => undefined,
    ended: () => Promise.resolve(),
  });
  const began = time.now();
  const started = lease.start();
  await time.pass(2 * usualClusterPolicy.lease);
  await started;
  assert.equal(term.incarnation, 'next');
  assert.ok(time.now() - began >= usualClusterPolicy.lease);
  await lease.stop();
});
