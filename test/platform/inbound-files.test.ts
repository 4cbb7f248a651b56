/** Messages whose content is a file that the library fetches, such as the past that a phone hands over. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeVault } from '#test/fakes/vault.ts';
import { until } from '#test/support/until.ts';
import { happens, stanza, start } from './inbound-run.ts';

test('gate: a message whose file could not be fetched is tried again, and left to the next connection; one whose file came is finished', async () => {
  const vault = createFakeVault();
  const run = await start(vault);
  run.gate.open();
  run.handle = (id) => {
    run.gate.fetching(id, `file of ${id}`);
    if (id === 'there') run.gate.fetched('file of there');
  };
  const now = { t: String(Math.floor(Date.now() / 1000)) };
  for (const id of ['there', 'missing']) run.gate.take('message', stanza(id, 'message', now));
  await happens(run, 4);
  assert.deepEqual(run.handed, ['message there', 'message missing', 'message missing', 'message missing']);
  await run.gate.close();
  await run.flushed();
  const next = await start(vault);
  next.handle = (id) => next.gate.fetched(id);
  next.gate.open();
  await happens(next, 1);
  assert.deepEqual(next.handed, ['message missing']);
});

test('gate: who asks is told when the library fetches no file any more, also when it gave up', async () => {
  const run = await start(createFakeVault());
  run.gate.open();
  await run.gate.whenFetched();
  const { promise, resolve } = Promise.withResolvers<void>();
  run.handle = (id) => {
    run.gate.fetching(id, 'a file');
    return promise;
  };
  run.gate.take('message', stanza('a'));
  await happens(run, 1);
  let isFetched = false;
  const fetched = run.gate.whenFetched().then(() => (isFetched = true));
  await new Promise((done) => setImmediate(done));
  assert.equal(isFetched, false);
  resolve();
  await fetched;
});

test('gate: the file of a message that is older than the platform keeps files is not waited for', async () => {
  const run = await start(createFakeVault());
  run.gate.open();
  run.handle = (id) => run.gate.fetching(id, 'a file');
  run.gate.take('message', stanza('old'));
  run.gate.take('message', stanza('behind'));
  await happens(run, 2);
  await run.flushed();
  assert.deepEqual(run.log.takeUnfinished(), []);
});

test('gate: beyond the bound of messages that wait for a file, a further one leaves the log', async () => {
  const vault = createFakeVault();
  const run = await start(vault, true, { files: 2, again: [60_000] });
  run.gate.open();
  run.handle = (id) => run.gate.fetching(id, `file of ${id}`);
  const now = { t: String(Math.floor(Date.now() / 1000)) };
  for (const id of ['first', 'second', 'third']) run.gate.take('message', stanza(id, 'message', now));
  await happens(run, 3);
  await until(() => vault.inbound.size === 2, 'two messages in the log');
  await run.gate.close();
  await run.flushed();
  const next = await start(vault);
  next.gate.open();
  await happens(next, 2);
  assert.deepEqual(next.handed, ['message first', 'message second']);
  await next.gate.close();
});
