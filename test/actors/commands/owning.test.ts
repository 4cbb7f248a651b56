/** Imports and exports of an instance of another node: the refusal names the node, and an instance without an owner is taken. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { elsewhere, ownHere } from '#actors/commands/owning.ts';

const place = (isTaken: boolean, node: string | null) =>
  ownHere({ cluster: { take: async () => isTaken, ownerOf: async () => node } }, 'r1');

const sentence = async (node: string | null): Promise<string> => {
  const found = await place(false, node);
  assert.ok(!found.isHere);
  const refused = elsewhere('r1', found, 'import');
  return refused.ok ? '' : `${refused.refusal.reason}: ${refused.refusal.message}`;
};

test('owning: a single gateway has each instance, and a node takes one that nobody owns', async () => {
  assert.deepEqual(await ownHere({ cluster: null }, 'r1'), { isHere: true });
  assert.deepEqual(await place(true, null), { isHere: true });
});

test('owning: the refusal names the node that owns the instance, and says so if none does', async () => {
  assert.equal(await sentence('second'), 'conflict: the node second owns the instance r1: import through that node');
  assert.equal(await sentence(null), 'conflict: no node owns the instance r1, and this node can take none: import through another node');
});
