/** Tests the charts as data: complete, described, and with an edge for every step. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { charts, edgeOf } from '#actors/session/charts.ts';
import { chartDescriptions, eventDescriptions } from '#actors/session/chart-descriptions.ts';
import { chartNames } from '#actors/views/inspector.ts';

for (const name of chartNames) {
  const { states, transitions, events, initial } = charts[name];
  const ids = states.map(({ id }) => id);

  test(`charts: every state and every event of ${name} has a description, and no description is left over`, () => {
    assert.deepEqual(
      [...states.map(({ id, description }) => [id, description]), ...events.map((event) => [event.name, event.description])].filter(
        ([, description]) => description === '',
      ),
      [],
    );
    assert.deepEqual(
      Object.keys(chartDescriptions[name].states).filter((id) => !ids.includes(id)),
      [],
    );
  });

  test(`charts: transitions of ${name} lead from states to states, and to a leaf below their target`, () => {
    assert.ok(ids.includes(initial));
    for (const { id, from, to, leaf } of transitions) {
      assert.ok(ids.includes(from) && ids.includes(to) && ids.includes(leaf), id);
      assert.ok(leaf === to || leaf.startsWith(`${to}.`), id);
      assert.equal(states.find((state) => state.id === leaf)?.kind, 'atomic', id);
    }
  });
}

test('charts: every description of an event belongs to an existing event', () => {
  const known = chartNames.flatMap((name) => charts[name].events.map((event) => event.name));
  assert.deepEqual(
    Object.keys(eventDescriptions).filter((name) => !known.includes(name)),
    [],
  );
});

test('charts: guards show their constants, timers their names, and states the tags of their parents', () => {
  const { states, transitions } = charts.lifecycle;
  const close = transitions.find(({ id, event }) => id === 'connected>connecting.waiting' && event === 'platform.closed');
  assert.deepEqual(
    { guard: close?.guard, kind: close?.kind, reenter: close?.reenter },
    { guard: 'means(backOff|contest|gate)', kind: 'event', reenter: true },
  );
  const retry = transitions.find(({ from, kind }) => from === 'connecting.waiting' && kind === 'after');
  assert.deepEqual({ event: retry?.event, delay: retry?.delay }, { event: 'after.retryDelay', delay: 'retryDelay' });
  assert.deepEqual(states.find(({ id }) => id === 'unlinking.waiting')?.tags, ['closing']);
  assert.deepEqual(states.find(({ id }) => id === 'connecting.admission')?.invokes, ['admission']);
});

const edges: readonly (readonly [from: string, to: string, event: string, edge: string])[] = [
  ['beginning', 'connecting.admission', 'start', 'beginning>connecting'],
  ['connected', 'connecting.waiting', 'platform.closed', 'connected>connecting.waiting'],
  ['connecting.pairing', 'unlinking.closing', 'instance.disconnect', 'connecting>unlinking'],
  ['unlinking.opening', 'disconnected.abandoning', 'after.unlinkLimit', 'unlinking>disconnected.abandoning'],
  ['connecting.opening', 'connecting.opening', 'platform.closed', 'connecting.opening>connecting.opening'],
];
for (const [from, to, event, edge] of edges)
  test(`charts: ${event} from ${from} to ${to} is the arrow ${edge}`, () => assert.equal(edgeOf('lifecycle', from, to, event)?.id, edge));

test('charts: a step that passes through a transient state is the arrow to that state', () =>
  assert.equal(edgeOf('instance', 'recovering', 'restarting', 'done.closing')?.id, 'recovering>deciding'));
