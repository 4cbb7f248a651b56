/** A database that does not serve us now is told from a mistake of ours: what waits for it is kept, and requests answer 503. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '#src/storage/postgres/database.ts';
import { explained } from '#src/storage/postgres/failures.ts';
import { instance, webhook } from '#test/contract/samples.ts';
import { quietLog, testDatabase } from '#test/support/database.ts';
import { testNetwork } from '#test/support/network.ts';
import { until } from '#test/support/until.ts';

const database = await testDatabase();
const one = { name: '', text: 'select 1' };

test('failures: a transaction that the server gave up while the process was paused may be tried again', async (t) => {
  const { url } = await testNetwork(t, database.url);
  const paused = await openDatabase({ url, log: quietLog, poolSize: 1 });
  t.after(() => paused.close());
  let seen: unknown;
  const work = paused.transaction(async (runner) => {
    await runner.rows({ name: '', text: `set local idle_in_transaction_session_timeout = '50ms'` }, []);
    // Nothing is read meanwhile, as in a process that was stopped: the next statement leaves before the server's last word is heard.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
    await runner.rows(one, []).catch((error: unknown) => {
      seen = explained(error);
      throw error;
    });
  });
  await assert.rejects(work, { name: 'StorageUnavailable' });
  // The rollback that follows another failure fails as well, and would hide it.
  assert.equal((seen as Error).name, 'StorageUnavailable', String(seen));
  assert.equal((await paused.rows(one, [])).length, 1);
});

test('failures: a server that refuses our role for some time is one that is away', async (t) => {
  const role = `guest_${process.pid}_${Date.now()}`;
  const run = (text: string) => database.admin.rows({ name: '', text }, []);
  await run(`create role ${role} login`);
  const guest = await openDatabase({ url: database.url.replace('postgres@', `${role}@`), log: quietLog, poolSize: 1 });
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

/** Removes what a row stands for while another transaction holds the row, and cuts the connection of whoever waits for it. */
const cutOff = async (table: string, remove: () => Promise<unknown>): Promise<void> =>
  database.admin.transaction(async (holder) => {
    await holder.rows({ name: '', text: `select 1 from ${table} for update` }, []);
    const removed = assert.rejects(remove(), { name: 'StorageUnavailable' });
    const cut = `select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    await until(async () => (await holder.rows({ name: '', text: cut }, [])).length > 0, 'the removal waits for the row');
    await removed;
  });

test('failures: a connection that is lost in the middle of a removal is no place less in the pool', async () => {
  const storage = await database.storage({ poolSize: 1 });
  await storage.instances.insert(instance.record);
  await storage.webhooks.save({ ...webhook, instanceId: instance.record.id });
  await cutOff('webhook', () => storage.webhooks.remove(webhook.id));
  assert.equal((await storage.webhooks.all()).length, 1);
  await cutOff('instance', () => storage.instances.remove(instance.record.id, 1));
  assert.equal((await storage.instances.all()).length, 1);
  await storage.close();
});
