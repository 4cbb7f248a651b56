/** Tests lanes, the delivery history, the feed, keyed queues and the removal of finished deliveries. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Feed } from '#actors/delivery/feed.ts';
import { FinishedDeliveries, History } from '#actors/delivery/finished-deliveries.ts';
import { Lanes } from '#actors/delivery/lanes.ts';
import type { DeliveryError, GatewayEvent } from '#actors/model.ts';
import type { DeliveryPolicy } from '#actors/policy/policy.ts';
import { StorageUnavailable } from '#actors/ports.ts';
import { KeyedMutex } from '#actors/waiting.ts';
import { delivery as row } from '#test/fakes/records.ts';
import { settle } from '#test/fakes/time.ts';

test('lanes: one row of a lane is under way at a time, and lanes take turns', () => {
  const lanes = new Lanes();
  for (const one of [row(1, 'a'), row(2, 'a'), row(3, 'b'), row(4, 'c')]) lanes.add(one);
  assert.deepEqual([lanes.take()?.seq, lanes.take()?.seq, lanes.take()?.seq, lanes.take()], [1, 3, 4, null]);
  assert.equal(lanes.underWay, 3);
  lanes.finish(row(1, 'a'));
  assert.equal(lanes.take()?.seq, 2);
  assert.equal(lanes.size, 3);
});

test('lanes: a known row is not added twice, and a removed one may be added again', () => {
  const lanes = new Lanes();
  assert.equal(lanes.add(row(1, 'a')), true);
  assert.equal(lanes.add(row(1, 'a')), false);
  lanes.take();
  lanes.finish(row(1, 'a'));
  assert.equal(lanes.add(row(1, 'a')), true);
});

test('lanes: clear keeps the rows under way, and their lanes stay taken', () => {
  const lanes = new Lanes();
  for (const one of [row(1, 'a'), row(2, 'a'), row(3, 'b')]) lanes.add(one);
  lanes.take();
  lanes.clear();
  assert.equal(lanes.size, 1);
  lanes.add(row(2, 'a'));
  assert.equal(lanes.take(), null);
  lanes.finish(row(1, 'a'));
  assert.equal(lanes.take()?.seq, 2);
});

test('lanes: memory counts the bytes of bodies, and not their characters', () => {
  const lanes = new Lanes();
  const cyrillic = row(1, 'a', { body: '{"text":"привет"}', size: 23 });
  for (const one of [cyrillic, row(2, 'a')]) lanes.add(one);
  assert.equal(lanes.bytes, 23 + row(2).size);
  lanes.take();
  lanes.finish(cyrillic);
  assert.equal(lanes.bytes, row(2).size);
  lanes.clear();
  assert.equal(lanes.bytes, 0);
});

test('lanes: a thousand lanes that come and go leave no memory behind', () => {
  const lanes = new Lanes();
  for (let n = 0; n < 1000; n += 1) {
    lanes.add(row(n, `lane ${n}`));
    const taken = lanes.take();
    if (taken) lanes.finish(taken);
  }
  assert.deepEqual([lanes.size, lanes.underWay], [0, 0]);
});

const failure = (n: number): DeliveryError => ({
  created: n,
  url: 'http://a.test',
  type: 'local',
  event: 'messages',
  messageType: '',
  statusCode: null,
  attempts: n,
  error: '',
  payload: null,
});

test('history: it holds the twenty newest, newest first', () => {
  const history = new History();
  for (let n = 1; n <= 25; n += 1) history.add(`key ${n}`, failure(n));
  const created = history.errors.map((error) => error.created);
  assert.deepEqual(
    created,
    Array.from({ length: 20 }, (_, n) => 25 - n),
  );
});

test('history: a further attempt updates its record in place and keeps the creation time', () => {
  const history = new History();
  history.add('a', failure(1));
  history.add('b', failure(2));
  history.add('a', failure(9));
  assert.deepEqual(
    history.errors.map(({ created, attempts }) => `${created} ${attempts}`),
    ['2 2', '1 9'],
  );
});

test('feed: every listener gets every event, and one that throws does not affect the others', () => {
  const failed: unknown[] = [];
  const feed = new Feed((error) => failed.push(error));
  const heard: string[] = [];
  const thrower = (): void => {
    throw new Error('no');
  };
  feed.subscribe(thrower, thrower);
  const leave = feed.subscribe(
    ({ id }) => heard.push(id),
    () => heard.push('end'),
  );
  feed.publish({ id: 'one' } as GatewayEvent);
  leave();
  feed.publish({ id: 'two' } as GatewayEvent);
  feed.end();
  assert.deepEqual(heard, ['one']);
  assert.equal(failed.length, 3);
});

test('feed: its end is reported once, and no event follows', () => {
  const heard: string[] = [];
  const feed = new Feed(() => undefined);
  feed.subscribe(
    ({ id }) => heard.push(id),
    () => heard.push('end'),
  );
  feed.end();
  feed.end();
  feed.publish({ id: 'late' } as GatewayEvent);
  assert.deepEqual(heard, ['end']);
});

test('line: tasks of one key take turns, and tasks of other keys do not wait', async () => {
  const line = new KeyedMutex();
  const log: string[] = [];
  const first = Promise.withResolvers<void>();
  const a = line.run('a', async () => {
    log.push('a1');
    await first.promise;
    log.push('a1 ends');
  });
  const b = line.run('a', async () => void log.push('a2'));
  const c = line.run('b', async () => void log.push('b1'));
  await settle();
  assert.deepEqual(log, ['a1', 'b1']);
  first.resolve();
  await Promise.all([a, b, c]);
  assert.deepEqual(log, ['a1', 'b1', 'a1 ends', 'a2']);
});

test('line: a task may release the next one before it ends, and a failure blocks no task', async () => {
  const line = new KeyedMutex();
  const log: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const slow = line.run('a', async (done) => {
    done();
    await promise;
    log.push('slow');
  });
  const bad = line.run('a', () => Promise.reject(new Error('no')));
  const last = line.run('a', async () => void log.push('last'));
  await assert.rejects(bad, /no/);
  await last;
  resolve();
  await slow;
  assert.deepEqual(log, ['last', 'slow']);
});

test('finished deliveries: a row that ends during a removal is handed over at once, and a failed removal is retried', async () => {
  const asked: { readonly seqs: readonly number[]; readonly settle: PromiseWithResolvers<void> }[] = [];
  const archive = (rows: readonly { readonly seq: number }[]): Promise<void> => {
    const settle = Promise.withResolvers<void>();
    asked.push({ seqs: rows.map(({ seq }) => seq), settle });
    return settle.promise;
  };
  const kept = { delivered: 1, dead: 1 } as DeliveryPolicy['kept'];
  const finished = new FinishedDeliveries({ archive, remove: async () => undefined }, { kept }, () => ({ instanceId: 'r1', epoch: 1 }));
  const end = (seq: number): Promise<readonly number[]> => {
    finished.add(seq, { seq, dead: false, attempts: 1, status: 200, error: '', endedAt: 1 });
    return finished.takeOut();
  };
  const [first, second] = [end(1), end(2)];
  assert.deepEqual(
    asked.map(({ seqs }) => seqs),
    [[1], [2]],
  );
  asked[0]?.settle.reject(new StorageUnavailable('away'));
  asked[1]?.settle.resolve();
  await assert.rejects(first, StorageUnavailable);
  assert.deepEqual([await second, finished.waiting, finished.has(1), finished.has(2)], [[2], true, true, false]);
  const again = finished.takeOut();
  asked[2]?.settle.resolve();
  assert.deepEqual([await again, finished.isEmpty], [[1], true]);
});
