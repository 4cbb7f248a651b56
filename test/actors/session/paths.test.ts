/** Tests every state and every transition of the chart. The paths are computed from its table and walked on real actors. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnyStateNode } from 'xstate';
import { getAdjacencyMap, getShortestPaths } from 'xstate/graph';
import type { Host } from '#actors/session/host.ts';
import type { LifecycleEvent } from '#actors/session/chart-setup.ts';
import { lifecycle } from '#actors/session/lifecycle.ts';
import type { Wanted } from '#actors/model.ts';
import { identity } from '#test/fakes/platform.ts';
import { testPolicy } from '#test/fakes/world.ts';
import { Walk, type Step } from './walk.ts';

/** One close for each reaction of the policy. */
const closes: readonly Step[] = [515, 428, 440, 405, 500, 401, 403, 408].map((code) => ({ type: 'platform.closed', code }));
const suspended: Step = { type: 'platform.closed', code: 402, expire: '3600' };

interface Row {
  readonly node: string;
  readonly type: string;
  readonly index: number;
  readonly transition: object;
}

const nodesOf = (node: AnyStateNode): readonly AnyStateNode[] => [node, ...Object.values(node.states).flatMap(nodesOf)];
const nodes = nodesOf(lifecycle.root);

/** The table of the chart, row by row. */
const rows: readonly Row[] = nodes.flatMap((node) =>
  [...[...node.transitions].map(([type, list]) => ({ type, list })), { type: 'always', list: node.always ?? [] }].flatMap(
    ({ type, list }) => list.map((transition, index) => ({ node: node.id, type, index, transition })),
  ),
);

/** Completions of closes whose result decides the next state: whether a pairing has to be undone, or whether the platform was told. */
const asked: ReadonlySet<string> = new Set([
  ...['unlinking.closing', 'disconnected.loggingOut'].map((state) => `xstate.done.actor.0.lifecycle.${state}`),
  'platform.passkeyCode',
]);

/** Steps of a path. The end of a suspension depends on the clock, which a computed path does not have. Another test walks it by hand. */
const steps: readonly Step[] = [...new Set(rows.map((row) => row.type))]
  .filter((type) => type !== 'always' && !type.startsWith('xstate.after.suspension'))
  .flatMap((type) => {
    if (type === 'platform.closed') return [...closes, suspended];
    return asked.has(type) ? [true, false].map((answer) => ({ type, answer })) : [{ type }];
  });

const eventOf = (step: Step): LifecycleEvent =>
  ({
    step,
    type: step.type,
    output: step.answer,
    options: {},
    identity,
    id: 'op.1',
    n: 1,
    qr: 'text',
    code: 'ABCD1234',
    handedOff: step.answer,
    assertion: {},
    patch: {},
    run: async () => 1,
    close: { code: step.code ?? null, message: '', ...(step.expire === undefined ? {} : { data: { expire: step.expire } }) },
  }) as unknown as LifecycleEvent;

const nothing = (): void => undefined;
const host = {
  id: 'r1',
  policy: testPolicy,
  paired: () => false,
  hasRoom: () => true,
  now: () => 1_000_000,
  monotonic: () => 1_000_000,
  random: () => 0.5,
  log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
  note: nothing,
  announce: nothing,
  record: nothing,
  live: nothing,
  report: nothing,
  moved: nothing,
  account: () => '',
} as unknown as Host;

type Snapshot = ReturnType<typeof lifecycle.getInitialSnapshot>;

const nameOf = ({ value }: Pick<Snapshot, 'value'>): string => (typeof value === 'string' ? value : Object.entries(value).flat().join('.'));

/** True if the table of the state has a row for the event. An operation ends in the state in which it began. */
const isHandled = (state: Snapshot, event: { readonly type: string }): boolean =>
  event.type.includes('.op.') ? nameOf(state) === 'connected' : state._nodes.some((node) => node.transitions.has(event.type as never));

const traversal = {
  input: { host, begin: 'offline' as const },
  events: steps.map(eventOf),
  filterEvents: isHandled,
  serializeState: nameOf,
};
const stepOf = (event: object): Step => (event as { readonly step: Step }).step;

const ways = new Map(
  getShortestPaths(lifecycle, traversal).map((path) => [
    nameOf(path.state as Snapshot),
    path.steps.slice(1).map(({ event }) => stepOf(event)), // The first step is the start itself.
  ]),
);
type Leaving = Readonly<Record<string, { readonly event: object; readonly state: unknown }>>;
const edges = Object.entries(getAdjacencyMap(lifecycle, traversal)).flatMap(([from, { transitions }]) =>
  Object.values(transitions as Leaving).map(({ event, state }) => ({ from, step: stepOf(event), to: nameOf(state as Snapshot) })),
);

/** Checks the invariants of every state. */
function assertSound(walk: Walk): void {
  const { chart } = walk;
  assert.deepEqual(chart.platform.violations, []);
  const onItsWay = /unlinking.(admission|opening|waiting)/.test(chart.state);
  const closing = chart.actor.getSnapshot().hasTag('closing') && !onItsWay;
  assert.equal(walk.held, closing, `${chart.state}: a socket is being closed in the closing states and nowhere else`);
  const linked = /opening|authenticating|pairing|passkey|connected/.test(chart.state.replace('disconnected', ''));
  assert.equal(chart.children.includes('link'), linked, `${chart.state}: the link is heard while it is open, and only then`);
  if (!closing) assert.equal(chart.link.state === 'open' || chart.link.state === 'live', linked, `${chart.state}: socket`);
  assert.ok(chart.time.armed <= (chart.state === 'unlinking.waiting' ? 2 : 1), 'one timer a state, and one for all of the unlinking');
}

const taken = new Set<object>();

async function walked(begin: Wanted, path: readonly Step[]): Promise<Walk> {
  const walk = new Walk(begin);
  for (const step of path) {
    await walk.take(step);
    assertSound(walk);
  }
  for (const transition of walk.taken) taken.add(transition);
  return walk;
}

test('paths: every state of the chart is reached by some path', () => {
  const resting = nodes.filter((node) => node.type === 'atomic' && node.key !== 'beginning').map((node) => node.path.join('.'));
  assert.deepEqual([...ways.keys()].toSorted(), resting.toSorted());
});

for (const from of ways.keys()) {
  const leaving = edges.filter((edge) => edge.from === from);
  test(`paths: the ${leaving.length} ways on from ${from} lead where the table says`, async () => {
    for (const { step, to } of leaving) {
      const walk = await walked('offline', [...(ways.get(from) ?? []), step]);
      assert.equal(walk.chart.state, to, `${from} with ${JSON.stringify(step)}`);
    }
  });
}

test('paths: suspensions, with and without room, and the other starts lead where the table says', async () => {
  const live: readonly Step[] = ways.get('connected') ?? [];
  const over: Step = { type: 'xstate.after.suspension' };
  assert.equal((await walked('offline', [...live, suspended, over])).chart.state, 'connecting.admission');
  assert.equal((await walked('offline', [...live, suspended, { ...over, answer: false }])).chart.state, 'disconnected.suspended');
  const connect: Step = { type: 'instance.connect' };
  const tried: readonly Step[] = [connect, { type: 'xstate.done.actor.0.lifecycle.connecting.admission' }, suspended, connect];
  assert.equal((await walked('offline', [...live, suspended, ...tried])).chart.state, 'disconnected.suspended');
  assert.equal((await walked('unlinked', [])).chart.state, 'unlinking.closing');
  const unread: Step = { type: 'xstate.error.actor.0.lifecycle.unlinking.closing', away: true };
  assert.equal((await walked('offline', [...(ways.get('unlinking.closing') ?? []), unread])).chart.state, 'unlinking.waiting');
  assert.equal((await walked('asleep', [])).chart.state, 'hibernated.asleep');
  assert.ok((await walked('online', [])).chart.state.startsWith('connecting'));
});

test('paths: a connect that requests another kind of pairing than the one under way restarts it', async () => {
  const byQr: Step = { type: 'instance.connect' };
  const byCode: Step = { type: 'instance.connect', phone: '551' };
  const admitted: Step = { type: 'xstate.done.actor.0.lifecycle.connecting.admission' };
  const handshaken: Step = { type: 'platform.handshaken' };
  const lost: Step = { type: 'platform.closed', code: 428 };
  const passkey: Step = { type: 'platform.passkeyRequested' };
  const assertion: Step = { type: 'passkey.assert' };
  const shown: Step = { type: 'platform.passkeyCode', answer: false };
  const rows: readonly (readonly [path: readonly Step[], to: string])[] = [
    [[byQr, byCode], 'admission'],
    [[byQr, admitted, byCode], 'opening'],
    [[byCode, admitted, byQr], 'closing'],
    [[byQr, admitted, handshaken, byCode], 'authenticating'],
    [[byCode, admitted, handshaken, byQr, byCode], 'closing'],
    [[byQr, admitted, handshaken, { type: 'platform.qr' }, byCode], 'authenticating'],
    [[byCode, admitted, handshaken, { type: 'platform.code' }, byQr], 'closing'],
    ...[[], [assertion], [assertion, shown]].map((more) => [[byQr, admitted, handshaken, passkey, ...more, byCode], 'closing'] as const),
    [[byQr, admitted, lost, byCode, admitted, lost, byQr], 'waiting'],
  ];
  for (const [path, to] of rows) assert.equal((await walked('offline', path)).chart.state, `connecting.${to}`, JSON.stringify(path));
});

test('paths: every row of the table is taken, except for the close that only a pairing can have', () => {
  const left = rows.filter((row) => !taken.has(row.transition)).map(({ node, type, index }) => `${node} ${type} ${index}`);
  assert.deepEqual(left, [
    'lifecycle.connecting.opening platform.closed 3',
    'lifecycle.connecting.authenticating platform.closed 3',
    'lifecycle.connected platform.closed 3',
  ]);
});
