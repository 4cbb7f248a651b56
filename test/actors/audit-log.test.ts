/** Tests the audit log, which is written after the answer: delays of writes, waiting notes, and the bounds against a flood. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AuditLog } from '#actors/inspection/audit-log.ts';
import type { AuditNote } from '#actors/model.ts';
import { StorageUnavailable } from '#actors/ports.ts';
import { FakeTime } from '#test/fakes/time.ts';
import { FakeAuditLog } from '#test/fakes/users.ts';

const stage = () => {
  const [time, store, lines] = [new FakeTime(), new FakeAuditLog(), [] as string[]];
  const write = (_fields: object, event: string): void => void lines.push(event);
  const log = new AuditLog({ store, time, log: { debug: write, info: write, warn: write, error: write } });
  const note = (change: Partial<AuditNote> = {}): void =>
    log.note({
      at: time.now(),
      actor: 'user',
      who: 'ana',
      address: '192.0.2.1',
      method: 'POST',
      route: '/webhook',
      instance: 'r1',
      subject: '',
      status: 200,
      ...change,
    });
  return { time, store, lines, log, note };
};

test('audit log: a note is stored within a second, in order, and delays no answer', async () => {
  const { time, store, note } = stage();
  for (const route of ['/one', '/two', '/three']) note({ route });
  assert.equal(store.rows.length, 0);
  await time.pass(1_000);
  assert.deepEqual(
    store.rows.map(({ route }) => route),
    ['/one', '/two', '/three'],
  );
});

test('audit log: while storage is away the notes wait, and are stored once when it is back', async () => {
  const { time, store, lines, note } = stage();
  store.failNext = new StorageUnavailable('away');
  note();
  await time.pass(1_000);
  assert.deepEqual([store.rows.length, lines], [0, ['audit.notStored']]);
  note({ route: '/later' });
  await time.pass(5_000);
  assert.deepEqual(
    store.rows.map(({ route }) => route),
    ['/webhook', '/later'],
  );
});

test('audit log: a batch that the database refuses for its data is dropped, and the next one is stored', async () => {
  const { time, store, lines, note } = stage();
  store.failNext = new Error('22021');
  note();
  await time.pass(1_000);
  note({ route: '/later' });
  await time.pass(1_000);
  assert.deepEqual([store.rows.map(({ route }) => route), lines], [['/later'], ['audit.notStored']]);
});

test('audit log: a stop stores the waiting notes', async () => {
  const { store, log, note } = stage();
  note();
  await log.stop();
  assert.equal(store.rows.length, 1);
});

test('audit log: a repeated refused request is noted once a minute, and a success every time', async () => {
  const { time, store, note } = stage();
  for (let n = 0; n < 100; n += 1) note({ status: 403 });
  for (let n = 0; n < 3; n += 1) note();
  note({ status: 403, who: 'bea' });
  await time.pass(60_000);
  note({ status: 403 });
  await time.pass(1_000);
  assert.deepEqual(
    store.rows.map(({ who, status }) => [who, status]),
    [
      ['ana', 403],
      ['ana', 200],
      ['ana', 200],
      ['ana', 200],
      ['bea', 403],
      ['ana', 403],
    ],
  );
});

test('audit log: refused requests of one caller make 60 entries at once, then one a minute, and the others are counted', async () => {
  const { time, store, lines, note } = stage();
  for (let n = 0; n < 1_000; n += 1) note({ status: 403, route: `/${n}` });
  note({ status: 403, who: 'bea' });
  note();
  await time.pass(1_000);
  const countOf = (who: string) => store.rows.filter((row) => row.who === who).length;
  assert.deepEqual([countOf('ana'), countOf('bea'), lines], [61, 1, ['audit.dropped']]);
  for (let n = 0; n < 10; n += 1) {
    await time.pass(60_000);
    for (let m = 0; m < 10; m += 1) note({ status: 403, route: `/later/${n}/${m}` });
  }
  await time.pass(1_000);
  assert.equal(countOf('ana'), 71);
});

test('audit log: a flood of requests with tokens of instances during an outage displaces no entry of a user', async () => {
  const { time, store, lines, note } = stage();
  for (let n = 0; n < 12_000; n += 1) note({ actor: 'instanceToken', who: 'r1', route: `/${n}` });
  note();
  await time.pass(1_000);
  assert.equal(store.rows.filter(({ actor }) => actor === 'instanceToken').length, 10_000);
  assert.equal(store.rows.filter(({ actor }) => actor === 'user').length, 1);
  assert.ok(lines.includes('audit.dropped'));
});
