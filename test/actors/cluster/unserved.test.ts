/** Tests the answers to commands that reached no owner. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { usualClusterPolicy as policy } from '#actors/cluster/policy.ts';
import { type Unserved, unservedRefusal } from '#actors/cluster/commands.ts';
import { refuse } from '#actors/model.ts';

const owned = (leftMs: number): Unserved['lease'] => ({ node: 'b', leftMs });
const now = Date.parse('2026-01-01T00:00:00Z');
const silent = (seconds: number, until: string): string =>
  `another node has the instance: b, which has not renewed its lease for ${seconds} s; the instance is free at ${until} unless it does`;

for (const [title, lease, isFull, sentence, retryAfter] of [
  ['another node that renewed lately', owned(10_000), false, 'another node has the instance: b, which is alive and does not answer', 2],
  ['another node, while none has room', owned(14_000), true, 'another node has the instance: b, which is alive and does not answer', 2],
  ['another node that stopped renewing', owned(6_000), false, silent(9, '2026-01-01T00:00:07.000Z'), 7],
  ['a node whose lease has just ended', owned(-500), false, silent(16, '2026-01-01T00:00:01.000Z'), 2],
  ['no node, while none has room', null, true, 'no node has room for the instance', 2],
  ['no node, while some node has room', null, false, 'no node has the instance at the moment', 2],
  ['not known', undefined, false, 'the database does not say which node has the instance', 2],
] as const)
  test(`unserved: the owner is ${title}`, () =>
    assert.deepEqual(unservedRefusal({ lease, isFull, now, policy }), refuse('unavailable', sentence, { retryAfter })));
