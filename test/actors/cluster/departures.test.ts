/** Tests the pace of sessions that leave a node, and the number on their way at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Departure, Departures } from '#actors/cluster/placement.ts';
import { departurePaceOf, usualClusterPolicy } from '#actors/cluster/policy.ts';
import { FakeTime } from '#test/fakes/time.ts';

const ids = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => `r${n}`);

const to = 'b';
const departures = (count: number): readonly Departure[] => ids(count).map((id) => ({ id, to }));

const setUp = (atOnce: number) => {
  const time = new FakeTime();
  const left: string[] = [];
  const arrive: (() => void)[] = [];
  const leave = ({ id }: Departure): Promise<void> => {
    left.push(id);
    return new Promise((resolve) => void arrive.push(resolve));
  };
  const arrived = async (): Promise<void> => {
    arrive.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { time, left, arrived, leaving: new Departures({ time, atOnce, leave }) };
};

test('departures: the sessions of one second are spread over the second', async () => {
  const { time, left, leaving } = setUp(100);
  leaving.plan(departures(4), 4);
  for (const expected of [1, 2, 3, 4, 4]) {
    assert.equal(left.length, expected);
    await time.pass(250);
  }
});

test('departures: none leaves while the maximum number of sessions is on its way', async () => {
  const { time, left, arrived, leaving } = setUp(2);
  leaving.plan(departures(4), 10);
  await time.pass(1_000);
  assert.deepEqual(left, ['r0', 'r1']);
  await arrived();
  assert.deepEqual(left, ['r0', 'r1', 'r2']);
  await arrived();
  await time.pass(100);
  assert.deepEqual(left, ids(4));
});

test('departures: a new plan replaces the sessions that have not begun to leave, and keeps the pace', async () => {
  const { time, left, leaving } = setUp(100);
  leaving.plan(departures(3), 10);
  leaving.plan([{ id: 'other', to }], 10);
  assert.deepEqual(left, ['r0']);
  await time.pass(100);
  assert.deepEqual(left, ['r0', 'other']);
  leaving.plan([], 10);
  await time.pass(1_000);
  assert.deepEqual(left, ['r0', 'other']);
});

test('departures: the first session waits for the turn of the node, and later ones keep the pace', async () => {
  const { time, left, leaving } = setUp(100);
  leaving.plan(departures(2), 1, 0.5);
  await time.pass(499);
  assert.deepEqual(left, []);
  // The next check of the cluster replaces the plan, and does not begin the turn anew.
  leaving.plan(departures(2), 1, 0.5);
  await time.pass(1);
  assert.deepEqual(left, ['r0']);
  await time.pass(1_000);
  assert.deepEqual(left, ids(2));
});

const nodesOf = (names: string, draining: boolean) => [...names].map((name) => ({ name, draining }));

for (const [title, policy, nodes, perSecond] of [
  ['three nodes give a fourth their usual number', {}, nodesOf('abcd', false), 5],
  ['twenty nodes share what one node may open', {}, nodesOf('abcdefghijklmnopqrstu', false), 0.8],
  ['a slow node gets less', { nodeHandshakes: 5 }, nodesOf('abcde', false), 1],
  ['a cluster with fewer handshakes moves less', { admission: { perSecond: 5, burst: 2 } }, nodesOf('abcde', false), 1],
] as const)
  test(`departures: ${title}`, () => {
    const paces = nodes.map(({ name }) => departurePaceOf({ ...usualClusterPolicy, ...policy }, nodes, { me: name, draining: false }));
    for (const pace of paces) assert.equal(pace.perSecond, perSecond);
    const turns = paces.map(({ turn }) => turn);
    assert.equal(new Set(turns).size, nodes.length, 'each node has another turn');
    assert.ok(Math.min(...turns) === 0 && Math.max(...turns) < 1);
  });

test('departures: nodes that drain share the handshakes of the cluster, and one alone has no turn to wait for', () => {
  const nodes = [...nodesOf('ab', true), ...nodesOf('cd', false)];
  const paceOf = (some: typeof nodes) => departurePaceOf({ ...usualClusterPolicy, nodeHandshakes: 1 }, some, { me: 'a', draining: true });
  assert.deepEqual(paceOf(nodes), { perSecond: 8, turn: 0 });
  assert.deepEqual(paceOf(nodes.slice(1)), { perSecond: 16, turn: 0 }, 'the list of nodes may be older than the drain');
});
