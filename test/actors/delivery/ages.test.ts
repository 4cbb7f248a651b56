/** Tests the search for webhooks with deliveries that are too old. Webhooks without any change are not queried. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ages } from '#actors/delivery/ages.ts';
import type { OldestTimes, Tally } from '#actors/ports.ts';

const tally = (webhookId: string, change: Partial<Tally> = {}): Tally => ({
  webhookId,
  waiting: 0,
  parked: 0,
  bytes: 0,
  delivered: 1,
  dead: 0,
  ...change,
});
const before = (time: number) => ({ waiting: time, delivered: time, dead: time });

test('ages: a webhook is queried once, again after its tally changed, and again after a delivery was due', async () => {
  const asked: (readonly string[])[] = [];
  const times = new Map<string, Omit<OldestTimes, 'webhookId'>>([
    ['a', { waiting: null, delivered: 10, dead: null }],
    ['b', { waiting: 20, delivered: null, dead: 5 }],
  ]);
  const ages = new Ages({
    oldestOf: async (ids) => {
      asked.push(ids);
      return ids.map((webhookId) => ({ webhookId, ...times.get(webhookId)! }));
    },
  });
  const due = async (limit: number, ...all: readonly Tally[]) => [...(await ages.due(all, before(limit)))];
  assert.deepEqual(await due(5, tally('a'), tally('b')), []);
  assert.deepEqual(await due(5, tally('a'), tally('b')), []);
  assert.deepEqual(asked, [['a', 'b']], 'nothing happened');
  assert.deepEqual(await due(5, tally('a', { delivered: 2 }), tally('b')), []);
  assert.deepEqual(asked.slice(1), [['a']]);
  assert.deepEqual(await due(11, tally('a', { delivered: 2 }), tally('b')), [
    ['a', { waiting: false, delivered: true, dead: false }],
    ['b', { waiting: false, delivered: false, dead: true }],
  ]);
  assert.equal(asked.length, 2, 'what is due was known before');
  await due(5, tally('a', { delivered: 2 }), tally('b'));
  assert.deepEqual(asked.slice(2), [['a', 'b']]);
});
