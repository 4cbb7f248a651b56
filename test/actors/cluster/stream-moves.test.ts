/** Tests streams while their sessions move. Events that are committed before the session is closed reach readers on other nodes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleEvent } from '#test/fakes/gateway.ts';
import { Exploration } from './exploration.ts';
import { calm } from './simulated-chaos.ts';

test('streams: events that are committed while a session closes for its next owner are sent', async () => {
  const world = new Exploration(1, { readers: false });
  await world.time.pass(15_000);
  const nodes = [...world.nodes.values()];
  const owner = nodes.find((node) => node.registry.cells.size > 0)!;
  const [id] = owner.registry.cells.keys();
  assert.ok(id);
  const got: string[] = [];
  const reader = nodes.find((node) => node !== owner)!;
  const end = reader.cluster.streams!.subscribe(
    id,
    (event) => void got.push(event.id),
    () => void got.push('end'),
    () => void got.push('gap'),
  );
  await world.time.pass(1_000);
  void owner.cluster.drain(10_000);
  const events = Array.from({ length: 100 }, (_, at) => `e${at}`);
  for (const event of events) {
    await nodes
      .map((node) => node.session(id))
      .find((session) => session !== null && session.status !== 'disconnected')
      ?.receive(event);
    await world.time.pass(20);
  }
  end();
  const stored = (world.database.journal.get(id) ?? []).map((event) => event.id);
  assert.ok(new Set(world.database.journal.get(id)?.map(({ node }) => node)).size > 1, 'the session moved');
  assert.deepEqual(got, stored);
});

test('streams: a reader learns of an event that a former owner stored late, although the bus lost the message about it', async () => {
  const world = new Exploration(1, { readers: false });
  await world.time.pass(15_000);
  const nodes = [...world.nodes.values()];
  const owner = nodes.find((node) => node.registry.cells.size > 0)!;
  const [former, reading] = nodes.filter((node) => node !== owner);
  const [id] = owner.registry.cells.keys();
  assert.ok(id && former && reading);
  const got: string[] = [];
  const add = (what: string): void => void got.push(what);
  const end = reading.cluster.streams!.subscribe(
    id,
    (event) => add(event.id),
    () => add('end'),
    () => add('gap'),
  );
  await world.time.pass(1_000);
  await owner.session(id)!.receive('e1');
  await world.time.pass(100);
  world.chaos.odds = { ...calm, lost: 1 };
  former.cluster.streams!.reader.note({ ...sampleEvent, id: 'late', instanceId: id }, 0);
  await world.time.pass(4_000);
  world.chaos.odds = calm;
  await world.time.pass(10_000);
  await owner.session(id)!.receive('e2');
  await world.time.pass(100);
  end();
  assert.deepEqual(got, ['e1', 'gap', 'e2']);
});
