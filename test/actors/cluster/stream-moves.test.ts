/** Streams while their sessions move: what is committed until the session is closed reaches readers on other nodes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Exploration } from './exploration.ts';

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
