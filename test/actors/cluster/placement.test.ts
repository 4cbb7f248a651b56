/** Tests the choice of the node for each instance. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Placement, planOf } from '#actors/cluster/placement.ts';
import type { LiveNode } from '#actors/ports.ts';

const node = (name: string, change: Partial<LiveNode> = {}): LiveNode => ({
  name,
  incarnation: name,
  capacity: 100,
  load: 0,
  astray: 0,
  draining: false,
  version: '1.0.0',
  age: 60_000,
  until: 0,
  ...change,
});

const ids = Array.from({ length: 10_000 }, (_, at) => `r${at.toString(16).padStart(14, '0')}`);
const settled = 10_000;
const placed = (nodes: readonly LiveNode[]): readonly (string | null)[] => {
  const placement = new Placement(nodes, settled);
  return ids.map((id) => placement.of(id));
};
const share = (places: readonly (string | null)[], name: string): number => places.filter((place) => place === name).length / ids.length;

const three = [node('a'), node('b'), node('c')];

test('placement: equal nodes get equal shares, and the order of the nodes makes no difference', () => {
  const places = placed(three);
  for (const { name } of three) assert.ok(Math.abs(share(places, name) - 1 / 3) < 0.02, `${name} ${share(places, name)}`);
  assert.deepEqual(placed(three.toReversed()), places);
});

test('placement: a node of twice the capacity gets twice as much', () => {
  const places = placed([node('a'), node('b', { capacity: 200 }), node('c')]);
  assert.ok(Math.abs(share(places, 'b') - 1 / 2) < 0.02, String(share(places, 'b')));
  assert.ok(Math.abs(share(places, 'a') - 1 / 4) < 0.02, String(share(places, 'a')));
});

test('placement: a joining node takes its share from the others, and nothing moves between those', () => {
  const before = placed(three);
  const after = placed([...three, node('d')]);
  for (const [at, place] of after.entries()) assert.ok(place === before[at] || place === 'd');
  assert.ok(Math.abs(share(after, 'd') - 1 / 4) < 0.02);
});

test('placement: draining and full nodes get no instance, and without another node there is no place', () => {
  const places = placed([node('a', { draining: true }), node('b', { load: 100 }), node('c')]);
  assert.ok(places.every((place) => place === 'c'));
  assert.ok(placed([node('a', { draining: true })]).every((place) => place === null));
  assert.ok(placed([]).every((place) => place === null));
});

const moving: readonly (readonly [title: string, change: Partial<LiveNode>, moves: boolean])[] = [
  ['one that has settled', {}, true],
  ['one that has just come', { age: settled - 1 }, false],
  ['one that is nearly full', { load: 90 }, false],
  ['one that drains', { draining: true }, false],
];
for (const [title, change, moves] of moving)
  test(`placement: instances ${moves ? 'move' : 'do not move'} to ${title}`, () => {
    const placement = new Placement([node('a'), node('b', change)], settled);
    assert.equal(
      ids.some((id) => placement.moveOf(id, 'a') === 'b'),
      moves,
    );
    assert.ok(ids.every((id) => placement.moveOf(id, 'a') !== 'a'));
  });

const plan = (change: Partial<Parameters<typeof planOf>[0]>) =>
  planOf({
    me: 'a',
    look: { nodes: three, free: ids },
    placement: new Placement(three, settled),
    owned: [],
    room: 1000,
    takes: 1000,
    moves: 5,
    draining: false,
    refusing: new Set(),
    given: new Set(),
    ...change,
  });

test('plan: a node takes the instances that belong to it, in order, up to its room', () => {
  const placement = new Placement(three, settled);
  const own = ids.filter((id) => placement.of(id) === 'a');
  assert.deepEqual(plan({ room: 10 }), { take: own.slice(0, 10), giveAway: [] });
  assert.deepEqual(plan({ takes: 20 }).take, own.slice(0, 20));
  assert.deepEqual(plan({ room: -1 }).take, []);
});

test('plan: a node gives away the instances that belong to other nodes, a few at a time', () => {
  const placement = new Placement(three, settled);
  const strange = ids.filter((id) => placement.of(id) !== 'a');
  assert.deepEqual(
    plan({ owned: ids }).giveAway,
    strange.slice(0, 5).map((id) => ({ id, to: placement.of(id) })),
  );
  assert.deepEqual(plan({ owned: ids, moves: -2 }).giveAway, []);
});

test('plan: a draining node gives everything away and takes nothing, unless it is alone', () => {
  const nodes = [node('a', { draining: true }), node('b')];
  const drained = plan({ owned: ids, draining: true, placement: new Placement(nodes, settled) });
  assert.deepEqual(drained, { take: [], giveAway: ids.slice(0, 5).map((id) => ({ id, to: 'b' })) });
  assert.deepEqual(plan({ owned: ids, draining: true, placement: new Placement(nodes.slice(0, 1), settled) }).giveAway, []);
});

const draining = (nodes: readonly LiveNode[], change: Partial<Parameters<typeof planOf>[0]> = {}) =>
  plan({ owned: ids, draining: true, moves: 1000, look: { nodes, free: [] }, placement: new Placement(nodes, settled), ...change });

test('plan: a draining node sends each node no more than it has room for, and the remainder to the next node', () => {
  const nodes = [node('a', { draining: true }), node('b', { capacity: 3, load: 1 }), node('c', { capacity: 10, load: 7 })];
  const { giveAway } = draining(nodes);
  assert.deepEqual(giveAway.map(({ to }) => to).toSorted(), ['b', 'b', 'c', 'c', 'c']);
  assert.deepEqual(
    draining(nodes, { refusing: new Set(['c']) }).giveAway.map(({ to }) => to),
    ['b', 'b'],
  );
});

test('plan: moves for balance stop at the room of the target', () => {
  const nodes = [node('a'), node('b', { capacity: 10, load: 8 })];
  const { giveAway } = draining(nodes, { draining: false });
  assert.deepEqual(
    giveAway.map(({ to }) => to),
    ['b', 'b'],
  );
});

test('plan: a draining node takes back only what it gave away and no node has room for', () => {
  const [given, other, taken] = [ids[0]!, ids[1]!, ids[2]!];
  const full = [node('a', { draining: true }), node('b', { capacity: 1, load: 1 })];
  const free = [given, other];
  const change = { owned: [], given: new Set([given, taken]) };
  assert.deepEqual(draining(full, { ...change, look: { nodes: full, free } }), { take: [given], giveAway: [] });
  const open = [full[0]!, node('b')];
  assert.deepEqual(draining(open, { ...change, look: { nodes: open, free } }).take, []);
});
