/** Tests the lines of the charts of metrics in the dashboard. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linesOf, mostLines, timesOf } from '#src/web/page/views/figure-lines.js';

const nothing = [null, null, null];
const node = (name: string, change: object = {}) => ({
  name,
  seconds: [300, 300, 120],
  received: [10, null, 4],
  sent: nothing,
  delivered: nothing,
  failed: nothing,
  reconnects: nothing,
  memoryBytes: [200e6, 250e6, null],
  loopMs: [5, 20, 3],
  ...change,
});
const answer = (...nodes: ReturnType<typeof node>[]) => ({ from: 600_000, step: 5, steps: 3, nodes });

test('chart lines: counters are shown as rates per minute of covered time, also in the current interval', () =>
  assert.deepEqual(linesOf(answer(node('a')), 'received', null), [{ node: 'a', values: [2, null, 2] }]));

test('chart lines: the last line is the sum of all nodes, with a gap only where all nodes have a gap', () => {
  const lines = linesOf(answer(node('a'), node('b', { received: [5, null, null] })), 'received', null);
  assert.deepEqual(lines.at(-1), { node: null, values: [3, null, 2] });
  assert.deepEqual(
    lines.map((line) => line.node),
    ['a', 'b', null],
  );
});

test('chart lines: memory is the sum in megabytes, and the delay of the event loop is that of the slowest node', () => {
  const nodes = answer(node('a'), node('b', { loopMs: [9, 1, null] }));
  assert.deepEqual(linesOf(nodes, 'memoryBytes', null).at(-1)?.values, [400, 500, null]);
  assert.deepEqual(linesOf(nodes, 'loopMs', null).at(-1)?.values, [9, 20, 3]);
});

test('chart lines: one node can be shown alone, and the sum still includes all nodes', () => {
  const many = answer(...Array.from({ length: 8 }, (_, index) => node(`n${index}`)));
  assert.deepEqual(
    linesOf(many, 'received', 'n6').map((line) => line.node),
    ['n6'],
  );
  const lines = linesOf(many, 'received', null);
  assert.equal(lines.length, mostLines + 1);
  assert.equal(lines.at(-1)?.values[0], 16);
});

test('chart lines: times are the starts of the intervals in seconds', () => assert.deepEqual(timesOf(answer()), [600, 900, 1_200]));
