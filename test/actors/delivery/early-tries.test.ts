/** Tests the early attempts at held chats after a receiver accepts other events again, on simulated time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CourierDesk as Desk, no } from '#test/fakes/courier-desk.ts';
import { settle } from '#test/fakes/world.ts';

const yes = { ok: true, status: 200 } as const;
const hour = 3_600_000;
const slow = [5_000, 30_000, 120_000, 600_000, 1_800_000, 7_200_000, 21_600_000, 43_200_000];
const usual = { slow, circuit: { failures: 10, min: 30_000, max: 600_000 } };

/** A courier with a receiver that refuses the events of `refused`. */
class Trial {
  readonly desk: Desk;
  readonly refused = new Set<string>();
  readonly taken: string[] = [];

  constructor(change: ConstructorParameters<typeof Desk>[0] = {}) {
    this.desk = new Desk({ ...usual, ...change });
    this.desk.world.receiver.answer = ({ headers }) => {
      const id = headers['webhook-id'] ?? '';
      if (this.refused.has(id)) return no(500);
      this.taken.push(id);
      return yes;
    };
  }

  pass(ms: number): Promise<void> {
    return this.desk.world.time.pass(ms);
  }

  /** Posts an event of a chat of its own, which the receiver refuses once and then accepts. Such a success is a recovery of the receiver. */
  async recover(): Promise<void> {
    const [row] = this.desk.rows(1, `other ${this.desk.world.time.now()}`);
    this.refused.add(row!.eventId);
    this.desk.add([row!]);
    await this.pass(0);
    this.refused.delete(row!.eventId);
    await this.pass(2_000);
  }

  /** Returns the times of the posts of an event since the start. In seconds. */
  times(id: string): readonly number[] {
    const { posts } = this.desk.world.receiver;
    return posts.filter(({ headers }) => headers['webhook-id'] === id).map(({ at }) => Math.round((at - this.desk.start) / 1000));
  }
}

test('early tries: a success of another chat releases a held chat at once, with all of its events in order', async () => {
  const trial = new Trial();
  trial.refused.add('e1');
  await trial.desk.commit(3, 'held');
  await trial.pass(60_000);
  assert.deepEqual(trial.times('e1'), [0, 2, 7, 12, 42], 'the chat is parked for two minutes');
  trial.refused.clear();
  await trial.desk.commit(1, 'other');
  await trial.pass(1_000);
  assert.deepEqual(trial.taken, ['e4', 'e1', 'e2', 'e3']);
  trial.desk.courier.stop();
});

test('early tries: a recovery while the outbox is read counts', async () => {
  const trial = new Trial();
  const { desk } = trial;
  trial.refused.add('e1');
  await desk.commit(1, 'held');
  await trial.pass(60_000);
  trial.refused.clear();
  const [answered, read] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { answer } = desk.world.receiver;
  desk.world.receiver.answer = async (request) => answered.promise.then(() => answer(request));
  await desk.commit(1, 'other');
  desk.world.db.holds.set('outbox.due', read.promise);
  desk.add([]);
  await settle();
  answered.resolve();
  await settle();
  desk.world.db.holds.clear();
  read.resolve();
  await trial.pass(1_000);
  assert.deepEqual(trial.taken, ['e2', 'e1']);
  desk.courier.stop();
});

test('early tries: a chat that fails for its own reason is not tried at each success of other chats', async () => {
  const trial = new Trial();
  trial.refused.add('e1');
  await trial.desk.commit(1, 'held');
  await trial.pass(hour);
  const before = trial.times('e1').length;
  for (let n = 0; n < 50; n += 1) {
    await trial.desk.commit(1, `other ${n}`);
    await trial.pass(60_000);
  }
  const early = trial.times('e1').slice(before);
  assert.ok(early.length <= 3, `it is tried at ${early}`);
  assert.equal(trial.taken.length, 50);
  trial.desk.courier.stop();
});

test('early tries: under a receiver that recovers again and again, the pauses of a refused chat double', async () => {
  const trial = new Trial();
  trial.refused.add('e1');
  await trial.desk.commit(1, 'held');
  while (trial.desk.world.time.now() - trial.desk.start < 24 * hour) {
    await trial.recover();
    await trial.pass(28_000);
  }
  const { length } = trial.times('e1');
  const table = 3 + slow.length;
  assert.ok(length > table && length <= table + 13, `${length} attempts`);
  assert.equal(trial.desk.failures.findLast(({ eventId }) => eventId === 'e1')?.attempts, table, 'early attempts do not count');
  trial.desk.courier.stop();
});

test('early tries: refused chats do not delay another held chat', async () => {
  const trial = new Trial();
  for (const id of ['e1', 'e2', 'e3']) trial.refused.add(id);
  for (const lane of ['refused 1', 'refused 2', 'refused 3']) await trial.desk.commit(1, lane);
  for (let n = 0; n < 120; n += 1) {
    await trial.recover();
    await trial.pass(58_000);
  }
  const [late] = trial.desk.rows(1, 'late');
  trial.refused.add(late!.eventId);
  trial.desk.add([late!]);
  await trial.pass(60_000);
  assert.equal(trial.times(late!.eventId).length, 5, 'the chat is parked for two minutes');
  trial.refused.delete(late!.eventId);
  await trial.desk.commit(1, 'other');
  await trial.pass(1_000);
  assert.equal(trial.taken.at(-1), late!.eventId);
  trial.desk.courier.stop();
});

test('early tries: a recovery within the pause of a held chat counts at the end of the pause', async () => {
  const trial = new Trial();
  trial.refused.add('e1');
  await trial.desk.commit(1, 'held');
  await trial.pass(3 * hour);
  await trial.desk.commit(1, 'first');
  const { length } = trial.times('e1');
  await trial.pass(1_000);
  await trial.recover();
  trial.refused.clear();
  await trial.pass(25_000);
  assert.equal(trial.times('e1').length, length);
  await trial.pass(5_000);
  assert.deepEqual([trial.taken, trial.desk.stored], [['e2', 'e3', 'e1'], 0]);
  trial.desk.courier.stop();
});

test('early tries: all held chats are released, also those that do not fit in memory', async () => {
  const trial = new Trial({ inMemory: 4, circuit: { failures: 1_000, min: 30_000, max: 600_000 } });
  const count = 30;
  for (let n = 1; n <= count; n += 1) trial.refused.add(`e${n}`);
  for (let n = 1; n <= count; n += 1) await trial.desk.commit(1, `held ${n}`);
  await trial.pass(400_000);
  trial.refused.clear();
  trial.refused.add('e1');
  await trial.desk.commit(1, 'other');
  await trial.pass(1_000);
  assert.equal(trial.taken.length, count);
  trial.desk.courier.stop();
});
