/** Tests receipts, notifications and calls. Each is acknowledged only when its entries are stored. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StanzaKind } from '#src/platform/inbound/durable-inbox.ts';
import { createFakeVault } from '#test/fakes/vault.ts';
import { until } from '#test/support/until.ts';
import { happens, type Run, stanza, start } from './inbound-run.ts';

const others = ['receipt', 'notification', 'call'] as const satisfies readonly StanzaKind[];

const turns = async (count = 5): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate);
};

const acked = (run: Run, count: number) =>
  until(
    () => run.acked.length >= count,
    () => `${count} stanzas are acknowledged; ${run.acked.join(', ')}`,
  );

/** Replaces the recorder by one that commits when the test says so. */
const hold = (run: Run): ((stored: boolean) => Promise<void>) => {
  const waiting: ((stored: boolean) => void)[] = [];
  run.stored = () => new Promise((resolve) => waiting.push(resolve));
  return async (stored) => {
    for (const resolve of waiting.splice(0)) resolve(stored);
    await turns();
  };
};

for (const kind of others)
  test(`acks: a ${kind} is acknowledged after the commit of what it led to, by the gateway alone`, async () => {
    const run = await start(createFakeVault());
    const commit = hold(run);
    run.inbox.open();
    run.inbox.take(kind, stanza('a', kind));
    await turns();
    assert.deepEqual([run.handed, run.acked], [[`${kind} a`], []]);
    run.inbox.take(kind, stanza('b', kind, { offline: '1' }));
    await turns();
    await commit(true);
    assert.deepEqual(run.acked, [`${kind} a`]);
    await commit(true);
    assert.deepEqual(run.acked, [`${kind} a`, `${kind} b`]);
    assert.equal(run.nodes[1]?.attrs['offline'], '1', 'the library sees that it is old');
  });

test('acks: a stanza that can never be stored is not acknowledged, so that the platform keeps it', async () => {
  const run = await start(createFakeVault());
  const commit = hold(run);
  run.inbox.open();
  for (const kind of others) run.inbox.take(kind, stanza(kind, kind));
  await turns();
  await commit(false);
  await commit(false);
  assert.deepEqual(run.acked, []);
});

test('acks: a notification also waits for the keys that it changed', async () => {
  const run = await start(createFakeVault());
  let store = (_stored: boolean): void => undefined;
  run.keysStored = () => new Promise((resolve) => (store = resolve));
  run.inbox.open();
  run.inbox.take('notification', stanza('a', 'notification'));
  await turns();
  assert.deepEqual(run.acked, []);
  store(true);
  await acked(run, 1);
});

for (const [title, kind, type] of [
  ['a request to send a message again', 'receipt', 'retry'],
  ['the end of a pairing by code', 'notification', 'link_code_companion_reg'],
] as const)
  test(`acks: ${title} is acknowledged by the library, when it has done it`, async () => {
    const run = await start(createFakeVault());
    hold(run);
    let done = (): void => undefined;
    run.handleOther = () => new Promise((resolve) => (done = resolve));
    run.inbox.take(kind, stanza('a', kind, { type }));
    await turns();
    assert.deepEqual(run.acked, []);
    done();
    await acked(run, 1);
    assert.deepEqual(run.acked, [`${kind} a by the library`]);
  });

test('acks: a thousand stanzas are acknowledged in order, with few requests to the recorder', async () => {
  const run = await start(createFakeVault());
  let asked = 0;
  run.stored = async () => {
    asked += 1;
    return true;
  };
  run.inbox.open();
  const ids = Array.from({ length: 1_000 }, (_, n) => String(n));
  for (const id of ids) {
    run.inbox.take('receipt', stanza(id, 'receipt'));
    if (Number(id) % 10 === 9) await turns(2);
  }
  await acked(run, ids.length);
  assert.deepEqual(
    run.acked,
    ids.map((id) => `receipt ${id}`),
  );
  assert.ok(asked <= ids.length / 5, `${asked} questions`);
  assert.deepEqual(run.closes, [], 'what is acknowledged takes no room');
});

test('acks: a stanza whose handler rejects is not acknowledged and takes no room', async () => {
  const run = await start(createFakeVault());
  run.inbox.open();
  run.handleOther = () => Promise.reject(new Error('the query failed'));
  for (let n = 0; n < 100; n += 1) {
    run.inbox.take('notification', stanza(String(n), 'notification'));
    await turns(1);
  }
  assert.deepEqual([run.handed.length, run.acked, run.closes], [100, [], []]);
});

test('acks: stanzas beyond the memory limit end the connection, also behind a message that cannot be logged', async () => {
  for (const blocked of [false, true]) {
    const vault = createFakeVault();
    const run = await start(vault);
    run.inbox.open();
    hold(run);
    vault.away = blocked;
    if (blocked) run.inbox.take('message', stanza('m'));
    for (let n = 0; n < 100; n += 1) run.inbox.take('receipt', stanza(String(n), 'receipt'));
    assert.deepEqual(
      run.closes.map(({ data }) => data?.['reason']),
      ['storageUnavailable'],
    );
    assert.ok(run.handed.length < 40, 'the rest is left to the platform');
    vault.away = false;
    void run.inbox.close();
  }
});

test('acks: after the end none is sent, stored stanzas are only acknowledged when repeated, and receipts are handled again', async () => {
  const vault = createFakeVault();
  const run = await start(vault);
  const commit = hold(run);
  run.inbox.open();
  for (const kind of others) run.inbox.take(kind, stanza('a', kind));
  await turns();
  const closed = run.inbox.close();
  await commit(true);
  await commit(true);
  await closed;
  assert.deepEqual(run.acked, []);
  await run.flushed();
  const again = await start(vault);
  again.inbox.open();
  for (const kind of others) again.inbox.take(kind, stanza('a', kind, { offline: '1' }));
  again.inbox.take('call', stanza('b', 'call'));
  await acked(again, 4);
  assert.deepEqual(again.handed, ['receipt a', 'call b']);
});

test('acks: one that cannot be sent does not block the others', async () => {
  const run = await start(createFakeVault());
  const { acknowledge } = run;
  run.acknowledge = (node) => (node.attrs['id'] === 'a' ? Promise.reject(new Error('closed')) : acknowledge(node));
  run.inbox.open();
  for (const id of ['a', 'b']) run.inbox.take('call', stanza(id, 'call'));
  await happens(run, 2);
  await acked(run, 1);
  assert.deepEqual(run.acked, ['call b']);
});

test('acks: an error while storing crashes the session', async () => {
  const run = await start(createFakeVault());
  run.stored = () => Promise.reject(new Error('no answer'));
  run.inbox.open();
  run.inbox.take('receipt', stanza('a', 'receipt'));
  await turns();
  assert.equal(run.crashes.length, 1);
  assert.deepEqual(run.acked, []);
});
