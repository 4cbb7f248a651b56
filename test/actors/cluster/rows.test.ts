/** Tests the list of the inspector across nodes, and the steps of an instance of another node. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterRows, watchSteps } from '#actors/cluster/inspector.ts';
import type { ActorDetail, ActorRow, Step } from '#actors/views.ts';
import { done, unknownInstance } from '#actors/model.ts';
import type { LiveNode } from '#actors/ports.ts';
import { sampleActor } from '#test/fakes/inspector.ts';
import { FakeTime } from '#test/fakes/time.ts';
import { settle } from '#test/fakes/world.ts';
import { quietLog } from '#test/support/database.ts';

const nodes: readonly LiveNode[] = ['a', 'b', 'c', 'd'].map((name) => ({
  name,
  incarnation: name,
  capacity: 10_000,
  load: 0,
  astray: 0,
  draining: false,
  until: 0,
  version: '1',
  age: 1,
}));
const rowOf = (id: string): ActorRow => ({ ...sampleActor, id });

const cluster = (owned: Readonly<Record<string, readonly string[]>>) => {
  const time = new FakeTime();
  const asked: string[] = [];
  const silent = new Set<string>();
  /** Nodes of another version, which reply in another form. */
  const strange = new Set<string>();
  const all = new Map<string, ClusterRows>();
  for (const me of Object.keys(owned))
    all.set(
      me,
      new ClusterRows({
        me,
        time,
        nodes: () => nodes.filter(({ name }) => name in owned),
        async ask(node, question) {
          asked.push(node);
          assert.ok(question.ask === 'rows');
          if (strange.has(node)) return true;
          return silent.has(node) ? null : (all.get(node)?.piece(question.after) ?? null);
        },
        owns: (id) => owned[me]?.includes(id) ?? false,
        owned: () => owned[me] ?? [],
        row: rowOf,
      }),
    );
  return { time, asked, silent, strange, at: (name: string) => all.get(name)!.elsewhere() };
};

test('rows: rows of other nodes come in pages with the name of their node, and are cached for a moment', async () => {
  const many = Array.from({ length: 1_200 }, (_, n) => `r${n}`);
  const { asked, at, time } = cluster({ a: ['own'], b: many, c: ['last'] });
  const { rows, silent, ownerOf } = await at('a');
  assert.equal(rows.size, 1_201);
  assert.deepEqual([rows.get('r7')?.node, rows.get('last')?.node, silent], ['b', 'c', []]);
  assert.deepEqual([ownerOf('own'), ownerOf('nobody has it')], ['a', '']);
  assert.equal(asked.filter((name) => name === 'b').length, 3);
  await at('a');
  assert.equal(asked.length, 4);
  await time.pass(2_000);
  await at('a');
  assert.equal(asked.length, 8);
});

test('rows: a node that does not reply is named, and an instance that moved to this node is not shown as owned by that node', async () => {
  const { silent, strange, at } = cluster({ a: ['moved'], b: ['moved', 'stays'], c: ['lost'], d: ['unknown'] });
  silent.add('c');
  strange.add('d');
  const answer = await at('a');
  assert.deepEqual([...answer.rows.keys()], ['stays']);
  assert.deepEqual(answer.silent, ['c', 'd']);
});

const stepAt = (n: number): Step => ({ n, at: n, chart: 'lifecycle', from: '', to: '', event: '', edge: '', cause: { kind: 'start' } });
const lease = { node: 'b', since: 1, cause: 'placed', answers: true } as const;

test('steps: the steps of earlier owners are shown once, and no other node is asked while this node owns the instance', async () => {
  const time = new FakeTime();
  const state = { steps: [stepAt(1), stepAt(2)], own: false, asked: 0, gone: false };
  const shown: number[] = [];
  const ends: string[] = [];
  const watcher = { onStep: ({ n }: Step) => void shown.push(n), onEnd: () => void ends.push('end') };
  const input = {
    time,
    log: quietLog,
    owns: () => state.own,
    async actor() {
      state.asked += 1;
      const detail: ActorDetail = { ...sampleActor, steps: state.steps, lease };
      return state.gone ? unknownInstance : done(detail);
    },
    watchHere: () => () => void ends.push('left'),
  };
  const leave = watchSteps(input, 'r1', watcher);
  await settle();
  assert.deepEqual(shown, [], 'what was before is not new');
  state.steps = [...state.steps, stepAt(3), stepAt(4)];
  await time.pass(1_000);
  await time.pass(1_000);
  assert.deepEqual(shown, [3, 4]);
  state.steps = [stepAt(1)];
  await time.pass(1_000);
  assert.deepEqual(shown, [3, 4, 1], 'the next owner counts from 1');
  state.own = true;
  const before = state.asked;
  await time.pass(5_000);
  assert.equal(state.asked, before);
  state.own = false;
  await time.pass(1_000);
  assert.deepEqual(shown, [3, 4, 1, 1]);
  leave();
  const last = state.asked;
  await time.pass(5_000);
  assert.deepEqual([state.asked, ends], [last, ['left']]);
});
