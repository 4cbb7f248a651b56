/** Tests the bounds of deliveries: slots for posts, the circuit breaker, the size of the outbox. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { Circuit } from '#actors/delivery/receiver-health.ts';
import { Slots } from '#actors/policy/pacing.ts';
import { Sweeper } from '#actors/delivery/sweeper.ts';
import type { EventType } from '#actors/model.ts';
import type { DeliveryPolicy } from '#actors/policy/policy.ts';
import { supervisedWorkers } from '#actors/policy/supervised-workers.ts';
import { delivery, webhook } from '#test/fakes/records.ts';
import { settle, testPolicy, World } from '#test/fakes/world.ts';

test('slots: one host takes no more than its share, and all hosts together no more than all slots', async () => {
  const slots = new Slots({ total: 3, perHost: 2 });
  const taken: string[] = [];
  const take = (host: string): void => {
    const turn = slots.take(host);
    if (turn) void turn.then(() => taken.push(host));
    else taken.push(host);
  };
  for (const host of ['a', 'a', 'a', 'b', 'c']) take(host);
  assert.deepEqual(taken, ['a', 'a', 'b']);
  slots.free('a');
  await settle();
  assert.deepEqual(taken, ['a', 'a', 'b', 'a'], 'who waited first goes first');
  slots.free('b');
  await settle();
  assert.deepEqual(taken.at(-1), 'c');
  for (const host of ['a', 'a', 'c']) slots.free(host);
  assert.equal(slots.busy, 0);
});

test('slots: waiting hosts take turns', async () => {
  const slots = new Slots({ total: 1, perHost: 1 });
  slots.take('x');
  const order: string[] = [];
  for (const host of ['a', 'a', 'a', 'b']) void slots.take(host)?.then(() => order.push(host));
  for (const host of ['x', 'a', 'b', 'a', 'a']) {
    slots.free(host);
    await settle();
  }
  assert.deepEqual(order, ['a', 'b', 'a', 'a']);
});

test('slots: instances that wait for one host take turns, and one holds at most half while others wait', async () => {
  const slots = new Slots({ total: 100, perHost: 4 });
  const order: string[] = [];
  const take = (holder: string): void => {
    const turn = slots.take('shared.test', holder);
    if (turn) void turn.then(() => order.push(holder));
    else order.push(holder);
  };
  for (let post = 0; post < 20; post += 1) take('greedy');
  assert.equal(order.length, 4, 'an instance alone uses all slots of the host');
  for (let post = 0; post < 3; post += 1) take('modest');
  for (const holder of ['greedy', 'greedy', 'modest', 'greedy']) {
    slots.free('shared.test', holder);
    await settle();
  }
  assert.deepEqual(order.slice(4), ['modest', 'modest', 'modest', 'greedy']);
  slots.free('shared.test', 'modest');
  slots.free('shared.test', 'modest');
  await settle();
  assert.deepEqual(order.slice(8), ['greedy', 'greedy'], 'nobody else waits any more');
  assert.equal(slots.busy, 4);
});

test('slots: one instance leaves an eighth of the slots of a host free for another that comes later', async () => {
  const slots = new Slots({ total: 100, perHost: 16 });
  const turns = Array.from({ length: 20 }, () => slots.take('shared.test', 'greedy'));
  assert.equal(turns.filter((turn) => turn === null).length, 14);
  assert.deepEqual([slots.take('shared.test', 'modest'), slots.take('shared.test', 'modest')], [null, null]);
  slots.free('shared.test', 'modest');
  slots.free('shared.test', 'greedy');
  await turns[14];
  for (let post = 0; post < 14; post += 1) {
    slots.free('shared.test', 'greedy');
    await settle();
  }
  await Promise.all(turns);
  for (let post = 0; post < 5; post += 1) slots.free('shared.test', 'greedy');
  slots.free('shared.test', 'modest');
  assert.equal(slots.busy, 0);
});

test('slots: under random arrivals the limits hold, no slot stays unused, and every post gets a slot', async () => {
  const posts = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.constantFrom('x', 'y', 'z')), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(posts, fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 3 }), async (wanted, total, perHost) => {
      const slots = new Slots({ total, perHost });
      const [busy, waiting] = [new Map<string, number>(), new Map<string, number>()];
      const count = (counts: Map<string, number>, host: string, by: number): void => void counts.set(host, (counts.get(host) ?? 0) + by);
      let [now, done] = [0, 0];
      const work = async ([host, holder]: readonly [string, string]): Promise<void> => {
        count(waiting, host, 1);
        await slots.take(host, holder);
        count(waiting, host, -1);
        now += 1;
        count(busy, host, 1);
        assert.ok(now <= total && (busy.get(host) ?? 0) <= perHost);
        await settle();
        for (const [name, left] of waiting) assert.ok(left === 0 || slots.busy === total || (busy.get(name) ?? 0) === perHost);
        now -= 1;
        count(busy, host, -1);
        slots.free(host, holder);
        done += 1;
      };
      await Promise.all(wanted.map(work));
      assert.deepEqual([done, slots.busy], [wanted.length, 0]);
    }),
    { numRuns: 50 },
  );
});

const policy: DeliveryPolicy = {
  ...testPolicy.delivery,
  concurrency: 8,
  circuit: { failures: 5, min: 1000, max: 8000 },
  retryAfterMax: 60_000,
};
const no = (retryAfter?: number) => ({ ok: false, error: 'no', ...(retryAfter === undefined ? {} : { retryAfter }) }) as const;

test('circuit: each failure halves the lanes, and a success restores all of them', () => {
  const circuit = new Circuit(policy);
  const lanes: number[] = [];
  for (let n = 0; n < 5; n += 1) {
    lanes.push(circuit.lanes);
    circuit.judge(1, no(), 0);
  }
  assert.deepEqual(lanes, [8, 4, 2, 1, 1]);
  circuit.judge(1, { ok: true, status: 200 }, 0);
  assert.deepEqual([circuit.lanes, circuit.until], [8, 0]);
});

test('circuit: pauses double up to their limit, and posts under way at the opening do not count', () => {
  const circuit = new Circuit(policy);
  let now = 0;
  const pauses: number[] = [];
  for (let n = 0; n < 10; n += 1) {
    circuit.judge(1, no(), now);
    circuit.judge(1, no(), now);
    if (circuit.until > now) pauses.push(circuit.until - now);
    now = Math.max(now, circuit.until);
  }
  assert.deepEqual(pauses, [1000, 2000, 4000, 8000, 8000, 8000, 8000, 8000]);
});

test('circuit: a receiver that asks for patience pauses all its deliveries, within the limit', () => {
  const circuit = new Circuit(policy);
  circuit.judge(1, no(7), 100);
  assert.equal(circuit.until, 7100);
  const greedy = new Circuit(policy);
  greedy.judge(1, no(86_400), 100);
  assert.equal(greedy.until, 60_100);
});

function sweeping(bounds: Partial<DeliveryPolicy['bounds']>, onDuty = () => true) {
  const world = new World();
  const { db, time, log, ports } = world;
  let seq = 0;
  const add = (type: EventType, count: number, at = time.now()): void => {
    for (let n = 0; n < count; n += 1) db.outbox.set((seq += 1), { ...delivery(seq), type, at });
  };
  const trimmed: string[] = [];
  const known = new Set([webhook.id]);
  const sweeper = new Sweeper({
    deliveries: ports.deliveries,
    time,
    log,
    workers: supervisedWorkers(ports, testPolicy, {}),
    policy: { ...testPolicy.delivery, bounds: { ...testPolicy.delivery.bounds, ...bounds } },
    onDuty,
    isKnown: (id) => known.has(id),
    trimmed: (id) => trimmed.push(id),
  });
  const kept = (): Record<string, number> => {
    const count: Record<string, number> = {};
    for (const { type } of db.outbox.values()) count[type] = (count[type] ?? 0) + 1;
    return count;
  };
  return { world, add, sweeper, trimmed, kept, known };
}

test('bounds: a node that left duty shows no figures of its last round', async () => {
  let isOnDuty = true;
  const { add, sweeper } = sweeping({}, () => isOnDuty);
  add('messages', 4);
  await sweeper.sweep();
  assert.deepEqual([sweeper.outstanding.waiting, sweeper.counted(webhook.id).waiting, sweeper.oldestAt === null], [4, 4, false]);
  isOnDuty = false;
  assert.deepEqual([sweeper.outstanding.waiting, sweeper.counted(webhook.id).waiting, sweeper.oldestAt === null], [0, 0, true]);
});

test('bounds: rows over the limit are dropped by importance, within a type the oldest first, and counted', async () => {
  const { add, sweeper, trimmed, kept, world } = sweeping({ rows: 10 });
  add('messages', 4);
  add('presence', 3);
  add('history', 2);
  add('chats', 3);
  add('messages_update', 4);
  await sweeper.sweep();
  assert.deepEqual(kept(), { messages: 4, chats: 2, messages_update: 4 });
  assert.deepEqual(sweeper.dropped(webhook.id), { presence: 3, history: 2, chats: 1 });
  add('messages', 8);
  await sweeper.sweep();
  assert.deepEqual(kept(), { messages: 10 });
  assert.equal(Math.min(...world.db.outbox.keys()), 3, 'the two oldest messages went');
  assert.deepEqual(sweeper.dropped(webhook.id), { presence: 3, history: 2, chats: 3, messages_update: 4, messages: 2 });
  assert.deepEqual(trimmed, [webhook.id, webhook.id]);
});

test('bounds: bytes and age count too, and nothing within the bounds is dropped', async () => {
  const { add, sweeper, kept, world } = sweeping({ bytes: 50, age: 1000 });
  add('messages', 3, world.time.now() - 2000);
  add('messages', 4);
  await sweeper.sweep();
  assert.deepEqual(kept(), { messages: 4 });
  add('messages', 4);
  await sweeper.sweep();
  assert.deepEqual(kept(), { messages: 6 }, 'six bodies have 48 bytes and more');
  world.db.statements.length = 0;
  await sweeper.sweep();
  assert.equal(world.db.count('deliveries.trim'), 0);
});

test('bounds: they are checked again and again, also during a storage outage, until the stop', async () => {
  const { add, sweeper, kept, world } = sweeping({ rows: 1 });
  sweeper.start();
  add('messages', 3);
  world.db.away = true;
  await world.time.pass(25_000);
  assert.deepEqual(kept(), { messages: 3 });
  world.db.away = false;
  await world.time.pass(10_000);
  assert.deepEqual(kept(), { messages: 1 });
  sweeper.stop();
  assert.equal(world.time.armed, 0);
});

test('bounds: a large excess is dropped in pieces over several rounds, and a failing webhook does not stop the others', async () => {
  const { add, sweeper, kept, world } = sweeping({ rows: 10, age: 1_000 });
  add('presence', 300);
  world.db.outbox.set(1000, { ...delivery(1000), webhookId: 'broken', at: -1 });
  for (let seq = 1001; seq < 1030; seq += 1) world.db.outbox.set(seq, { ...delivery(seq), webhookId: 'other', at: world.time.now() });
  const { trim } = world.ports.deliveries;
  world.ports.deliveries.trim = (id, types, excess) =>
    id === 'broken' ? Promise.reject(new Error('value out of range')) : trim(id, types, excess);
  await assert.rejects(sweeper.sweep(), /value out of range/);
  assert.deepEqual(kept(), { presence: 175, messages: 11 }, '25 pieces of five rows a round');
  for (let round = 0; round < 2; round += 1) await sweeper.sweep();
  assert.deepEqual(kept(), { presence: 10, messages: 11 });
  assert.deepEqual(sweeper.dropped(webhook.id), { presence: 290 });
  assert.deepEqual(
    world.log.of('webhook.notSwept').map(({ fields }) => fields['webhook']),
    ['broken'],
  );
});

test('bounds: a webhook that is removed during a sweep has no counts afterwards', async () => {
  const { add, sweeper, trimmed, known } = sweeping({ rows: 1 });
  add('messages', 3);
  const sweep = sweeper.sweep();
  known.delete(webhook.id);
  sweeper.forget(webhook.id);
  await sweep;
  assert.deepEqual([sweeper.dropped(webhook.id), trimmed], [{}, []]);
});
