/** Tests imports and exports of an instance of another node. The refusal names the node, and an instance without an owner is taken. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownershipObjection } from '#actors/commands/archives.ts';

const objection = (isTaken: boolean, node: string | null) =>
  ownershipObjection({ cluster: { take: async () => isTaken, ownerOf: async () => node } }, 'r1', 'import');

test('owning: a single gateway owns each instance, and a node takes one without an owner', async () => {
  assert.equal(await ownershipObjection({ cluster: null }, 'r1', 'import'), null);
  assert.equal(await objection(true, null), null);
});

test('owning: the refusal names the owner of the instance, or says that there is none', async () => {
  assert.equal(await objection(false, 'second'), 'the node second owns the instance r1: import through that node');
  assert.equal(await objection(false, null), 'no node owns the instance r1, and this node can take none: import through another node');
});
