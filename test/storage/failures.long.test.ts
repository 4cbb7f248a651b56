/** Tests that an unavailable database is distinguished from an error of the gateway. Waiting entries are kept, and requests get 503. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '#src/storage/postgres/database.ts';
import { explained } from '#src/storage/postgres/failures.ts';
import { instance, message, webhook } from '#test/contract/samples.ts';
import { quietLog, testDatabase, waitsForLock } from '#test/support/database.ts';
import { testNetwork } from '#test/support/network.ts';
import { until } from '#test/support/until.ts';

const database = await testDatabase();
const one = { name: '', text: 'select 1' };

test('failures: a transaction that the server ended while the process was paused may be retried', async (t) => {
  const { url } = await testNetwork(t, database.url);
  const paused = await openDatabase({ url, log: quietLog, poolSize: 1 });
  t.after(() => paused.close());
  let seen: unknown;
  const work = paused.transaction(async (runner) => {
    await runner.rows({ name: '', text: `set local idle_in_transaction_session_timeout = '50ms'` }, []);
    // No reply is read meanwhile, as in a paused process. The next statement leaves before the last message of the server is read.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
    await runner.rows(one, []).catch((error: unknown) => {
      seen = explained(error);
      throw error;
    });
  });
  await assert.rejects(work, { name: 'StorageUnavailable' });
  // A rollback after another failure fails as well, and would hide the first failure.
  assert.equal((seen as Error).name, 'StorageUnavailable', String(seen));
  assert.equal((await paused.rows(one, [])).length, 1);
});

test('failures: a start goes on when a server that did not answer its first connections answers', async (t) => {
  const network = await testNetwork(t, database.url);
  network.pause();
  const warned: unknown[] = [];
  const log = { ...quietLog, warn: (_facts: object, text: string): void => void (warned.push(text), network.resume()) };
  const storage = await database.storage({ databaseUrl: network.url, log });
  t.after(() => storage.close());
  assert.deepEqual(warned, ['storage.connectsAgain']);
  assert.deepEqual(await storage.instances.all(), []);
});

test('failures: a server that refuses the role for some time counts as away', async (t) => {
  const role = `guest_${process.pid}_${Date.now()}`;
  const run = (text: string) => database.admin.rows({ name: '', text }, []);
  await run(`create role ${role} login password 'guest'`);
  const guest = await openDatabase({ url: database.url.replace(/\/\/postgres:[^@]+@/, `//${role}:guest@`), log: quietLog, poolSize: 1 });
  t.after(async () => {
    await guest.close();
    await run(`drop role ${role}`);
  });
  const works = () =>
    guest.rows(one, []).then(
      () => true,
      (error: Error) => {
        assert.equal(error.name, 'StorageUnavailable');
        return false;
      },
    );
  assert.equal(await works(), true);
  await run(`alter role ${role} nologin`);
  await run(`select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`);
  await until(async () => !(await works()) && !guest.healthy(), 'the role is refused');
  assert.equal(await works(), false);
  await run(`alter role ${role} login`);
  await until(works, 'the role is let in again');
});

/** Runs a removal while another transaction holds the row, and cuts the connection of the waiting removal. */
const cutOff = async (table: string, remove: () => Promise<unknown>): Promise<void> =>
  database.admin.transaction(async (holder) => {
    await holder.rows({ name: '', text: `select 1 from ${table} for update` }, []);
    const removed = assert.rejects(remove(), { name: 'StorageUnavailable' });
    const cut = `select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    // A transaction sees the same activity for its whole life, so another connection looks.
    await until(async () => (await database.admin.rows({ name: '', text: cut }, [])).length > 0, 'the removal waits for the row');
    await removed;
  });

test('failures: a connection that is lost during a removal does not reduce the pool', async () => {
  const storage = await database.storage({ connections: { journal: 1 } });
  await storage.instances.insert(instance.record);
  await storage.webhooks.save({ ...webhook, instanceId: instance.record.id }, 1);
  await cutOff('webhook', () => storage.webhooks.remove({ id: webhook.id, instanceId: instance.record.id }, 1));
  assert.equal((await storage.webhooks.all()).length, 1);
  await cutOff('instance', () => storage.instances.remove(instance.record.id, 1));
  assert.equal((await storage.instances.all()).length, 1);
  await storage.close();
});

test('failures: a slow statement does not count as an outage, the gateway stays ready, and its connection stays open', async (t) => {
  const slow = await openDatabase({ url: database.url, log: quietLog, poolSize: 1, limits: { statement: 1_000, connection: 10_000 } });
  t.after(() => slow.close());
  const pid = async () => (await slow.rows<{ pid: number }>({ name: '', text: 'select pg_backend_pid() as pid' }, []))[0]?.pid;
  const before = await pid();
  await assert.rejects(slow.rows({ name: '', text: 'select pg_sleep(60)' }, []), { name: 'StorageSlow' });
  await assert.rejects(
    slow.transaction((runner) => runner.rows({ name: '', text: 'select pg_sleep(60)' }, [])),
    { name: 'StorageSlow' },
  );
  assert.equal(slow.healthy(), true);
  assert.equal(await pid(), before);
});

test('failures: a pool without a free connection is busy, not away', async (t) => {
  const full = await openDatabase({ url: database.url, log: quietLog, poolSize: 1, limits: { statement: 20_000, connection: 1_000 } });
  t.after(() => full.close());
  const holding = full.rows({ name: '', text: 'select pg_sleep(4)' }, []);
  await assert.rejects(full.rows(one, []), { name: 'StorageBusy' });
  assert.equal(full.healthy(), true);
  await holding;
  assert.equal((await full.rows(one, [])).length, 1);
});

for (const [title, state, name] of [
  ['a full disk', '53100', 'StorageFull'],
  ['too many connections to the server', '53300', 'StorageBusy'],
  ['a server that shuts down', '57P01', 'StorageUnavailable'],
] as const)
  test(`failures: ${title} is ${name}`, async (t) => {
    const failing = await openDatabase({ url: database.url, log: quietLog, poolSize: 1 });
    t.after(() => failing.close());
    const text = `do $$ begin raise exception using errcode = '${state}'; end $$`;
    await assert.rejects(failing.rows({ name: '', text }, []), { name });
    assert.equal(failing.healthy(), name !== 'StorageUnavailable');
  });

test('failures: of two conflicting transactions one is retried, and no caller notices', async () => {
  const run = (text: string) => database.admin.rows({ name: '', text }, []);
  await run('create table rival (id int primary key, n int)');
  await run('insert into rival values (1, 0), (2, 0)');
  let [tries, firsts] = [0, 0];
  const { promise: both, resolve } = Promise.withResolvers<void>();
  const work = (first: number, second: number) =>
    database.admin.transaction(async (runner) => {
      tries += 1;
      const add = (id: number) => runner.rows({ name: '', text: `update rival set n = n + 1 where id = ${id}` }, []);
      await add(first);
      if ((firsts += 1) === 2) resolve();
      await both;
      await add(second);
    });
  await Promise.all([work(1, 2), work(2, 1)]);
  assert.equal(tries, 3);
  assert.deepEqual(await run('select n from rival'), [{ n: 2 }, { n: 2 }]);
  assert.equal(database.admin.healthy(), true);
});

test('failures: a conflict that repeats ends as busy', async () => {
  let tries = 0;
  const work = database.admin.transaction(async (runner) => {
    tries += 1;
    await runner.rows({ name: '', text: `do $$ begin raise exception using errcode = '40001'; end $$` }, []);
  });
  await assert.rejects(work, { name: 'StorageBusy' });
  assert.equal(tries, 5);
});

test('failures: slow questions take every connection of theirs, and keys, commits, records and deliveries go on at once', async (t) => {
  const storage = await database.storage({ connections: { queries: 2 }, limits: { query: 15_000, connection: 2_000 } });
  const record = { ...instance.record, id: 'r00000000000021', token: 'pools' };
  const hook = { ...webhook, id: 'wpools', instanceId: record.id };
  await storage.instances.insert(record);
  await storage.webhooks.save(hook, 1);
  const arrive = (messageId: string) =>
    storage.journal.commit(
      record,
      [{ kind: 'message', message: { ...message, messageId }, chat: { chatId: message.chatId }, unread: true }],
      () => [hook.id],
    );
  // The transaction may be idle for as long as the queries may wait.
  const patient = await openDatabase({ url: database.url, log: quietLog, poolSize: 1, limits: { statement: 60_000, connection: 10_000 } });
  t.after(() => patient.close());
  await patient.transaction(async (holder) => {
    // Only lists of past deliveries wait for the lock on this table.
    await holder.rows({ name: '', text: 'lock table archive in access exclusive mode' }, []);
    const list = () => storage.deliveries.list({ webhooks: [hook.id], state: 'dead', limit: 1, offset: 0 });
    let answered = 0;
    const slow = [list(), list()].map((asked) => assert.rejects(asked, { name: 'StorageSlow' }).then(() => (answered += 1)));
    await until(async () => (await waitsForLock(database.admin)) === 2, 'both connections wait');
    const late = assert.rejects(storage.messages.find(record.id, { limit: 1, offset: 0 }), { name: 'StorageBusy' });
    for (let n = 0; n < 10; n += 1) {
      await storage.vault.write(record.id, 1, { keys: [{ type: 'session', id: '1', value: `${n}` }] });
      const { deliveries } = await arrive(`POOL${n}`);
      await storage.instances.update(record.id, 1, { lastActiveAt: n });
      await storage.outbox.remove(deliveries.map(({ seq }) => ({ seq, instanceId: record.id, epoch: 1 })));
      assert.notEqual(await storage.messages.byId(record.id, `POOL${n}`), null);
    }
    assert.equal(answered, 0, 'none of it waited for a question');
    await late;
    assert.equal(storage.healthy(), true);
    await Promise.all(slow);
  });
  assert.equal((await storage.messages.find(record.id, { limit: 30, offset: 0 })).messages.length, 10);
  await storage.close();
});
