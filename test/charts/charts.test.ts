/** Tests the shipped layouts of the state charts. They match the state machines, and the layout is deterministic. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { charts } from '#actors/session/charts.ts';
import { boxOf, folded, housekeeping } from '#src/web/page/chart/folding.js';
import { joined, type Layout, nextOf, wordOf } from '#src/web/page/chart/words.js';
import { fileOf, type LayoutName, textOf } from './files.ts';
import { meet } from './geometry.ts';
import { layoutOf, printOf, shapes, variantsOf } from './layout.ts';

const read = (machine: string, name: LayoutName): Layout => JSON.parse(readFileSync(fileOf(machine, name), 'utf8')) as Layout;

for (const machine of Object.values(charts)) {
  for (const { name, drawn: machineDrawn, shape } of variantsOf(machine)) {
    const layout = read(machine.id, name);
    const drawn = new Map([...layout.parents, ...layout.states].map((box) => [box.id, box]));

    test(`${machine.id}, ${name}: the file matches the state machine (npm run charts writes it again)`, () => {
      assert.equal(layout.print, printOf(machineDrawn));
    });

    test(`${machine.id}, ${name}: every state except the initial dot has a place, and no state covers another`, () => {
      const missing = machineDrawn.states.filter(({ id }) => !drawn.has(id)).map(({ id }) => id);
      assert.deepEqual(missing, machine.id === 'lifecycle' ? ['beginning'] : []);
      for (const one of layout.states)
        for (const other of layout.states) if (one !== other) assert.ok(!meet(one, other), `${one.id} ${other.id}`);
    });

    test(`${machine.id}, ${name}: labels of arrows cover no state`, () => {
      for (const { label, from, to } of layout.arrows)
        for (const state of layout.states) if (label) assert.ok(!meet(label, state), `${from} → ${to} covers ${state.id}`);
    });

    test(`${machine.id}, ${name}: the chart fits the width of its page`, () =>
      assert.ok(layout.width <= (shape === 'wide' ? 1020 : 400), `${layout.width} px`));
  }
}

test('layout: two runs give the same layout', async () => {
  for (const shape of shapes) assert.equal(textOf(await layoutOf(charts.instance, shape)), readFileSync(fileOf('instance', shape), 'utf8'));
});

test('folded chart: housekeeping is one box, and its transitions begin and end at this box', () => {
  const { states, transitions } = folded(charts.lifecycle);
  const ids = new Set(states.map(({ id }) => id));
  assert.ok(states.length <= charts.lifecycle.states.length - 10);
  for (const { id, from, to, leaf } of transitions)
    assert.ok(
      [from, to, leaf].every((one) => ids.has(one)),
      id,
    );
  for (const { id } of charts.lifecycle.states) assert.ok(ids.has(boxOf(id)), id);
  assert.ok(nextOf(folded(charts.lifecycle), housekeeping).some(({ leaf }) => leaf === 'disconnected.idle'));
});

const words: readonly (readonly [kind: string, event: string, guard: string, delay: string | undefined, expected: string])[] = [
  ['event', 'platform.closed', '', undefined, 'closed'],
  ['event', 'delivery.added', '', undefined, 'added'],
  ['after', 'after.retryDelay', '', 'retryDelay', 'after retry delay'],
  ['done', 'done.closing', '', undefined, 'done'],
  ['failed', 'failed.closing', '', undefined, 'failed'],
  ['always', 'always', 'begins(asleep)', undefined, 'begins asleep'],
  ['always', 'always', '', undefined, 'otherwise'],
];
for (const [kind, event, guard, delay, expected] of words)
  test(`labels: ${event} ${guard} is "${expected}"`, () => {
    const transition = {
      id: 'a>b',
      from: 'a',
      to: 'b',
      leaf: 'b',
      reenter: false,
      kind,
      event,
      guard,
      ...(delay === undefined ? {} : { delay }),
    };
    assert.equal(wordOf(transition), expected);
  });

test('labels: arrows between the same states are merged, and done and failed share one label', () => {
  const closing = charts.lifecycle.transitions.filter(({ from }) => from === 'connecting.closing');
  assert.deepEqual(joined(closing), [{ from: 'connecting.closing', to: 'connecting.admission', words: ['done or failed'], reasons: [] }]);
});

test('next states: each target lists the events that lead to it, their guards, and the events of parent states', () => {
  const next = new Map(nextOf(charts.lifecycle, 'connecting.opening').map(({ leaf, words }) => [leaf, words]));
  assert.deepEqual(next.get('connecting.waiting'), ['closed: back off, contest, gate']);
  assert.deepEqual(next.get('hibernated.closing'), ['hibernate']);
  assert.equal(next.has('connecting.admission'), false);
});
