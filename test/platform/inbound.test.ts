/** Tests arriving messages: logged before the library gets them, handled in order, and kept until their entries are stored. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeVault } from '#test/fakes/vault.ts';
import { until } from '#test/support/until.ts';
import { happens, hashOfStanza, type Run, stanza, start } from './inbound-run.ts';

test('inbox: a message is in the log before the library gets it, and leaves the log when its entries are stored', async () => {
  const vault = createFakeVault();
  const run = await start(vault);
  let release = (_stored: boolean): void => undefined;
  run.stored = () => new Promise((resolve) => (release = resolve));
  run.handle = () => {
    assert.equal(vault.inbound.size, 1);
    run.log.remember(hashOfStanza('a'), Buffer.from('plain'));
  };
  run.inbox.open();
  run.inbox.take('message', stanza('a'));
  await happens(run, 1);
  await new Promise(setImmediate);
  assert.equal(vault.inbound.size, 1);
  release(true);
  await run.flushed();
  assert.equal(vault.inbound.size, 0);
  assert.equal(vault.stored.keys.size, 0, 'and the plaintext goes with it');
});

test('inbox: no message is handed over before the login or while storage is away, and the order stays', async () => {
  const vault = createFakeVault();
  const run = await start(vault);
  run.inbox.take('notification', stanza('0', 'notification'));
  assert.deepEqual(run.handed, ['notification 0'], 'what nobody waits for passes');
  vault.away = true;
  run.inbox.take('message', stanza('1'));
  run.inbox.take('receipt', stanza('2', 'receipt'));
  run.inbox.open();
  run.inbox.take('message', stanza('3', 'message', { offline: '1' }));
  await new Promise(setImmediate);
  assert.equal(run.handed.length, 1);
  vault.away = false;
  await happens(run, 4);
  assert.deepEqual(run.handed, ['notification 0', 'message 1', 'receipt 2', 'message 3']);
  assert.equal(run.nodes[3]?.attrs['offline'], undefined, 'the library would queue it elsewhere');
});

test('inbox: messages that are in the log before the login are handed over once', async () => {
  const vault = createFakeVault();
  const run = await start(vault);
  for (const id of ['a', 'b']) run.inbox.take('message', stanza(id));
  await until(() => run.log.takeUnfinished().length === 2, 'both are logged');
  run.inbox.open();
  run.inbox.take('receipt', stanza('r', 'receipt'));
  await happens(run, 3);
  assert.deepEqual(run.handed, ['message a', 'message b', 'receipt r']);
});

test('inbox: a status post, which the library ignores, is acknowledged and neither logged nor handled', async () => {
  const vault = createFakeVault();
  const run = await start(vault);
  run.handle = () => assert.equal(vault.inbound.size, 1, 'the text alone');
  run.inbox.open();
  run.inbox.take('message', stanza('post', 'message', { from: 'status@broadcast', participant: '5511900000002@s.whatsapp.net' }));
  run.inbox.take('message', stanza('text'));
  await happens(run, 1);
  assert.deepEqual([run.handed, run.acked], [['message text'], ['message post']]);
});

test('inbox: many messages share a write, and each is handled before the next begins', async () => {
  const vault = createFakeVault();
  let writes = 0;
  const { log } = vault;
  vault.log = (...stanzas) => {
    writes += 1;
    return log(...stanzas);
  };
  const run = await start(vault);
  let inside = 0;
  run.handle = async () => {
    inside += 1;
    assert.equal(inside, 1);
    await new Promise(setImmediate);
    inside -= 1;
  };
  run.inbox.open();
  for (let n = 0; n < 100; n += 1) run.inbox.take('message', stanza(String(n)));
  await happens(run, 100);
  assert.deepEqual(
    run.handed,
    Array.from({ length: 100 }, (_, n) => `message ${n}`),
  );
  assert.ok(writes <= 2, `${writes} writes`);
});

test('inbox: a backlog is handled one stanza per turn of the event loop, with other work in between', async () => {
  const run = await start(createFakeVault());
  const asked: (() => void)[] = [];
  run.turn = () => new Promise((resolve) => asked.push(resolve));
  for (const id of ['a', 'b']) run.inbox.take('message', stanza(id));
  run.inbox.take('receipt', stanza('r', 'receipt'));
  run.inbox.open();
  const expected = ['message a', 'message b', 'receipt r'];
  for (let n = 0; n < expected.length; n += 1) {
    await until(() => asked.length === n + 1, `turn ${n + 1} is asked for`);
    assert.deepEqual(run.handed, expected.slice(0, n));
    asked[n]?.();
    await happens(run, n + 1);
  }
  assert.deepEqual(run.handed, expected);
});

test('inbox: messages that a connection left unfinished are handed to the next one first', async () => {
  const vault = createFakeVault();
  const run = await start(vault);
  run.inbox.open();
  // The confirmation fails because the connection is gone, and the library gives up the message.
  run.handle = (id) => void (run.connected = id !== 'b');
  for (const id of ['a', 'b']) run.inbox.take('message', stanza(id));
  await happens(run, 2);
  await run.inbox.close();
  await run.flushed();
  assert.deepEqual(
    run.log.takeUnfinished().map(({ node }) => node.attrs['id']),
    ['b'],
  );
  const again = await start(vault);
  again.inbox.take('message', stanza('c'));
  again.inbox.open();
  await happens(again, 2);
  assert.deepEqual(again.handed, ['message b', 'message c']);
  await again.flushed();
  assert.equal(vault.inbound.size, 0);
});

test('inbox: an event reports that a message is on its way, although the connection has ended', async () => {
  const vault = createFakeVault();
  const run = await start(vault);
  run.inbox.open();
  run.handle = (id) => {
    run.connected = false;
    run.inbox.reported(id);
  };
  run.inbox.take('message', stanza('a'));
  await happens(run, 1);
  await run.inbox.close();
  await run.flushed();
  assert.equal(vault.inbound.size, 0);
});

/** Handles a message as the library does if it can read the message. */
const reads = (run: Run) => (id: string) => run.inbox.reported(id);

test('inbox: a repeated message is neither logged nor handled twice while it waits, and only confirmed afterwards', async () => {
  const vault = createFakeVault();
  const run = await start(vault);
  run.handle = reads(run);
  run.inbox.take('message', stanza('a'));
  run.inbox.take('message', stanza('a', 'message', { offline: '1' }));
  run.inbox.open();
  await happens(run, 1);
  await run.flushed();
  run.inbox.take('message', stanza('a', 'message', { offline: '1' }));
  await happens(run, 2);
  assert.deepEqual(run.handed, ['message a', 'confirmed a']);
  assert.equal(vault.inbound.size, 0);
  const other = stanza('a');
  run.inbox.take('message', { ...other, content: [{ tag: 'enc', attrs: { v: '2', type: 'pkmsg' }, content: Buffer.from('sealed anew') }] });
  run.handle = () => assert.equal(vault.inbound.size, 1);
  await happens(run, 3);
  assert.equal(run.handed.at(-1), 'message a');
});

test('inbox: a repeated message that was finished before a kill is only confirmed, and an unreadable one is tried again', async () => {
  const vault = createFakeVault();
  const run = await start(vault);
  run.inbox.open();
  // These are more names than fit on a page.
  const ids = Array.from({ length: 100 }, (_, n) => `m${n}`);
  run.handle = reads(run);
  for (const id of ids) run.inbox.take('message', stanza(id));
  await happens(run, ids.length);
  run.handle = () => undefined;
  run.inbox.take('message', stanza('unread'));
  await happens(run, ids.length + 1);
  await run.flushed();
  const again = await start(vault);
  for (const id of [...ids, 'unread']) again.inbox.take('message', stanza(id, 'message', { offline: '1' }));
  again.inbox.open();
  await happens(again, ids.length + 1);
  assert.deepEqual(again.handed, [...ids.map((id) => `confirmed ${id}`), 'message unread']);
});

test('inbox: a message that fails or is slow does not stop the next one', async () => {
  const run = await start(createFakeVault());
  run.inbox.open();
  run.handle = (id) => (id === 'a' ? Promise.reject(new Error('broken')) : undefined);
  for (const id of ['a', 'b']) run.inbox.take('message', stanza(id));
  await happens(run, 2);
});

test('inbox: a closed one hands over nothing, and does not log waiting messages', async () => {
  const vault = createFakeVault();
  const run = await start(vault);
  vault.away = true;
  run.inbox.open();
  for (const id of ['a', 'b']) run.inbox.take('message', stanza(id));
  await run.inbox.close();
  vault.away = false;
  run.inbox.take('message', stanza('c'));
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.deepEqual(run.handed, []);
});

test('inbox: a log that permanently fails ends the connection', async () => {
  const vault = createFakeVault();
  const run = await start(vault);
  vault.epoch = 2;
  run.inbox.open();
  run.inbox.take('message', stanza('a'));
  await until(() => run.closes.length > 0, 'the connection is told to end');
  assert.equal(run.closes[0]?.data?.['reason'], 'epochLost');
  assert.deepEqual(run.handed, []);
});

test('inbox: messages beyond the memory limit end the connection, and the platform keeps them', async () => {
  const vault = createFakeVault();
  const run = await start(vault);
  vault.away = true;
  run.inbox.open();
  const content = [{ tag: 'enc', attrs: { v: '2', type: 'msg' }, content: Buffer.alloc(15_000) }];
  for (const id of ['a', 'b', 'c']) run.inbox.take('message', { ...stanza(id), content });
  assert.equal(run.closes.length, 1);
  await run.inbox.close();
});

test('log: after a crash the plaintexts of unfinished messages are known, and others are removed', async () => {
  const vault = createFakeVault();
  const run = await start(vault);
  run.inbox.open();
  run.handle = (id) => {
    run.log.remember(hashOfStanza(id), Buffer.from(`plain ${id}`));
    run.connected = false;
  };
  run.inbox.take('message', stanza('a'));
  await happens(run, 1);
  run.log.remember('orphan', Buffer.from('nobody'));
  await until(() => vault.stored.keys.size === 2, 'plaintexts are stored');
  const again = await start(vault);
  assert.ok(again.log.plaintext(hashOfStanza('a')));
  assert.equal(again.log.plaintext('orphan'), undefined);
  await until(() => vault.stored.keys.size === 1, 'the orphan is removed');
});

test('log: a stanza that ends every process is set aside, and those beside it are not', async (t) => {
  const vault = createFakeVault();
  // A process that ended goes on to no other stanza.
  const patient = { handling: 600_000 };
  const over = Promise.withResolvers<void>();
  t.after(() => over.resolve());
  const first = await start(vault);
  first.inbox.open();
  first.handle = () => void (first.connected = false);
  for (const id of ['good', 'poison', 'late']) first.inbox.take('message', stanza(id));
  await happens(first, 3);
  let last: Run | null = null;
  for (let crash = 0; crash < 5; crash += 1) {
    const run = await start(vault, true, patient);
    // The process ends in the middle of it.
    run.handle = (id) => (id === 'poison' ? over.promise : undefined);
    run.inbox.open();
    await until(() => run.handed.includes('message poison'), 'it is tried');
    last = run;
  }
  assert.equal(last?.errors.length, 0);
  const healed = await start(vault);
  assert.deepEqual(
    healed.errors.map(({ event }) => event),
    ['platform.stanzas-set-aside'],
  );
  healed.inbox.open();
  await happens(healed, 1);
  await healed.flushed();
  assert.deepEqual(healed.handed, ['message late']);
  assert.equal(vault.inbound.size, 1);
});

test('log: tries are not counted for a connection that ended in order', async () => {
  const vault = createFakeVault();
  const first = await start(vault);
  first.inbox.open();
  first.handle = () => void (first.connected = false);
  first.inbox.take('message', stanza('a'));
  await happens(first, 1);
  for (let round = 0; round < 8; round += 1) {
    const run = await start(vault, false);
    run.handle = () => void (run.connected = false);
    run.inbox.open();
    await happens(run, 1);
  }
  assert.equal([...vault.inbound.values()][0]?.tries, 0);
});

test('log: messages that could not be stored stay for the next connection, which handles them again', async () => {
  const vault = createFakeVault();
  const run = await start(vault);
  run.stored = async () => false;
  run.inbox.open();
  run.inbox.take('message', stanza('a'));
  await happens(run, 1);
  await run.flushed();
  assert.equal(vault.inbound.size, 1);
  assert.deepEqual(
    run.log.takeUnfinished().map(({ node }) => node.attrs['id']),
    ['a'],
  );
  assert.deepEqual(run.handed, ['message a'], 'and is not handled again by this one');
});

test('log: a message that crashes the session each time is set aside, although the process survives', async () => {
  const vault = createFakeVault();
  const run = await start(vault, false);
  run.stored = async () => false;
  run.inbox.open();
  for (const id of ['good', 'poison']) run.inbox.take('message', stanza(id));
  await happens(run, 2);
  await run.flushed();
  for (let crash = 1; crash < 20; crash += 1) {
    run.log.suspect();
    const left = run.log.takeUnfinished();
    if (left.length === 0) break;
    assert.ok(crash <= 6, 'it is set aside in the end');
    // The message before it is stored at the second attempt, and this one never is.
    for (const message of left) {
      await run.log.trying(message);
      if (message.node.attrs['id'] === 'good' && crash === 2) run.log.finish(message, true, async () => true);
    }
    await run.flushed();
  }
  assert.deepEqual(
    run.errors.map(({ event }) => event),
    ['platform.stanzas-set-aside'],
  );
  assert.deepEqual(
    [...vault.inbound.values()].map(({ tries }) => tries),
    [5],
    'a later start leaves it alone too',
  );
  assert.equal(run.log.arrive(stanza('poison')), 'finished', 'a repetition is acknowledged');
});

test('log: a message that cannot be logged is still handed over', async () => {
  const run = await start(createFakeVault());
  run.inbox.open();
  run.inbox.take('message', { ...stanza('a'), content: [{ tag: 'enc', attrs: {}, content: 7 as unknown as Uint8Array }] });
  run.inbox.take('message', stanza('b'));
  await happens(run, 2);
  assert.deepEqual(run.handed, ['message a', 'message b']);
});

test('log: a batch that cannot be finished crashes the session, and the log continues', async () => {
  const vault = createFakeVault();
  const run = await start(vault);
  run.inbox.open();
  run.stored = () => Promise.reject(new Error('no answer'));
  run.inbox.take('message', stanza('a'));
  await happens(run, 1);
  await run.flushed();
  assert.equal(run.crashes.length, 1);
  run.stored = async () => true;
  run.inbox.take('message', stanza('b'));
  await happens(run, 2);
  await run.flushed();
  assert.equal(vault.inbound.size, 1, 'the first one is there for the next connection');
  assert.equal(run.log.takeUnfinished().length, 1);
});
