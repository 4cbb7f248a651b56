/** Tests deliveries of commits and replays that the database applied without an answer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry, GatewayEvent } from '#actors/model.ts';
import { supervisedWorkers } from '#actors/policy/supervised-workers.ts';
import { StorageUnavailable } from '#actors/ports.ts';
import { recorderOf } from '#actors/session/recording.ts';
import { staged } from '#test/actors/stage.ts';
import { delivery } from '#test/fakes/records.ts';
import { settle, testPolicy, World } from '#test/fakes/world.ts';
import { arrived, chatId, fresh, status } from '#test/ports/entries.ts';
import { Bench, entry } from './recorder-bench.ts';

const hooked = (world: World): void => void world.hook({ id: 'w1', instanceId: 'r1', url: 'http://hook.test' });
const row = (seq: number, { time }: World) => delivery(seq, 'chat', { webhookId: 'w1', instanceId: 'r1', at: time.now() });

test('lost answers: the commit after a failed append may find rows that no call reported', async () => {
  const bench = new Bench();
  bench.away = true;
  await assert.rejects(bench.recorder.append(entry(1)), StorageUnavailable);
  bench.away = false;
  await settle();
  await bench.recorder.append(entry(2));
  await bench.recorder.append(entry(3));
  assert.deepEqual(
    [bench.groups, bench.told],
    [
      [[2], [3]],
      [true, false],
    ],
  );
});

test('lost answers: some seconds after an outage the couriers search the outbox', async () => {
  const { world, gateway } = await staged(['r1', { id: 'r2', wanted: 'offline' }], {}, hooked);
  const before = world.receiver.posts.length;
  const searches = (): number => world.db.statements.filter((name) => name === 'outbox.pending').length;
  world.db.outbox.set(901, row(901, world));
  await world.time.pass(60_000);
  assert.equal(world.receiver.posts.length, before, 'no courier knows of the row');
  const earlier = searches();
  gateway.storageBack();
  gateway.storageBack();
  await world.time.pass(1_000);
  assert.equal(world.receiver.posts.length, before, 'statements under way end first');
  await world.time.pass(20_000);
  assert.deepEqual([world.receiver.posts.length, world.db.outbox.size], [before + 1, 0]);
  assert.equal(searches() - earlier, 2, 'the second outage may have ended during the first search');
});

test('lost answers: an outage that goes on delays the search, and a stop ends it', async () => {
  const { world, gateway } = await staged(['r1'], {}, hooked);
  const before = world.receiver.posts.length;
  world.db.outbox.set(901, row(901, world));
  gateway.storageBack();
  world.db.away = true;
  await world.time.pass(30_000);
  world.db.away = false;
  await world.time.pass(10_000);
  assert.equal(world.receiver.posts.length, before + 1);
  gateway.storageBack();
  await world.answerOf(gateway.stop());
  assert.equal(world.time.armed, 0);
});

test('lost answers: the deliveries of a replay without an answer are sent', async () => {
  const { world, gateway } = await staged(['r1'], {}, hooked);
  const before = world.receiver.posts.length;
  const { deliveries } = world.ports;
  world.db.archive.push({ ...row(901, world), dead: true, endedAt: world.time.now(), status: 500, error: '' });
  const replay = deliveries.replay;
  Object.assign(deliveries, {
    replay: async (...given: Parameters<typeof replay>) => {
      await replay(...given);
      throw new StorageUnavailable('the answer was lost');
    },
  });
  await assert.rejects(world.answerOf(gateway.replay('r1', { ids: ['e901'], limit: 10 })), StorageUnavailable);
  assert.equal(world.db.outbox.size, 1);
  await world.time.pass(20_000);
  assert.deepEqual([world.receiver.posts.length, world.db.outbox.size], [before + 1, 0]);
});

/** A recorder on a journal that applies commits, and loses the answers of some. */
class Forgetful {
  readonly world = new World();
  readonly record = this.world.register({ id: 'r1' });
  readonly published: GatewayEvent[] = [];
  /** The number of answers that get lost. */
  lost = 0;
  readonly recorder = recorderOf({
    ports: { ...this.world.ports, journal: { ...this.world.ports.journal, commit: (...given) => this.#commit(...given) } },
    policy: testPolicy,
    record: () => this.record,
    targets: () => ['w1'],
    workers: supervisedWorkers(this.world.ports, testPolicy, { instance: 'r1' }),
    committed: ({ events }) => void this.published.push(...events),
  });

  constructor() {
    this.world.hook({ id: 'w1', instanceId: 'r1', url: 'http://hook.test' });
  }

  async commit(...entries: readonly Entry[]): Promise<void> {
    this.recorder.record(entries);
    await this.world.time.pass(5_000);
    assert.equal(this.recorder.waiting, 0);
  }

  get texts(): readonly unknown[] {
    return this.published.map(({ message }) => message?.messageId);
  }

  async #commit(...given: Parameters<World['journal']['commit']>) {
    const committed = await this.world.journal.commit(...given);
    if (this.lost === 0) return committed;
    this.lost -= 1;
    throw new StorageUnavailable('the answer was lost');
  }
}

test('lost answers: the next attempt publishes the messages that the commit stored, and stores no second delivery', async () => {
  const journal = new Forgetful();
  const [known, one, two] = [fresh(), fresh(), fresh()];
  await journal.commit(arrived(known));
  journal.lost = 2;
  await journal.commit(arrived({ ...known, id: 'rother00' }), arrived(one), arrived(two));
  assert.deepEqual(
    journal.texts,
    [known, one, two].map(({ messageId }) => messageId),
    'a second report of a known message is no event',
  );
  assert.equal(journal.world.db.outbox.size, 3);
  await journal.commit(arrived(one), status([one.messageId], 'Read'));
  assert.equal(journal.texts.filter((id) => id === one.messageId).length, 1, 'a first attempt publishes no stored message');
});

for (const kind of ['chatRead', 'chatRemoved'] as const) {
  test(`lost answers: the next attempt repeats no ${kind} before a message that is stored`, async () => {
    const journal = new Forgetful();
    const [before, after] = [fresh(), fresh()];
    await journal.commit(arrived(before));
    journal.lost = 1;
    await journal.commit({ kind, chatId }, arrived(after));
    const { db } = journal.world;
    assert.deepEqual([db.chatsOf('r1').map(({ unreadCount }) => unreadCount), db.messagesOf('r1').at(-1)?.unread], [[1], true]);
    await journal.commit(arrived(fresh()), { kind, chatId });
    const left = kind === 'chatRead' ? [0] : [];
    assert.deepEqual(
      db.chatsOf('r1').map(({ unreadCount }) => unreadCount),
      left,
    );
  });
}
