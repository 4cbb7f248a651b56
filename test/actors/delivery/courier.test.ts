/** Tests the courier of one webhook over a simulated receiver, outbox and clock. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Attempt } from '#actors/ports.ts';
import { CourierDesk as Desk, no } from '#test/fakes/courier-desk.ts';
import { webhook as sample } from '#test/fakes/records.ts';
import { settle } from '#test/fakes/world.ts';

test('courier: it delivers committed events in order, signs each with its id and removes it from the outbox', async () => {
  const desk = new Desk();
  await desk.commit(3);
  assert.equal(desk.order, 'e1 e2 e3');
  const [post] = desk.world.receiver.posts;
  assert.equal(post?.headers['webhook-timestamp'], String(Math.floor(desk.start / 1000)));
  assert.equal(post?.body['EventType'], 'messages');
  desk.assertQuiet();
});

test('courier: a lane waits for its receiver while others continue beside it, up to the limit', async () => {
  const desk = new Desk({ concurrency: 3 });
  const { promise, resolve } = Promise.withResolvers<Attempt>();
  desk.world.receiver.answer = () => promise;
  for (const lane of ['a', 'a', 'b', 'c', 'd']) await desk.commit(1, lane);
  assert.equal(desk.order, 'e1 e3 e4');
  desk.world.receiver.answer = () => ({ ok: true, status: 200 });
  resolve({ ok: true, status: 200 });
  await settle();
  assert.equal(desk.order, 'e1 e3 e4 e5 e2');
  desk.assertQuiet();
});

test('courier: when another node may post, posts under way are cut, stay in the outbox and count as no failure', async () => {
  const desk = new Desk({ concurrency: 2 });
  desk.world.receiver.answer = () => new Promise(() => undefined);
  for (const lane of ['a', 'b', 'c']) await desk.commit(1, lane);
  assert.equal(desk.order, 'e1 e2');
  desk.courier.handle({ type: 'delivery.lost' });
  await settle();
  assert.deepEqual([desk.order, desk.stored, desk.circuit.failures, desk.failures], ['e1 e2', 3, 0, []]);
  desk.world.receiver.answer = () => ({ ok: true, status: 200 });
  desk.restart();
  await settle();
  assert.equal(desk.order, 'e1 e2 e1 e2 e3');
  desk.assertQuiet();
});

test('courier: a row in its quick attempts holds its lane, and other lanes continue', async () => {
  const desk = new Desk();
  let left = 2;
  desk.world.receiver.answer = ({ headers }) => (headers['webhook-id'] === 'e1' && left-- > 0 ? no(500) : { ok: true, status: 200 });
  await desk.commit(2, 'a');
  await desk.commit(1, 'b');
  await desk.world.time.pass(10_000);
  assert.equal(desk.posts, 'e1@0 e3@0 e1@1500 e1@6500 e2@6500');
  assert.deepEqual(desk.failures, [], 'two failures are nobody’s business');
  desk.assertQuiet();
});

test('courier: after the quick attempts the row is parked and holds its lane, then follows the slow schedule until it is given up', async () => {
  const desk = new Desk();
  desk.world.receiver.answer = ({ headers }) => (headers['webhook-id'] === 'e1' ? no(404) : { ok: true, status: 204 });
  await desk.commit(2);
  await desk.world.time.pass(6500);
  assert.equal(desk.posts, 'e1@0 e1@1500 e1@6500');
  assert.equal(desk.stored, 2);
  assert.equal(desk.courier.waiting, 0, 'a parked row takes no memory');
  await desk.world.time.pass(1_000_000);
  assert.equal(desk.posts, 'e1@0 e1@1500 e1@6500 e1@11500 e1@41500 e1@161500 e2@161500');
  assert.deepEqual(
    desk.failures.map(({ eventId, attempts, statusCode, error }) => `${eventId} ${attempts} ${statusCode} ${error}`),
    ['e1 3 404 said 404', 'e1 4 404 said 404', 'e1 5 404 said 404', 'e1 6 404 said 404'],
  );
  desk.assertQuiet();
});

test('courier: a parked row is delivered on time even while memory is full of other rows', async () => {
  const desk = new Desk({ inMemory: 4, concurrency: 1, circuit: { failures: 100, min: 1, max: 1 } });
  let broken = true;
  desk.world.receiver.answer = ({ headers }) => (broken && headers['webhook-id'] === 'e1' ? no(500) : { ok: true, status: 200 });
  await desk.commit(1, 'a');
  await desk.world.time.pass(6500);
  broken = false;
  const { promise, resolve } = Promise.withResolvers<Attempt>();
  desk.world.receiver.answer = () => promise;
  await desk.commit(3, 'b');
  await desk.world.time.pass(60_000); // The parked row becomes due in this time.
  desk.world.receiver.answer = () => ({ ok: true, status: 200 });
  resolve({ ok: true, status: 200 });
  await settle();
  await desk.world.time.pass(2000);
  assert.deepEqual(desk.order.split(' ').slice(-4).toSorted(), ['e1', 'e2', 'e3', 'e4']);
  desk.assertQuiet();
});

test('courier: Retry-After is honoured up to its limit', async () => {
  const desk = new Desk();
  desk.world.receiver.answer = () => (desk.world.receiver.posts.length === 1 ? no(429, { retryAfter: 20 }) : no(503, { retryAfter: 9999 }));
  await desk.commit(1);
  await desk.world.time.pass(20_000 + 60_000);
  assert.equal(desk.posts, 'e1@0 e1@20000 e1@80000');
});

test('courier: a 410 switches the webhook off, and its rows stay in the outbox until a user switches it on', async () => {
  const desk = new Desk({ concurrency: 1 });
  desk.world.receiver.answer = () => no(410);
  await desk.commit(3);
  await desk.world.time.pass(1_000_000);
  assert.equal(desk.order, 'e1');
  assert.equal(desk.stored, 3);
  assert.equal(desk.world.time.armed, 0);
  desk.world.receiver.answer = () => ({ ok: true, status: 200 });
  desk.webhook = sample;
  desk.changed();
  await settle();
  assert.equal(desk.order, 'e1 e1 e2 e3');
  desk.assertQuiet();
});

test('courier: ten failures open the circuit, which then makes one probe at a time with doubling pauses and one timer', async () => {
  const desk = new Desk({
    concurrency: 64,
    circuit: { failures: 4, min: 30_000, max: 100_000 },
    slow: Array.from({ length: 50 }, () => 5000),
  });
  desk.world.receiver.answer = () => no(500);
  for (const lane of 'abcd') await desk.commit(2, lane);
  assert.equal(desk.world.receiver.posts.length, 4, 'four lanes side by side');
  const armed = desk.world.time.armed;
  for (let n = 0; n < 50; n += 1) await desk.commit(1, `more ${n}`);
  assert.equal(desk.world.receiver.posts.length, 4);
  assert.equal(desk.world.time.armed, armed);
  await desk.world.time.pass(29_999);
  assert.equal(desk.world.receiver.posts.length, 4, 'nothing is tried while it is open');
  const moments = async (ms: number): Promise<readonly number[]> => {
    const before = desk.world.receiver.posts.length;
    await desk.world.time.pass(ms);
    return desk.world.receiver.posts.slice(before).map((post) => post.at - desk.start);
  };
  assert.deepEqual(await moments(400_000), [30_000, 90_000, 190_000, 290_000, 390_000]);
  desk.world.receiver.answer = () => ({ ok: true, status: 200 });
  await desk.world.time.pass(200_000);
  desk.assertQuiet();
});

test('courier: after a change the receiver is tried at once', async () => {
  const desk = new Desk({ circuit: { failures: 1, min: 600_000, max: 600_000 } });
  desk.world.receiver.answer = () => no(500);
  await desk.commit(2);
  desk.world.receiver.answer = () => ({ ok: true, status: 200 });
  desk.webhook = { ...sample, url: 'http://better.test' };
  desk.changed();
  await settle();
  assert.deepEqual(
    desk.world.receiver.posts.slice(1).map(({ url }) => url),
    ['http://better.test', 'http://better.test'],
  );
  desk.courier.stop();
  assert.equal(desk.stored, 0);
});

test('courier: an address that changes while a row waits for its retry is used for the retry', async () => {
  const desk = new Desk();
  desk.world.receiver.answer = ({ url }) => (url === sample.url ? no(500) : { ok: true, status: 200 });
  await desk.commit(1);
  desk.webhook = { ...sample, url: 'http://better.test' };
  await desk.world.time.pass(1500);
  assert.equal(desk.world.receiver.posts.at(-1)?.url, 'http://better.test');
});

test('courier: rows of an earlier run are found page by page, in order', async () => {
  const desk = new Desk({ inMemory: 10 });
  desk.rows(45, 'chat');
  desk.add([]);
  await settle();
  await desk.world.time.pass(5000);
  assert.equal(desk.order, Array.from({ length: 45 }, (_, n) => `e${n + 1}`).join(' '));
  desk.assertQuiet();
});

test('courier: rows that are committed during the read of a page are not lost', async () => {
  const desk = new Desk({ inMemory: 10 });
  const { promise, resolve } = Promise.withResolvers<void>();
  desk.world.db.holds.set('outbox.due', promise);
  desk.rows(2, 'chat');
  desk.add([]);
  await settle();
  desk.add(desk.rows(3, 'chat'));
  desk.world.db.holds.clear();
  resolve();
  await settle();
  assert.equal(desk.order, 'e1 e2 e3 e4 e5');
  desk.assertQuiet();
});

test('courier: a row that was delivered while its page was read is not delivered again', async () => {
  const desk = new Desk({ inMemory: 10, concurrency: 2 });
  const first = Promise.withResolvers<Attempt>();
  desk.world.receiver.answer = ({ headers }) => (headers['webhook-id'] === 'e1' ? first.promise : { ok: true, status: 200 });
  await desk.commit(1, 'a');
  const page = Promise.withResolvers<void>();
  desk.world.db.holds.set('outbox.due', page.promise);
  desk.add([]); // The courier is notified without rows. It reads the page, which has e1.
  await settle();
  first.resolve({ ok: true, status: 200 });
  await settle();
  assert.equal(desk.stored, 0);
  desk.world.db.holds.clear();
  page.resolve();
  await settle();
  assert.equal(desk.order, 'e1');
  desk.assertQuiet();
});

test('courier: rows whose removal is slow are neither sent again nor read again without end', async () => {
  const desk = new Desk({ inMemory: 4 });
  const { outbox } = desk.world.ports;
  const { promise, resolve } = Promise.withResolvers<void>();
  // Delivered rows leave the outbox for the archive.
  const { archive } = outbox;
  (outbox as { archive: typeof archive }).archive = async (rows) => {
    await promise;
    await archive(rows);
  };
  desk.rows(9, 'chat');
  desk.add([]);
  await settle();
  const asked = desk.world.db.count('outbox.due');
  await settle();
  assert.ok(asked < 10, `asked ${asked} times`);
  assert.deepEqual([desk.stored, desk.order], [9, 'e1 e2 e3 e4']);
  resolve();
  await desk.world.time.pass(3000);
  assert.equal(desk.order, Array.from({ length: 9 }, (_, n) => `e${n + 1}`).join(' '));
  desk.assertQuiet();
});

test('courier: after a page whose rows all left meanwhile it reads the next page', async () => {
  const desk = new Desk({ inMemory: 1 });
  const { db, ports, time, receiver } = desk.world;
  const [removed, read] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { archive } = ports.outbox;
  (ports.outbox as { archive: typeof archive }).archive = async (rows) => {
    await removed.promise;
    await archive(rows);
  };
  receiver.answer = () => new Promise((resolve) => void time.setTimeout(() => resolve({ ok: true, status: 200 }), 1_000));
  desk.rows(2, 'chat');
  desk.add([]);
  await settle();
  db.holds.set('outbox.due', read.promise);
  await time.pass(1_000);
  removed.resolve();
  await settle();
  db.holds.clear();
  read.resolve();
  await time.pass(10_000);
  assert.equal(desk.order, 'e1 e2');
  desk.assertQuiet();
});

test('courier: it waits for storage that is away, and loses nothing', async () => {
  const desk = new Desk();
  desk.world.db.away = true;
  desk.add(desk.rows(2, 'a'));
  await desk.world.time.pass(5000);
  assert.equal(desk.order, '');
  desk.world.db.away = false;
  await desk.world.time.pass(1000);
  assert.equal(desk.order, 'e1 e2');
  desk.world.db.away = true;
  await desk.commit(1, 'a');
  await desk.world.time.pass(5000);
  assert.equal(desk.order, 'e1 e2 e3', 'what was delivered is not sent again');
  desk.world.db.away = false;
  await desk.world.time.pass(2000);
  desk.assertQuiet();
});

test('courier: an unexpected error stops it, is reported, and leaves the rows in place', async () => {
  const desk = new Desk();
  desk.world.receiver.answer = () => {
    throw new Error('not an Attempt');
  };
  await desk.commit(2);
  assert.equal(desk.crashes.length, 1);
  assert.equal(desk.stored, 2);
  assert.equal(desk.world.time.armed, 0);
});

test('courier: after a stop it sends nothing more and holds no timer', async () => {
  const desk = new Desk();
  desk.world.receiver.answer = () => no(500);
  await desk.commit(2);
  desk.courier.stop();
  await desk.world.time.pass(1_000_000);
  assert.equal(desk.order, 'e1');
  assert.equal(desk.world.time.armed, 0);
});

test('courier: for any receiver every row arrives or uses all its attempts, in the order of its lane', async () => {
  const answers = fc.array(fc.constantFrom(200, 200, 200, 500, 429), { minLength: 1, maxLength: 30 });
  const commits = fc.array(
    fc.record({ lane: fc.constantFrom('a', 'b', 'c'), count: fc.integer({ min: 1, max: 4 }), pause: fc.nat(3000) }),
    {
      minLength: 1,
      maxLength: 12,
    },
  );
  await fc.assert(
    fc.asyncProperty(answers, commits, async (statuses, commits) => {
      const desk = new Desk({ inMemory: 6, concurrency: 2, circuit: { failures: 5, min: 10_000, max: 60_000 } });
      desk.world.receiver.answer = async () => {
        await Promise.resolve();
        const status = statuses[desk.world.receiver.posts.length % statuses.length] ?? 200;
        return status === 200 ? { ok: true, status } : no(status);
      };
      const lanes = new Map<string, string>();
      for (const { lane, count, pause } of commits) {
        for (const { eventId } of await desk.commit(count, lane)) lanes.set(eventId, lane);
        await desk.world.time.pass(pause);
        assert.ok(desk.world.time.armed <= 4, 'timers: two retries and two alarms at most');
      }
      await desk.world.time.pass(10_800_000);
      desk.assertQuiet();
      const seen = new Set(desk.order.split(' '));
      assert.equal(
        seen.size,
        commits.reduce((sum, { count }) => sum + count, 0),
      );
      for (const lane of 'abc') {
        const firsts = [...seen].filter((id) => lanes.get(id) === lane).map((id) => Number(id.slice(1)));
        assert.deepEqual(
          firsts,
          firsts.toSorted((a, b) => a - b),
        );
      }
    }),
    { seed: 5, numRuns: 60 },
  );
});
