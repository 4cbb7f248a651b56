/** Tests the tags of leads. Their number is limited, and simultaneous edits run one after the other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageUnavailable } from '#actors/ports.ts';
import { World } from '#test/fakes/world.ts';

const tag = (name: string) => ({ id: '', name, delete: false });

test('lead tags: simultaneous edits neither use a name twice nor exceed the limit', async () => {
  const world = new World();
  world.register({ id: 'r1' });
  const gateway = await world.start({ definitionsPerInstance: 2 });
  const edits = await Promise.all(['one', 'ONE', 'two', 'three'].map((name) => gateway.editLeadTag('r1', tag(name))));
  assert.deepEqual(
    edits.map((edit) => (edit.ok ? 'done' : edit.refusal.reason)),
    ['done', 'conflict', 'done', 'limited'],
  );
  const [one] = await gateway.leadTags('r1');
  assert.ok((await gateway.editLeadTag('r1', { id: one?.id ?? '', delete: true })).ok);
  assert.ok((await gateway.editLeadTag('r1', tag('three'))).ok);
});

test('lead tags: during a database outage an edit is rejected, and is not applied later', async () => {
  const world = new World();
  world.register({ id: 'r1' });
  const gateway = await world.start();
  world.db.away = true;
  await assert.rejects(gateway.editLeadTag('r1', tag('one')), StorageUnavailable);
  world.db.away = false;
  assert.deepEqual(await gateway.leadTags('r1'), []);
});
