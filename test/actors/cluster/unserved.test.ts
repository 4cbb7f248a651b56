/** What a command is answered that reached no owner. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unservedRefusal } from '#actors/cluster/unserved.ts';
import { refuse } from '#actors/model.ts';

const lease = { node: 'b', since: 0, heldMs: 0, cause: 'placed' } as const;

for (const [title, owned, isFull, sentence] of [
  ['another node that does not answer', lease, false, 'another node has the instance'],
  ['another node, while none has room', lease, true, 'another node has the instance'],
  ['nobody, while none has room', null, true, 'no node has room for the instance'],
  ['nobody, while some node has room', null, false, 'no node has the instance at the moment'],
] as const)
  test(`unserved: the owner is ${title}`, () =>
    assert.deepEqual(unservedRefusal(owned, isFull), refuse('unavailable', sentence, { retryAfter: 2 })));
