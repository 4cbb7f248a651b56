/** Tests messages whose content is a file that the library fetches, such as the history of a phone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeVault } from '#test/fakes/vault.ts';
import { until } from '#test/support/until.ts';
import { happens, stanza, start } from './inbound-run.ts';

test('inbox: a message whose file failed is retried and left to the next connection, and one whose file arrived is finished', async () => {
  const vault = createFakeVault();
  const run = await start(vault);
  run.inbox.open();
  run.handle = (id) => {
    run.inbox.fetching(id, `file of ${id}`);
    if (id === 'there') run.inbox.fetched('file of there');
  };
  const now = { t: String(Math.floor(Date.now() / 1000)) };
  for (const id of ['there', 'missing']) run.inbox.take('message', stanza(id, 'message', now));
  await happens(run, 4);
  assert.deepEqual(run.handed, ['message there', 'message missing', 'message missing', 'message missing']);
  await run.inbox.close();
  await run.flushed();
  const next = await start(vault);
  next.handle = (id) => next.inbox.fetched(id);
  next.inbox.open();
  await happens(next, 1);
  assert.deepEqual(next.handed, ['message missing']);
});

test('inbox: waiting callers are told when the library fetches no more files, also if it gave up', async () => {
  const run = await start(createFakeVault());
  run.inbox.open();
  await run.inbox.whenFetched();
  const { promise, resolve } = Promise.withResolvers<void>();
  run.handle = (id) => {
    run.inbox.fetching(id, 'a file');
    return promise;
  };
  run.inbox.take('message', stanza('a'));
  await happens(run, 1);
  let isFetched = false;
  const fetched = run.inbox.whenFetched().then(() => (isFetched = true));
  await new Promise((done) => setImmediate(done));
  assert.equal(isFetched, false);
  resolve();
  await fetched;
});

test('inbox: the file of a message that is older than the retention of the platform is not waited for', async () => {
  const run = await start(createFakeVault());
  run.inbox.open();
  run.handle = (id) => run.inbox.fetching(id, 'a file');
  run.inbox.take('message', stanza('old'));
  run.inbox.take('message', stanza('behind'));
  await happens(run, 2);
  await run.flushed();
  assert.deepEqual(run.log.takeUnfinished(), []);
});

test('inbox: a message that is not tried again on its connection takes no room among those that wait for a file', async () => {
  const vault = createFakeVault();
  const run = await start(vault, true, { files: 1, again: [1] });
  run.inbox.open();
  run.handle = (id) => run.inbox.fetching(id, `file of ${id}`);
  const now = { t: String(Math.floor(Date.now() / 1000)) };
  run.inbox.take('message', stanza('first', 'message', now));
  await happens(run, 2);
  run.inbox.take('message', stanza('second', 'message', now));
  await happens(run, 4);
  await run.inbox.close();
  await run.flushed();
  assert.equal(vault.inbound.size, 2, 'both wait in the log');
});

test('inbox: beyond the bound of messages that wait for a file, a further one leaves the log', async () => {
  const vault = createFakeVault();
  const run = await start(vault, true, { files: 2, again: [60_000] });
  run.inbox.open();
  run.handle = (id) => run.inbox.fetching(id, `file of ${id}`);
  const now = { t: String(Math.floor(Date.now() / 1000)) };
  for (const id of ['first', 'second', 'third']) run.inbox.take('message', stanza(id, 'message', now));
  await happens(run, 3);
  await until(() => vault.inbound.size === 2, 'two messages in the log');
  await run.inbox.close();
  await run.flushed();
  const next = await start(vault);
  next.inbox.open();
  await happens(next, 2);
  assert.deepEqual(next.handed, ['message first', 'message second']);
  await next.inbox.close();
});
