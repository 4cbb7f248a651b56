/** Tests the sources for the editor of Stately: XState accepts them, and they have the states and transitions of the running machines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMachine, type AnyStateMachine, type AnyStateNode } from 'xstate';
import { charts, chartSource } from '#actors/session/charts.ts';
import { chartNames } from '#actors/views/inspector.ts';

const machineIn = (source: string): AnyStateMachine => {
  const [, config = ''] = /createMachine\((.*)\);\n$/s.exec(source) ?? [];
  return createMachine(JSON.parse(config) as Parameters<typeof createMachine>[0]);
};

const nodesOf = (node: AnyStateNode): readonly AnyStateNode[] => [node, ...Object.values(node.states).flatMap(nodesOf)];

const arrowsOf = (nodes: readonly AnyStateNode[]): readonly string[] =>
  nodes.flatMap((node) =>
    [...[...node.transitions.values()].flat(), ...(node.always ?? [])].flatMap((transition) => {
      const to = transition.target?.[0];
      return to === undefined ? [] : [`${node.path.join('.')}>${to.path.join('.')}`];
    }),
  );

for (const name of chartNames)
  test(`chart source: ${name} is a machine with the same states, arrows and descriptions`, () => {
    const source = chartSource(name) ?? '';
    const nodes = nodesOf(machineIn(source).root);
    assert.deepEqual(
      nodes.slice(1).map((node) => [node.path.join('.'), node.config.description]),
      charts[name].states.map(({ id, description }) => [id, description]),
    );
    assert.deepEqual(arrowsOf(nodes).toSorted(), charts[name].transitions.map(({ id }) => id).toSorted());
    assert.ok(!source.includes('=>') && !source.includes('function'));
  });

test('chart source: guards have their constants, and an unknown machine has no source', () => {
  assert.ok(chartSource('lifecycle')?.includes('means(backOff|contest|gate)'));
  assert.equal(chartSource('toString'), null);
});
