/** Tests a cluster on simulated time: no storm, no session on two nodes, few moves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { usualClusterPolicy } from '#actors/cluster/policy.ts';
import { Simulation, type SimulationOptions } from './simulated.ts';

const started = async (options: SimulationOptions): Promise<Simulation> => {
  const simulation = new Simulation(options);
  await simulation.start();
  return simulation;
};

/** Advances the time by single seconds until every instance has its session. Returns the seconds. */
const untilAll = async ({ time, logins }: Simulation, count: number, most: number): Promise<number> => {
  for (let seconds = 0; seconds <= most; seconds += 1) {
    if (logins.size === count) return seconds;
    await time.pass(1000);
  }
  return assert.fail(`${logins.size} of ${count} sessions after ${most} seconds`);
};

test('cluster: 100 nodes bring 100,000 sessions back without a storm, spread evenly', async () => {
  const perSecond = 2_000;
  const simulation = await started({
    nodes: 100,
    instances: 100_000,
    policy: { admission: { perSecond, burst: perSecond }, lookEvery: 5_000, takenAtOnce: 1_000 },
  });
  await untilAll(simulation, 100_000, 200);
  assert.equal(simulation.opened, 100_000, 'each was opened once');
  assert.ok(Math.max(...simulation.perSecond.values()) <= 2 * perSecond);
  assert.ok(Math.min(...simulation.loads) > 800 && Math.max(...simulation.loads) < 1_200, simulation.loads.join(' '));
  // Four nodes of a hundred read all free instances at each interval, however many nodes there are.
  const reads = simulation.leases.freeReads;
  await simulation.time.pass(25_000);
  const looks = 25_000 / simulation.policy.lookEvery;
  assert.ok(simulation.leases.freeReads - reads <= 5 * looks, `${simulation.leases.freeReads - reads} reads in ${looks} intervals`);
  // One node dies. Its share returns on other nodes, and no other session moves.
  const lost = simulation.loads[0]!;
  simulation.node(0).kill();
  await simulation.time.pass(35_000);
  assert.equal(simulation.logins.size, 100_000);
  assert.equal(simulation.opened, 100_000 + lost);
});

const small = { nodes: 3, instances: 300 };

test('cluster: the sessions of a killed node are back within 35 seconds', async () => {
  const simulation = await started({ ...small, instances: 600, policy: { admission: { perSecond: 100, burst: 100 } } });
  await untilAll(simulation, 600, 60);
  const lost = simulation.loads[1]!;
  simulation.node(1).kill();
  assert.ok((await untilAll(simulation, 600, 35)) <= 35);
  assert.equal(simulation.opened, 600 + lost);
});

test('cluster: a node that joins gets its share, a few sessions a second, and nothing moves twice', async () => {
  const simulation = await started(small);
  await untilAll(simulation, 300, 60);
  const node = simulation.add('late');
  await node.start();
  for (let second = 0; second < 60; second += 1) {
    const before = simulation.opened;
    await simulation.time.pass(1000);
    assert.ok(simulation.opened - before <= 3 * simulation.policy.movesPerSecond, 'as many as the three give away');
  }
  assert.equal(simulation.logins.size, 300);
  assert.ok(node.size > 45 && node.size < 105, String(node.size));
  assert.equal(simulation.opened, 300 + node.size);
});

for (const bus of [true, false])
  test(`cluster: sessions that move to a node which joins twenty are down for seconds only (${bus ? 'with' : 'without'} a bus)`, async () => {
    const admission = { perSecond: 400, burst: 400 };
    const simulation = await started({ nodes: 20, instances: 4_000, bus, policy: { admission } });
    await untilAll(simulation, 4_000, 60);
    Object.assign(admission, usualClusterPolicy.admission);
    simulation.longestDown = 0;
    const node = simulation.add('late');
    await node.start();
    for (let second = 0; second < 40; second += 1) {
      await simulation.time.pass(1000);
      assert.ok(4_000 - simulation.logins.size <= 40, `${4_000 - simulation.logins.size} sessions are down after ${second} s`);
    }
    assert.ok(node.size > 150, String(node.size));
    assert.equal(simulation.logins.size, 4_000);
    assert.ok(simulation.longestDown <= 3_000, `${simulation.longestDown} ms`);
    assert.equal(simulation.opened, 4_000 + node.size, 'nothing moves twice');
  });

test('cluster: a drained node gives everything away and takes nothing', async () => {
  const simulation = await started(small);
  await untilAll(simulation, 300, 60);
  const node = simulation.node(2);
  await node.cluster.drain();
  await simulation.time.pass(30_000);
  assert.equal(node.size, 0);
  assert.equal(simulation.logins.size, 300);
  await node.cluster.stop();
  assert.equal(simulation.leases.leases.size, 300);
});

for (const bus of [true, false])
  test(`cluster: of three nodes that drain at once each keeps what a small fourth has no room for (${bus ? 'with' : 'without'} a bus)`, async () => {
    const simulation = await started({ nodes: 3, instances: 30, bus });
    await untilAll(simulation, 30, 60);
    const little = simulation.add('small', 0, 4);
    await little.start();
    await simulation.time.pass(20_000);
    const former = [...simulation.nodes.values()].filter((node) => node !== little);
    await Promise.all(former.map((node) => node.cluster.drain()));
    // Without a bus several nodes may send a session to the same place. A session without room is taken back.
    const away = bus ? 4 : 20;
    for (let tenths = 0; tenths < 400; tenths += 1) {
      await simulation.time.pass(100);
      assert.ok(simulation.logins.size >= 30 - away, `${simulation.logins.size} after ${tenths}`);
      assert.ok(little.ownership.owned.size <= 4, 'no more than it has room for');
    }
    assert.equal(simulation.logins.size, 30);
    assert.equal(simulation.leases.leases.size, 30);
    assert.equal(little.size, 4);
    if (bus) assert.equal(simulation.opened, 34, 'none left in vain');
    // New room is used.
    await simulation.add('large', 0, 100).start();
    await simulation.time.pass(30_000);
    assert.deepEqual(
      former.map(({ size }) => size),
      [0, 0, 0],
    );
    assert.equal(simulation.logins.size, 30);
  });

test('cluster: the last node keeps its sessions while it drains', async () => {
  const simulation = await started({ nodes: 1, instances: 50 });
  await untilAll(simulation, 50, 60);
  await simulation.node(0).cluster.drain();
  await simulation.time.pass(30_000);
  assert.equal(simulation.logins.size, 50);
});

test('cluster: a node that cannot renew closes everything before others take over, and returns with new leases', async () => {
  const simulation = await started(small);
  await untilAll(simulation, 300, 60);
  const cutOff = simulation.node(0);
  const epochs = new Map(cutOff.ownership.owned);
  assert.ok(epochs.size > 0);
  cutOff.reachable = false;
  await simulation.time.pass(12_500);
  assert.equal(cutOff.size, 0);
  assert.ok([...simulation.logins.values()].every((node) => node !== cutOff));
  // `login` fails the test when a session is on two nodes.
  await simulation.time.pass(30_000);
  assert.equal(simulation.logins.size, 300);
  cutOff.reachable = true;
  await simulation.time.pass(60_000);
  assert.equal(simulation.logins.size, 300);
  assert.ok(cutOff.size > 0);
  for (const [id, epoch] of cutOff.ownership.owned) assert.ok(epoch > (epochs.get(id) ?? 0));
});

test('cluster: while sessions close at the end of a lease, waiting entries are stored under the lease, and no command reopens a session', async () => {
  const simulation = await started(small);
  await untilAll(simulation, 300, 60);
  const cutOff = simulation.node(0);
  const ids = [...cutOff.ownership.owned.keys()];
  cutOff.reachable = false;
  while (cutOff.ownership.lease.incarnation !== null) await simulation.time.pass(100);
  assert.equal(cutOff.size, ids.length, 'they are still closing');
  assert.deepEqual(
    ids.filter((id) => cutOff.ownership.owns(id)),
    [],
  );
  assert.ok(ids.every((id) => cutOff.ownership.mayAct(id)));
  await simulation.time.pass(500);
  assert.equal(cutOff.ownership.owned.size, 0);
});

test('cluster: a session that closed at the end of a lease is not reopened while others still close', async () => {
  const simulation = await started(small);
  await untilAll(simulation, 300, 60);
  const cutOff = simulation.node(0);
  const [slow] = [...cutOff.ownership.owned.keys()];
  assert.ok(slow);
  cutOff.slow = slow;
  cutOff.reachable = false;
  while (cutOff.ownership.lease.incarnation !== null) await simulation.time.pass(100);
  await simulation.time.pass(500);
  assert.equal(cutOff.size, 1);
  assert.equal(cutOff.write(), 0);
  assert.deepEqual([...cutOff.ownership.owned.keys()], [slow]);
});

test('cluster: a database outage for all nodes closes every session, and every session returns', async () => {
  const simulation = await started(small);
  await untilAll(simulation, 300, 60);
  for (const node of simulation.nodes.values()) node.reachable = false;
  await simulation.time.pass(60_000);
  assert.equal(simulation.logins.size, 0);
  for (const node of simulation.nodes.values()) node.reachable = true;
  await untilAll(simulation, 300, 60);
});

test('cluster: an outage of the database that is shorter than a lease closes nothing', async () => {
  const simulation = await started(small);
  await untilAll(simulation, 300, 60);
  for (const node of simulation.nodes.values()) node.reachable = false;
  await simulation.time.pass(5_000);
  for (const node of simulation.nodes.values()) node.reachable = true;
  await simulation.time.pass(30_000);
  assert.equal(simulation.opened, 300);
  assert.equal(simulation.logins.size, 300);
});

test('cluster: a process that was paused for a minute writes no frame when it continues', async () => {
  const simulation = await started(small);
  await untilAll(simulation, 300, 60);
  const node = simulation.node(0);
  const had = node.size;
  assert.equal(node.write(), had);
  node.clock.stopped = true;
  await simulation.time.pass(60_000);
  assert.equal(simulation.logins.size, 300, 'the others have its sessions');
  assert.equal(node.write(), 0, 'before any of its timers has rung');
  node.clock.continue();
  assert.equal(node.write(), 0);
  await simulation.time.pass(60_000);
  assert.equal(simulation.logins.size, 300);
  assert.ok(node.write() > 0);
});

test('cluster: clocks an hour apart change nothing', async () => {
  const simulation = new Simulation({ nodes: 1, instances: 200 });
  simulation.add('early', -3_600_000);
  simulation.add('late', 3_600_000);
  await simulation.start();
  await untilAll(simulation, 200, 60);
  await simulation.time.pass(120_000);
  assert.equal(simulation.opened, 200);
  assert.ok(simulation.loads.every((load) => load > 20));
});

for (const [way, hours] of [
  ['ahead', 1],
  ['back', -1],
] as const)
  test(`cluster: a clock that is set ${way} while the node runs costs no session, and writing goes on at once`, async () => {
    const simulation = await started(small);
    await untilAll(simulation, 300, 60);
    const node = simulation.node(0);
    node.clock.wrongBy = hours * 3_600_000;
    const before = node.write();
    assert.ok(before === 0 || before === node.size);
    await simulation.time.pass(100);
    assert.equal(node.write(), node.size);
    await simulation.time.pass(60_000);
    assert.equal(simulation.opened, 300);
  });

test('cluster: a second node of the same name is refused at once, and one after a kill waits for the end of the lease', async () => {
  const simulation = await started(small);
  await simulation.time.pass(3_000);
  const rival = assert.rejects(simulation.add('node-1').start(), /Another node named node-1 is running/);
  await simulation.time.pass(6_000);
  await rival;
  simulation.node(0).kill();
  let joined = false;
  void simulation
    .add('node-0')
    .start()
    .then(() => (joined = true));
  await simulation.time.pass(9_000);
  assert.equal(joined, false);
  await simulation.time.pass(8_000);
  assert.equal(joined, true);
});

test('cluster: instances beyond the room of all nodes stay without an owner, and no session moves because of them', async () => {
  const simulation = await started({ nodes: 3, instances: 300, capacity: 50 });
  await simulation.time.pass(120_000);
  assert.equal(simulation.logins.size, 150);
  assert.equal(simulation.opened, 150);
});

for (const seed of [1, 2, 3, 4, 5, 6])
  test(`cluster: an hour of faults never leads to two logins (seed ${seed})`, async () => {
    const simulation = await started({
      nodes: 5,
      instances: 200,
      capacity: 400,
      seed,
      policy: { admission: { perSecond: 200, burst: 200 } },
    });
    const { random, time } = simulation;
    let made = 0;
    const faults: readonly ((node: ReturnType<Simulation['node']>) => Promise<void> | void)[] = [
      (node) => void (node.reachable = !node.reachable),
      (node) => (node.clock.stopped ? node.clock.continue() : void (node.clock.stopped = true)),
      (node) => void node.cluster.drain().catch(() => undefined),
      async (node) => {
        node.kill();
        await simulation.add(`new-${(made += 1)}`).start();
      },
    ];
    for (let minute = 0; minute < 60; minute += 1) {
      const node = simulation.node(Math.floor(random() * simulation.nodes.size));
      await faults[Math.floor(random() * faults.length)]!(node);
      await time.pass(1_000 + Math.floor(random() * 60_000));
    }
    for (const node of simulation.nodes.values()) {
      node.reachable = true;
      if (node.clock.stopped) node.clock.continue();
    }
    await simulation.add('spare').start();
    await untilAll(simulation, 200, 120);
  });

test('cluster: a resting instance with waiting work is taken by one node, by another if that one dies, and released afterwards', async () => {
  const simulation = new Simulation(small);
  const { leases } = simulation;
  const resting = simulation.instances.slice(0, 30);
  for (const id of resting) leases.resting.add(id);
  await simulation.start();
  await untilAll(simulation, 270, 60);
  assert.equal(leases.leases.size, 270, 'nobody owns what rests');
  simulation.unsent = new Set(resting);
  // `login` fails the test when two nodes have one instance.
  await untilAll(simulation, 300, 15);
  const owner = simulation.logins.get(resting[0]!);
  assert.ok(owner);
  owner.kill();
  await untilAll(simulation, 300, 40);
  assert.notEqual(simulation.logins.get(resting[0]!), owner);
  simulation.unsent = new Set();
  await simulation.time.pass(15_000);
  assert.equal(simulation.logins.size, 270);
  assert.equal(leases.leases.size, 270);
});
