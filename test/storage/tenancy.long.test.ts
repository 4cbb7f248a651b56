/** Tests that only one process at a time uses a database, whatever happens to its connection. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Runner } from '#src/storage/postgres/database.ts';
import { Tenancy } from '#src/storage/postgres/tenancy.ts';
import { instance, message } from '#test/contract/samples.ts';
import { quietLog, testDatabase } from '#test/support/database.ts';
import { testNetwork } from '#test/support/network.ts';
import { until } from '#test/support/until.ts';

const database = await testDatabase();
const storage = await database.storage();

const take = async (t: TestContext, onTaken: () => void = () => undefined, url = database.url, shared = false) => {
  const tenancy = await Tenancy.take({ url, log: quietLog, onTaken, patience: 2_500, checkInterval: 50, shared });
  let open = true;
  const close = async (): Promise<void> => {
    if (open) await tenancy.close();
    open = false;
  };
  t.after(close);
  return {
    raise: () => tenancy.raise(),
    get onDuty() {
      return tenancy.onDuty;
    },
    close,
  };
};

const takeShared = (t: TestContext, onTaken?: () => void) => take(t, onTaken, database.url, true);

const held = `from pg_locks where locktype = 'advisory' and granted
  and database = (select oid from pg_database where datname = current_database())`;
const holders = async (): Promise<readonly number[]> =>
  (await database.admin.rows<{ pid: number }>({ name: '', text: `select pid ${held}` }, [])).map(({ pid }) => pid);
/** Ends the connections of the holders. Returns their process ids, which hold the lock until the server notices. */
const cutConnections = async (): Promise<readonly number[]> => {
  const cut = await holders();
  await database.admin.rows({ name: '', text: 'select pg_terminate_backend(pid) from unnest($1::int[]) pid' }, [cut]);
  return cut;
};

/** Returns the number of connections that wait for a lock of a row or a table. */
const waiting = async (): Promise<number> => {
  const text = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and wait_event <> 'advisory' and datname = current_database()`;
  return (await database.admin.rows({ name: '', text }, [])).length;
};

test('tenancy: a second gateway is refused with a sentence, and starts when the first one has left', async (t) => {
  const { close: leave } = await take(t);
  await assert.rejects(take(t), /Another gateway uses this database/);
  await leave();
  await take(t);
});

test('tenancy: nodes share it, and none starts beside a single gateway', async (t) => {
  const { close: leave } = await take(t);
  await assert.rejects(takeShared(t), /A gateway without NODE_NAME uses this database/);
  await leave();
  const [first, second] = [await takeShared(t), await takeShared(t)];
  await assert.rejects(take(t), /Another gateway uses this database/);
  await first.close();
  await assert.rejects(take(t), /Another gateway uses this database/);
  await second.close();
  await take(t);
});

test('tenancy: one node of all is on duty, and another one takes over when that one leaves or loses its connection', async (t) => {
  const [first, second] = [await takeShared(t), await takeShared(t)];
  assert.deepEqual([first.onDuty, second.onDuty], [true, false]);
  await first.close();
  await until(() => second.onDuty, 'the second one is on duty');
  const third = await takeShared(t);
  await cutConnections();
  await until(() => second.onDuty !== third.onDuty, 'one of them is on duty');
});

test('tenancy: a node that is on duty and asks nothing, because its process stands still, is off duty', async (t) => {
  const options = { url: database.url, log: quietLog, onTaken: () => undefined, patience: 3_000, shared: true, silence: 3_000 };
  const still = await Tenancy.take({ ...options, checkInterval: 3_600_000 });
  t.after(() => still.close());
  assert.equal(still.onDuty, true);
  const other = await Tenancy.take({ ...options, checkInterval: 50 });
  t.after(() => other.close());
  assert.equal(other.onDuty, false);
  await until(() => other.onDuty && !still.onDuty, 'the other one is on duty');
});

test('tenancy: a node raises no epoch, and a single gateway does not start beside a live node', async (t) => {
  const before = await epochs();
  const node = await takeShared(t);
  await node.raise();
  assert.deepEqual(await epochs(), before);
  await node.close();
  const live = `insert into node (name, incarnation, until, capacity, load, draining, version, started)
    values ('a', gen_random_uuid(), 1e14, 1, 0, false, '1', 0)`;
  await database.admin.rows({ name: '', text: live }, []);
  const single = await take(t);
  await assert.rejects(single.raise(), /Nodes use this database \(a\)/);
  await database.admin.rows({ name: '', text: 'delete from node' }, []);
  await single.raise();
});

test('tenancy: nodes learn of a single gateway that used the database in between', async (t) => {
  const { promise: taken, resolve } = Promise.withResolvers<void>();
  const node = await takeShared(t, resolve);
  await node.raise();
  await overtake(
    async (rival) =>
      void (await rival.rows({ name: '', text: `update setting set value = value::int + 1 where name = 'tenancy.taken'` }, [])),
  );
  await taken;
});

test('tenancy: a name in the connection string does not let a second gateway in', async (t) => {
  const named = `${database.url}&application_name=shop`;
  let taken = false;
  await take(t, () => (taken = true), named);
  const first = await holders();
  await assert.rejects(take(t, undefined, named), /Another gateway/);
  assert.deepEqual(await holders(), first);
  assert.equal(taken, false);
});

test('tenancy: a connection that was cut is opened again', async (t) => {
  let taken = false;
  await take(t, () => (taken = true));
  const cut = await cutConnections();
  const isBack = async (): Promise<boolean> => (await holders()).some((pid) => !cut.includes(pid));
  await until(isBack, 'the lock is taken again');
  await assert.rejects(take(t), /Another gateway/);
  assert.equal(taken, false);
});

test('tenancy: a stale connection on the server is not taken for another gateway', async (t) => {
  const network = await testNetwork(t, database.url);
  let taken = false;
  await take(t, () => (taken = true), network.url);
  const before = await holders();
  network.forget();
  const isBack = async (): Promise<boolean> => taken || (await holders()).some((pid) => !before.includes(pid));
  await until(isBack, 'the lock is taken again');
  assert.equal(taken, false);
  await assert.rejects(take(t), /Another gateway/);
});

/** Lets a rival get the lock before the former holder reconnects, because the rival already waits for it. */
const overtake = async (work: (rival: Runner) => Promise<void>): Promise<void> =>
  database.admin.transaction(async (rival) => {
    const inLine = rival.rows({ name: '', text: 'select pg_advisory_xact_lock(7110481294)' }, []);
    await cutConnections();
    await inLine;
    await work(rival);
  });

const epochs = async (): Promise<readonly number[]> =>
  (await database.admin.rows<{ epoch: number }>({ name: '', text: 'select epoch from instance order by id' }, [])).map(
    ({ epoch }) => epoch,
  );

test('tenancy: a gateway that loses it to a rival is told', async (t) => {
  const { promise: taken, resolve } = Promise.withResolvers<void>();
  await take(t, resolve);
  await overtake(() => taken);
});

test('tenancy: a rival that gives up before it has read anything ends no gateway', async (t) => {
  let taken = false;
  const { raise } = await take(t, () => (taken = true));
  await raise();
  const before = await epochs();
  await overtake(() => wait(100));
  await until(async () => (await holders()).length > 0, 'the lock is taken again');
  await assert.rejects(take(t), /Another gateway/);
  assert.equal(taken, false);
  assert.deepEqual(await epochs(), before);
});

test('tenancy: a gateway that lost it to a rival which has left is told, and releases the lock', async (t) => {
  const { promise: taken, resolve } = Promise.withResolvers<void>();
  const { raise } = await take(t, resolve);
  await raise();
  await overtake(
    async (rival) =>
      void (await rival.rows({ name: '', text: `update setting set value = value::int + 1 where name = 'tenancy.taken'` }, [])),
  );
  await taken;
  await take(t);
});

test('tenancy: a new holder raises every epoch, after the writes under way and before it reads', async (t) => {
  await (await take(t)).close();
  for (const id of ['r1', 'r2']) await storage.instances.insert({ ...instance.record, id, token: id });
  const [low = 0] = await epochs();
  let raised = false;
  let raising: Promise<void> = Promise.resolve();
  const { raise } = await take(t);
  await database.admin.transaction(async (writer) => {
    // A write of the former holder takes this row lock, and keeps the lock until its commit.
    await writer.rows({ name: '', text: 'select id from instance for key share' }, []);
    raising = raise().then(() => void (raised = true));
    await until(async () => (await waiting()) > 0, 'it waits');
    // `raise` locks the rows with `for update`, which waits for the former holder's lock.
    assert.equal(raised, false);
  });
  await raising;
  assert.deepEqual(await epochs(), [low + 1, low + 1]);
});

test('tenancy: writes on their way at a takeover arrive late and change nothing, and then the gateway is told', async (t) => {
  const network = await testNetwork(t, database.url);
  const { promise: taken, resolve } = Promise.withResolvers<void>();
  const first = await database.storage({ databaseUrl: network.url, onTaken: resolve });
  const record = (await first.instances.all())[0]!;
  const writes = (name: string) => [
    first.vault.write(record.id, record.epoch, { keys: [{ type: 'session', id: '1', value: name }] }),
    first.instances.update(record.id, record.epoch, { name }),
    first.journal.commit(
      record,
      [{ kind: 'message', message: { ...message, messageId: name }, chat: { chatId: 'c' }, unread: true }],
      () => [],
    ),
  ];
  // Each write opens a connection, which it will reuse.
  await Promise.all(writes('early'));
  network.pause();
  const late = writes('late').map((write) => assert.rejects(write, { name: 'EpochLost' }));
  // The server drops the silent connections. The process behind the network cannot know.
  await cutConnections();
  const second = await database.storage({ onTaken: () => undefined });
  const now = (await second.instances.all()).find(({ id }) => id === record.id)!;
  assert.deepEqual([now.epoch, now.name], [record.epoch + 1, 'early']);
  network.resume();
  await Promise.all(late);
  await taken;
  assert.equal((await second.vault.keys(record.id, 'session', ['1'])).get('1'), 'early');
  assert.equal(await second.messages.byId(record.id, 'late'), null);
  assert.equal((await second.instances.all()).find(({ id }) => id === record.id)?.name, 'early');
  for (const work of [() => first.settings.set('late', 'late'), () => first.instances.all()])
    await assert.rejects(work, { name: 'EpochLost' });
  await second.vault.write(now.id, now.epoch, { keys: [{ type: 'session', id: '1', value: 'later' }] });
});
