/** Tests instances that are being paired while nodes come and go. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Simulation } from './simulated.ts';

/** Starts two nodes with all sessions, and a third one that has taken its share of the instances that are not being paired. */
const withNewcomer = async (): Promise<Simulation> => {
  const simulation = new Simulation({ nodes: 2, instances: 60, bus: true });
  await simulation.start();
  await simulation.time.pass(30_000);
  assert.equal(simulation.logins.size, 60);
  simulation.pairing = new Set(simulation.instances);
  await simulation.add('late').start();
  return simulation;
};

test('pairing: an instance that is being paired stays with its node, and moves to its own node afterwards', async () => {
  const simulation = await withNewcomer();
  await simulation.time.pass(60_000);
  assert.deepEqual([simulation.opened, simulation.node(2).size], [60, 0]);
  simulation.pairing = new Set();
  await simulation.time.pass(60_000);
  assert.ok(simulation.node(2).size > 8, String(simulation.node(2).size));
  assert.equal(simulation.logins.size, 60);
});

test('pairing: a pairing that begins after the move was planned keeps the instance as well', async () => {
  const simulation = await withNewcomer();
  simulation.pairing = new Set();
  while (simulation.node(2).size === 0) await simulation.time.pass(10);
  simulation.pairing = new Set(simulation.instances);
  const { size } = simulation.node(2);
  await simulation.time.pass(60_000);
  assert.ok(simulation.node(2).size <= size + simulation.policy.leavingAtOnce, String(simulation.node(2).size));
});

test('pairing: a draining node does not wait for a pairing', async () => {
  const simulation = new Simulation({ nodes: 2, instances: 20, bus: true });
  await simulation.start();
  await simulation.time.pass(30_000);
  simulation.pairing = new Set(simulation.instances);
  await simulation.node(0).cluster.drain();
  await simulation.time.pass(30_000);
  assert.deepEqual([simulation.node(0).size, simulation.node(1).size], [0, 20]);
});
