/** Tests stored leases that differ from the leases which their node believes to hold. Each renewal finds such differences, whichever statement was lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReadShare } from '#actors/cluster/lease-check.ts';
import { Exploration } from './exploration.ts';
import type { ExploredNode } from './explored-node.ts';
import { calm, type Odds } from './simulated-chaos.ts';

/** Starts a cluster of two nodes with all sessions connected, and returns a node that has some of the sessions. */
const scene = async (): Promise<{ readonly world: Exploration; readonly node: ExploredNode }> => {
  const world = new Exploration(1, { nodes: 2, readers: false });
  await world.pass(15_000);
  const node = [...world.nodes.values()].find(({ registry }) => registry.cells.size > 0);
  assert.ok(node);
  return { world, node };
};

const during = async (world: Exploration, odds: Partial<Odds>, ms: number): Promise<void> => {
  world.chaos.odds = { ...calm, ...odds };
  await world.pass(ms);
  world.chaos.odds = calm;
};

test('leases: sessions that a draining node could not give back are served again', async () => {
  const { world, node } = await scene();
  void node.cluster.drain(10_000);
  // The first sessions are closed by then, and their leases are not given back yet.
  await world.time.pass(100);
  node.reachable = false;
  await world.pass(4_000);
  node.reachable = true;
  await world.pass(20_000);
  await world.finish();
});

for (const [title, odds] of [
  ['the reply to a take is lost', { unanswered: 0.5 }],
  ['a take fails', { refused: 0.5 }],
  ['the bus takes no subscription', { unsubscribed: 0.8 }],
] as const)
  test(`leases: sessions of a killed node are served again when ${title}`, async () => {
    const { world, node } = await scene();
    world.kill(node);
    await world.pass(10_000);
    await during(world, odds, 10_000);
    await world.pass(20_000);
    await world.finish();
  });

test('leases: a session whose lease disappeared from the database is closed and opened under a new lease', async () => {
  const { world, node } = await scene();
  const [id] = node.registry.cells.keys();
  assert.ok(id);
  const lease = world.database.leases.leases.get(id);
  assert.ok(lease);
  // The state after a failover to a replica that had not received the take.
  await world.database.leases.store().giveBack(lease.incarnation, [{ instanceId: id, epoch: lease.epoch }]);
  for (const other of world.nodes.values()) if (other !== node) other.reachable = false;
  await world.time.pass(30_000);
  assert.notEqual(world.database.leases.leases.get(id)?.epoch, lease.epoch);
  assert.equal(node.session(id)?.record.epoch, world.database.leases.epochOf(id));
});

test('leases: the metrics of a node show the number of differences in its last comparison', async () => {
  const { world, node } = await scene();
  assert.equal(node.cluster.figures.astray, 0);
  const [known] = await world.database.leases.store().known();
  const [id] = [...world.nodes.values()].find((one) => one !== node)?.registry.cells.keys() ?? [];
  assert.ok(known && id);
  const lease = world.database.leases.leases.get(id);
  const own = world.database.leases.leases.get(node.registry.cells.keys().next().value!);
  assert.ok(lease && own);
  world.database.leases.leases.set(id, { ...lease, incarnation: own.incarnation });
  while (node.cluster.figures.astray === 0) await world.time.pass(100);
  assert.equal(node.cluster.figures.astray, 1);
  await world.time.pass(5_000);
  assert.equal((await world.database.leases.store().known()).find(({ name }) => name === node.name)?.astray, 1);
});

test('read share: of 100 nodes four read in each interval, in turn, and every node reads when one is gone', () => {
  const nodes = Array.from({ length: 100 }, (_, n) => ({ name: `n${n}`, incarnation: `i${n}` }));
  const shares = nodes.map(({ name }) => new ReadShare(name));
  const readers = (seen: typeof nodes) => shares.flatMap((share, n) => (share.isDue(seen) ? [n] : []));
  assert.equal(readers(nodes).length, 100, 'all nodes are new');
  const cycle = Array.from({ length: 25 }, () => readers(nodes));
  assert.deepEqual(new Set(cycle.map(({ length }) => length)), new Set([4]));
  assert.equal(new Set(cycle.flat()).size, 100);
  assert.equal(readers(nodes.slice(1)).length, 100);
});

test('read share: up to four nodes read in every interval, and a node reads at once while work is left', () => {
  const nodes = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, incarnation: name }));
  const [few, many] = [new ReadShare('a'), new ReadShare('a')];
  for (let interval = 0; interval < 5; interval += 1) assert.ok(few.isDue(nodes.slice(0, 4)));
  assert.deepEqual([many.isDue(nodes), many.isDue(nodes), many.isDue(nodes), many.isDue(nodes)], [true, false, true, false]);
  assert.ok(many.isDue(nodes, true));
});

test('read share: slow reads are made less often, and a single slow read changes nothing', () => {
  const nodes = Array.from({ length: 100 }, (_, n) => ({ name: `n${n}`, incarnation: `i${n}` }));
  const pausesOf = (durations: readonly number[], count = nodes.length): number => {
    const share = new ReadShare('n0');
    share.isDue(nodes.slice(0, count));
    for (const ms of durations) share.took(ms);
    let pauses = 1;
    while (!share.isDue(nodes.slice(0, count))) pauses += 1;
    return pauses;
  };
  assert.equal(pausesOf([]), 25);
  assert.equal(pausesOf([5, 5, 5, 5, 5]), 25);
  assert.equal(pausesOf([70, 70, 70, 70, 70]), 70, 'all reads together take a tenth of the time');
  assert.equal(pausesOf([400, 400, 400, 400, 400]), 120);
  assert.equal(pausesOf([400, 400, 5, 400, 400]), 25);
  assert.equal(pausesOf([5, 400, 400, 400, 400, 400]), 120, 'the last five count');
  assert.equal(pausesOf([20, 20, 20], 4), 1);
  assert.equal(pausesOf([400, 400, 400], 4), 16);
});
