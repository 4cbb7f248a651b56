/** Tests the order of the events of a chat through an outage of the receiver, on simulated time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CourierDesk as Desk, no } from '#test/fakes/courier-desk.ts';
import { settle } from '#test/fakes/world.ts';

const yes = { ok: true, status: 200 } as const;
const hour = 3_600_000;
const slow = [5_000, 30_000, 120_000, 600_000, 1_800_000, 7_200_000, 21_600_000, 43_200_000];
const usual = { slow, circuit: { failures: 10, min: 30_000, max: 600_000 } };

/** Records events in the order of their first successful post. */
class Taken {
  readonly ids: string[] = [];
  isDown = true;

  constructor(desk: Desk, refuses: (id: string) => boolean = () => false) {
    desk.world.receiver.answer = ({ headers }) => {
      const id = headers['webhook-id'] ?? '';
      if (this.isDown || refuses(id)) return no(500);
      this.ids.push(id);
      return yes;
    };
  }
}

const ids = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => `e${n + 1}`);

for (const [outage, most] of [
  [30_000, 60_000],
  [hour, 700_000],
  [12 * hour, 700_000],
] as const)
  test(`lanes: events of a chat arrive in their order after an outage of ${outage / 1000} s, soon after its end`, async () => {
    const desk = new Desk(usual);
    const taken = new Taken(desk);
    for (let n = 0; n < 6; n += 1) {
      await desk.commit(1);
      await desk.world.time.pass(outage / 6);
    }
    taken.isDown = false;
    await desk.world.time.pass(most);
    assert.deepEqual(taken.ids, ids(6));
    desk.courier.stop();
  });

test('lanes: an event that always fails holds its own chat until it is given up, and no other chat', async () => {
  const desk = new Desk({ slow: [5_000, 30_000, 120_000], circuit: { failures: 10, min: 30_000, max: 600_000 } });
  const taken = new Taken(desk, (id) => id === 'e1');
  taken.isDown = false;
  await desk.commit(2, 'a');
  await desk.commit(2, 'b');
  await desk.world.time.pass(100_000);
  await desk.commit(1, 'a');
  await desk.commit(1, 'b');
  assert.deepEqual(taken.ids, ['e3', 'e4', 'e6']);
  await desk.world.time.pass(100_000);
  assert.deepEqual(taken.ids, ['e3', 'e4', 'e6', 'e2', 'e5']);
  desk.assertQuiet();
});

test('lanes: a held chat uses no memory for the events behind its first one', async () => {
  const desk = new Desk({ ...usual, inMemory: 10 });
  const taken = new Taken(desk, (id) => id === 'e1' && desk.world.time.now() - desk.start < 50_000);
  taken.isDown = false;
  await desk.commit(60, 'a');
  await desk.world.time.pass(12_000);
  assert.equal(desk.courier.waiting, 0);
  await desk.commit(30, 'b');
  await desk.world.time.pass(3_000);
  assert.equal(taken.ids.length, 30, 'the other chat passes');
  await desk.world.time.pass(200_000);
  assert.deepEqual(taken.ids.slice(30), ids(60));
  desk.assertQuiet();
});

test('lanes: a held chat is still held after a restart, and its first event is tried at once', async () => {
  const desk = new Desk(usual);
  const taken = new Taken(desk, (id) => id === 'e1');
  taken.isDown = false;
  await desk.commit(1, 'a');
  await desk.world.time.pass(12_000);
  const before = desk.world.receiver.posts.length;
  desk.restart();
  await settle();
  await desk.commit(2, 'a');
  await desk.world.time.pass(1_000);
  assert.deepEqual(taken.ids, []);
  assert.equal(desk.world.receiver.posts.length, before + 1);
  assert.equal([...desk.world.db.outbox.values()][0]?.attempts, 4, 'a try before its time is not counted');
  desk.courier.stop();
});

test('lanes: when a receiver is back, parked events are tried at once', async () => {
  const desk = new Desk({ ...usual, concurrency: 2 });
  const taken = new Taken(desk);
  for (const lane of 'abcde') await desk.commit(2, lane);
  await desk.world.time.pass(3 * hour);
  taken.isDown = false;
  await desk.world.time.pass(620_000);
  assert.equal(taken.ids.length, 10);
  desk.courier.stop();
});

test('lanes: a probe of an open circuit takes the oldest event of its chat, also a parked one', async () => {
  const desk = new Desk(usual);
  const taken = new Taken(desk);
  await desk.commit(3);
  await desk.world.time.pass(6 * hour);
  assert.ok(desk.world.receiver.posts.length > 20, 'it is probed all the time');
  assert.deepEqual(new Set(desk.order.split(' ')), new Set(['e1']));
  assert.deepEqual([taken.ids, desk.world.db.archive.length], [[], 0]);
  desk.courier.stop();
});
