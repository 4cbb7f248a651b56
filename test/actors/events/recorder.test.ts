/** The recorder and the keeper of the record, with storage that comes and goes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Recorder } from '#actors/events/recorder.ts';
import type { Entry } from '#actors/model.ts';
import { StorageUnavailable, type Committed } from '#actors/ports.ts';
import { RecordKeeper } from '#actors/session/record-keeper.ts';
import { settle, World } from '#test/fakes/world.ts';

const entry = (n: number, type: 'messages' | 'presence' = 'messages'): Entry => ({ kind: 'event', type, lane: '', payload: { n } });
const numberOf = (one: Entry): number => {
  if (one.kind === 'event') return Number(one.payload['n']);
  if (one.kind === 'history') return one.number;
  return one.kind === 'status' ? one.at : -1;
};

class Bench {
  readonly world = new World();
  readonly groups: number[][] = [];
  readonly told: boolean[] = [];
  away = false;
  bad: number | null = null;
  hold: Promise<void> | null = null;
  readonly recorder = new Recorder({
    instance: 'r1',
    time: this.world.time,
    log: this.world.log,
    limits: { maxWait: 5, maxBatch: 4 },
    commit: (entries) => this.#commit(entries),
    committed: (_committed, again) => this.told.push(again),
  });

  async #commit(entries: readonly Entry[]): Promise<Committed> {
    await this.hold;
    if (this.away) throw new StorageUnavailable('away');
    const numbers = entries.map(numberOf);
    if (this.bad !== null && numbers.includes(this.bad)) throw new Error('value out of range');
    this.groups.push(numbers);
    return { events: [], deliveries: [] };
  }
}

const past = (n: number, items: number): Entry => ({
  kind: 'history',
  past: { of: 'labels', items: Array.from({ length: items }, () => ({ id: '1', name: 'New', color: 0, deleted: false })) },
  number: n,
  total: 9,
});
const receipt = (n: number, items: number): Entry => ({
  kind: 'status',
  messageIds: Array.from({ length: items }, (_, id) => `M${id}`),
  chatId: '',
  status: 'Read',
  sender: '',
  senderPn: '',
  senderLid: '',
  fromMe: false,
  at: n,
});

test('recorder: an idle one commits at once; what was said in one turn is one group', async () => {
  const bench = new Bench();
  bench.recorder.record([entry(1)]);
  bench.recorder.record([entry(2), entry(3)]);
  await settle();
  assert.deepEqual(bench.groups, [[1, 2, 3]]);
  assert.equal(bench.world.time.armed, 0);
});

test('recorder: a busy one gathers, in order, in groups of a limited size', async () => {
  const bench = new Bench();
  const { promise, resolve } = Promise.withResolvers<void>();
  bench.hold = promise;
  bench.recorder.record([entry(0)]);
  await settle();
  bench.recorder.record(Array.from({ length: 10 }, (_, n) => entry(n + 1)));
  resolve();
  await bench.world.time.pass(100);
  assert.deepEqual(bench.groups, [[0], [1, 2, 3, 4], [5, 6, 7, 8], [9, 10]]);
  assert.equal(bench.recorder.waiting, 0);
});

test('recorder: the past and receipts count as what they hold, and what is larger than a group is a group by itself', async () => {
  const bench = new Bench();
  bench.recorder.record([past(1, 3), entry(2), entry(3), past(4, 4), past(5, 9), entry(6), past(7, 2), receipt(8, 2), past(9, 0)]);
  await bench.world.time.pass(100);
  assert.deepEqual(bench.groups, [[1, 2], [3], [4], [5], [6, 7], [8, 9]]);
});

for (const [title, first, groups] of [
  ['what comes during the commit before goes next', 'append', [[0], [1], [2]]],
  ['what comes during the pause ends it', 'record', [[0], [1, 2]]],
] as const) {
  test(`recorder: who waits does not wait for others to be gathered: ${title}`, async () => {
    const bench = new Bench();
    const { promise, resolve } = Promise.withResolvers<void>();
    bench.hold = promise;
    bench.recorder.record([entry(0)]);
    await settle();
    const asked = first === 'append' ? bench.recorder.append(entry(1)) : bench.recorder.record([entry(1)]);
    resolve();
    await settle();
    await asked;
    await bench.recorder.append(entry(2));
    assert.deepEqual(bench.groups, groups);
    assert.equal(bench.world.time.armed, 0);
  });
}

test('recorder: a database that is away is waited for; nothing is lost and the order stays', async () => {
  const bench = new Bench();
  bench.away = true;
  bench.recorder.record([entry(1), entry(2)]);
  const told = bench.recorder.tell(entry(3));
  await settle();
  await told; // its caller does not wait for storage
  await bench.world.time.pass(10_000);
  bench.recorder.record([entry(4)]);
  await bench.recorder.tell(entry(5));
  assert.deepEqual(bench.groups, []);
  bench.away = false;
  await bench.world.time.pass(1000);
  assert.deepEqual(bench.groups.flat(), [1, 2, 3, 4, 5]);
  assert.equal(bench.told[0], true, 'it is told that the group was tried before');
});

test('recorder: what a caller waits for fails at once while the database is away, and is not stored later', async () => {
  const bench = new Bench();
  bench.away = true;
  await assert.rejects(bench.recorder.append(entry(1)), StorageUnavailable);
  bench.recorder.record([2, 2, 2, 2, 2].map((n) => entry(n)));
  const early = bench.recorder.append(entry(3));
  await assert.rejects(early, StorageUnavailable);
  await bench.world.time.pass(700);
  await assert.rejects(bench.recorder.append(entry(4)), StorageUnavailable);
  bench.away = false;
  await bench.world.time.pass(1000);
  await bench.recorder.append(entry(5));
  assert.deepEqual(bench.groups.flat(), [2, 2, 2, 2, 2, 5]);
  assert.equal(bench.world.time.armed, 0);
});

test('recorder: one that is stopped gives up what storage did not take, says how much, and takes no more', async () => {
  const bench = new Bench();
  bench.away = true;
  bench.recorder.record([entry(1), entry(2)]);
  await bench.world.time.pass(700);
  bench.recorder.record([entry(3)]);
  bench.recorder.stop();
  await bench.recorder.drained();
  bench.recorder.record([entry(4)]);
  await bench.recorder.tell(entry(5));
  assert.deepEqual([bench.world.log.of('entries.lost')[0]?.fields['entries'], bench.recorder.waiting, bench.world.time.armed], [3, 0, 0]);
});

test('recorder: a bad entry costs only itself', async () => {
  const bench = new Bench();
  bench.bad = 2;
  bench.recorder.record([entry(1)]);
  const bad = bench.recorder.append(entry(2));
  const good = bench.recorder.append(entry(3));
  await assert.rejects(bad, /value out of range/);
  await good;
  assert.deepEqual(bench.groups, [[1], [3]]);
  assert.equal(bench.world.log.of('entry.refused').length, 1);
});

test('recorder: a listener that throws costs neither the group nor those after it', async () => {
  const bench = new Bench();
  bench.told.push = () => {
    throw new Error('no');
  };
  await bench.recorder.append(entry(1));
  await bench.recorder.append(entry(2));
  assert.deepEqual(bench.groups, [[1], [2]], 'and nothing is committed twice');
});

test('recorder: while the database is away presence is bounded, messages are not', async () => {
  const bench = new Bench();
  bench.away = true;
  bench.recorder.record(Array.from({ length: 1500 }, (_, n) => entry(n, 'presence')));
  bench.recorder.record(Array.from({ length: 50 }, (_, n) => entry(n)));
  assert.equal(bench.recorder.waiting, 1050);
});

test('recorder: recorded when what came before is committed, however much comes after; never true for what was lost', async () => {
  const bench = new Bench();
  assert.equal(await bench.recorder.recorded(), true);
  bench.recorder.record([entry(1), entry(2)]);
  const first = bench.recorder.recorded();
  bench.away = true;
  bench.recorder.record([entry(3)]);
  const later = bench.recorder.recorded();
  bench.bad = 2;
  bench.away = false;
  assert.equal(await first, true, 'a bad entry is refused, not lost');
  assert.equal(await later, true);
  bench.away = true;
  bench.recorder.record([entry(4)]);
  const lost = bench.recorder.recorded();
  await settle();
  bench.recorder.stop();
  assert.equal(await lost, false);
  assert.equal(await bench.recorder.recorded(), false);
});

test('recorder: drained when nothing waits', async () => {
  const bench = new Bench();
  await bench.recorder.drained();
  bench.recorder.record(Array.from({ length: 9 }, (_, n) => entry(n)));
  const drained = bench.recorder.drained().then(() => bench.groups.flat().length);
  await bench.world.time.pass(100);
  assert.equal(await drained, 9);
});

/* ---------- record-keeper ---------- */

function kept() {
  const world = new World();
  const { instances, time, log } = world.ports;
  const keeper = new RecordKeeper(world.register({ id: 'r1' }), instances, time, log);
  return { world, keeper, stored: () => world.db.instances.get('r1') };
}

test('record-keeper: a note is true at once and stored soon, several of one turn in one statement', async () => {
  const { world, keeper, stored } = kept();
  keeper.note({ profileName: 'A' });
  keeper.note({ profileName: 'B', owner: '55' });
  assert.equal(keeper.record.profileName, 'B');
  await keeper.flush();
  assert.equal(stored()?.profileName, 'B');
  assert.equal(stored()?.owner, '55');
  assert.equal(world.db.count('instances.update'), 1);
});

test('record-keeper: notes outlive storage that is away, and later ones win', async () => {
  const { world, keeper, stored } = kept();
  world.db.away = true;
  keeper.note({ profileName: 'A', owner: '1' });
  await world.time.pass(2000);
  keeper.note({ profileName: 'B' });
  await world.time.pass(2000);
  world.db.away = false;
  await world.time.pass(1000);
  assert.deepEqual([stored()?.profileName, stored()?.owner], ['B', '1']);
  assert.equal(world.time.armed, 0);
});

test('record-keeper: a note that a save took along is stored later when storage takes long to fail', async () => {
  const { world, keeper, stored } = kept();
  const { instances, time, log } = world.ports;
  const slow = {
    ...instances,
    update: async (...change: Parameters<typeof instances.update>) => {
      await new Promise((resolve) => void time.setTimeout(() => resolve(null), world.db.away ? 3000 : 0));
      return await instances.update(...change);
    },
  };
  const patient = new RecordKeeper(keeper.record, slow, time, log);
  world.db.away = true;
  patient.note({ profileName: 'A' });
  await world.time.pass(3100);
  const saved = assert.rejects(patient.save({ name: 'new' }), StorageUnavailable);
  await world.time.pass(4000);
  await saved;
  world.db.away = false;
  await world.time.pass(10_000);
  assert.deepEqual([stored()?.profileName, stored()?.name === 'new'], ['A', false]);
  assert.equal(world.time.armed, 0);
});

test('record-keeper: a save is heard of when storage is away, even while notes wait, and changes nothing', async () => {
  const { world, keeper } = kept();
  world.db.away = true;
  keeper.note({ owner: '1' });
  await settle();
  await assert.rejects(keeper.save({ name: 'new' }), StorageUnavailable);
  assert.equal(keeper.record.name, 'shop');
  assert.equal(keeper.record.owner, '1');
});

test('record-keeper: the last word counts, in memory and in storage, whether noted or saved', async () => {
  const { world, keeper, stored } = kept();
  world.db.away = true;
  keeper.note({ wanted: 'online' });
  await settle();
  world.db.away = false;
  await keeper.save({ wanted: 'offline' });
  await world.time.pass(5000);
  assert.deepEqual([keeper.record.wanted, stored()?.wanted], ['offline', 'offline']);
  const hold = Promise.withResolvers<void>();
  world.db.holds.set('instances.update', hold.promise);
  const saving = keeper.save({ wanted: 'asleep' });
  await settle();
  keeper.note({ wanted: 'online' });
  await settle();
  world.db.holds.clear();
  hold.resolve();
  await saving;
  await keeper.flush();
  assert.deepEqual([keeper.record.wanted, stored()?.wanted], ['online', 'online']);
});

test('record-keeper: saves take turns', async () => {
  const { keeper, stored } = kept();
  await Promise.all(['a', 'b', 'c'].map((name) => keeper.save({ name })));
  assert.deepEqual([keeper.record.name, stored()?.name], ['c', 'c']);
});
