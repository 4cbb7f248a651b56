/** Tests the gate, which limits the handshakes with the platform. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { createGate } from '#actors/policy/gate.ts';
import { FakeTime, settle } from '#test/fakes/time.ts';

function room(atOnce: number, perSecond: number) {
  const time = new FakeTime();
  const gate = createGate({ atOnce, perSecond }, time);
  const entered: { id: string; at: number }[] = [];
  const refused: string[] = [];
  const start = time.now();
  const ask = (id: string, isDoubtful = false): AbortController => {
    const controller = new AbortController();
    gate.admit(id, controller.signal, isDoubtful).then(
      () => entered.push({ id, at: time.now() - start }),
      () => refused.push(id),
    );
    return controller;
  };
  return { time, gate, entered, refused, ask, ids: () => entered.map(({ id }) => id).join('') };
}

test('gate: it admits up to its limit at once, and the next session when one has left', async () => {
  const { gate, ask, ids } = room(2, 1000);
  for (const id of 'abcd') ask(id);
  await settle();
  assert.equal(ids(), 'ab');
  assert.equal(gate.waiting, 2);
  gate.release('a');
  await settle();
  assert.equal(ids(), 'abc');
  gate.release('a');
  gate.release('stranger');
  await settle();
  assert.equal(ids(), 'abc', 'a second release of the same instance frees nothing');
  gate.release('b');
  await settle();
  assert.equal(ids(), 'abcd');
  assert.equal(gate.waiting, 0);
});

test('gate: instances whose proxy failed leave one slot free, and hold two at most while others wait', async () => {
  const { gate, ask, ids } = room(5, 1000);
  for (const id of 'abcdx') ask(id, true);
  await settle();
  assert.equal(ids(), 'abcd');
  for (const id of 'efg') ask(id);
  await settle();
  assert.equal(ids(), 'abcde');
  gate.release('a');
  await settle();
  assert.equal(ids(), 'abcdef', 'f passes x');
  gate.passed('b');
  await settle();
  assert.equal(ids(), 'abcdefg');
  gate.release('e');
  await settle();
  assert.equal(ids(), 'abcdefgx');
  assert.equal(gate.waiting, 0);
});

test('gate: an instance whose proxy failed is admitted although the gate has one slot', async () => {
  const { gate, ask, ids } = room(1, 1000);
  ask('a', true);
  ask('b', true);
  await settle();
  assert.equal(ids(), 'a');
  gate.release('a');
  await settle();
  assert.equal(ids(), 'ab');
});

test('gate: it admits up to its limit per second, in the order of the requests', async () => {
  const { time, entered, ask, ids } = room(100, 3);
  for (const id of 'abcdefgh') ask(id);
  await settle();
  assert.equal(ids(), 'abc');
  await time.pass(999);
  assert.equal(ids(), 'abc');
  await time.pass(1);
  assert.equal(ids(), 'abcdef');
  await time.pass(5000);
  assert.equal(ids(), 'abcdefgh');
  assert.deepEqual(
    entered.map(({ at }) => at),
    [0, 0, 0, 1000, 1000, 1000, 2000, 2000],
  );
  assert.equal(time.armed, 0);
});

test('gate: a session that arrives at an idle gate does not wait', async () => {
  const { time, ask, ids } = room(5, 5);
  await time.pass(10_000);
  ask('a');
  await settle();
  assert.equal(ids(), 'a');
});

test('gate: a session that gives up leaves the queue and gets an error', async () => {
  const { gate, ask, ids, refused } = room(1, 1000);
  ask('a');
  const b = ask('b');
  ask('c');
  b.abort();
  await settle();
  assert.deepEqual(refused, ['b']);
  assert.equal(gate.waiting, 1);
  gate.release('a');
  await settle();
  assert.equal(ids(), 'ac');
});

test('gate: a session that gave up before asking is never admitted', async () => {
  const time = new FakeTime();
  const gate = createGate({ atOnce: 1, perSecond: 1 }, time);
  await assert.rejects(gate.admit('a', AbortSignal.abort()));
  assert.equal(gate.waiting, 0);
});

test('gate: giving up after the admission changes nothing until the release', async () => {
  const { gate, ask, ids } = room(1, 1000);
  const a = ask('a');
  ask('b');
  await settle();
  a.abort();
  await settle();
  assert.equal(ids(), 'a');
  gate.release('a');
  await settle();
  assert.equal(ids(), 'ab');
});

test('gate: under random arrivals both limits hold, the order is kept and every session is admitted', async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('ask' as const) }),
    fc.record({ kind: fc.constant('leave' as const), pick: fc.nat(50) }),
    fc.record({ kind: fc.constant('abort' as const), pick: fc.nat(50) }),
    fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(700) }),
  );
  const limits = fc.record({ atOnce: fc.integer({ min: 1, max: 4 }), perSecond: fc.integer({ min: 1, max: 6 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), limits, async (steps, { atOnce, perSecond }) => {
      const { time, gate, entered, refused, ask } = room(atOnce, perSecond);
      const asked = new Map<string, AbortController>();
      const left = new Set<string>();
      const inside = () => entered.filter(({ id }) => !left.has(id));
      const leave = (id: string | undefined) => {
        if (id === undefined) return;
        left.add(id);
        gate.release(id);
      };
      for (const step of steps) {
        if (step.kind === 'ask') asked.set(`${asked.size}`, ask(`${asked.size}`));
        if (step.kind === 'leave') leave(inside()[step.pick % Math.max(1, inside().length)]?.id);
        if (step.kind === 'abort') asked.get(`${step.pick}`)?.abort();
        if (step.kind === 'pass') await time.pass(step.ms);
        await settle();
        assert.ok(inside().length <= atOnce);
      }
      for (let n = 0; n < asked.size; n += 1) {
        for (const { id } of inside()) leave(id);
        await time.pass(1000);
      }
      const order = entered.map(({ id }) => Number(id));
      assert.deepEqual(
        order,
        order.toSorted((a, b) => a - b),
      );
      assert.equal(new Set([...entered.map(({ id }) => id), ...refused]).size, asked.size);
      for (const { at } of entered) assert.ok(entered.filter((other) => other.at >= at && other.at < at + 1000).length <= perSecond);
      assert.equal(time.armed, 0);
    }),
    { seed: 1, numRuns: 60 },
  );
});

test('gate: a wall clock that is set back by an hour delays no session', async () => {
  const time = new FakeTime();
  const real = time.now.bind(time);
  const clock = { ahead: 0 };
  time.monotonic = () => real();
  time.now = () => real() + clock.ahead;
  const gate = createGate({ atOnce: 5, perSecond: 1 }, time);
  await gate.admit('r1', new AbortController().signal);
  clock.ahead = -3_600_000;
  let entered = false;
  void gate.admit('r2', new AbortController().signal).then(() => (entered = true));
  await time.pass(1_000);
  assert.ok(entered);
});
