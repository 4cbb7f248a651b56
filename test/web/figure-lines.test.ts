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

test('figure lines: counters are rates per minute of covered time, also in the step that is under way', () =>
  assert.deepEqual(linesOf(answer(node('a')), 'received', null), [{ node: 'a', values: [2, null, 2] }]));

test('figure lines: several nodes have their sum as the last line, which is empty only where all are', () => {
  const lines = linesOf(answer(node('a'), node('b', { received: [5, null, null] })), 'received', null);
  assert.deepEqual(lines.at(-1), { node: null, values: [3, null, 2] });
  assert.deepEqual(
    lines.map((line) => line.node),
    ['a', 'b', null],
  );
});

test('figure lines: memory is summed in megabytes, and the delay of the loop is that of the slowest node', () => {
  const nodes = answer(node('a'), node('b', { loopMs: [9, 1, null] }));
  assert.deepEqual(linesOf(nodes, 'memoryBytes', null).at(-1)?.values, [400, 500, null]);
  assert.deepEqual(linesOf(nodes, 'loopMs', null).at(-1)?.values, [9, 20, 3]);
});

test('figure lines: one node can be shown alone, and the sum of many still includes all', () => {
  const many = answer(...Array.from({ length: 8 }, (_, index) => node(`n${index}`)));
  assert.deepEqual(
    linesOf(many, 'received', 'n6').map((line) => line.node),
    ['n6'],
  );
  const lines = linesOf(many, 'received', null);
  assert.equal(lines.length, mostLines + 1);
  assert.equal(lines.at(-1)?.values[0], 16);
});

test('figure lines: times are the starts of the steps in seconds', () => assert.deepEqual(timesOf(answer()), [600, 900, 1_200]));
