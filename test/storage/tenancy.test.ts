/** Only one process at a time has a database, whatever happens to its connection. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { takeTenancy } from '#src/storage/postgres/tenancy.ts';
import { quietLog, testDatabase } from '#test/support/database.ts';
import { openNetwork } from '#test/support/network.ts';
import { until } from '#test/support/until.ts';

const database = await testDatabase();

const take = async (t: TestContext, onTaken: () => void = () => undefined, url = database.url) => {
  const tenancy = await takeTenancy({ url, log: quietLog, onTaken, patience: 300, checkInterval: 50 });
  let open = true;
  const close = async (): Promise<void> => {
    if (open) await tenancy.close();
    open = false;
  };
  t.after(close);
  return close;
};

const held = `from pg_locks where locktype = 'advisory' and granted
  and database = (select oid from pg_database where datname = current_database())`;
const holders = async (): Promise<readonly number[]> =>
  (await database.admin.rows<{ pid: number }>({ name: '', text: `select pid ${held}` }, [])).map(({ pid }) => pid);
/** Resolves to whom it cut off: they hold the lock until the server has come round to it. */
const cutConnections = async (): Promise<readonly number[]> => {
  const cut = await holders();
  await database.admin.rows({ name: '', text: 'select pg_terminate_backend(pid) from unnest($1::int[]) pid' }, [cut]);
  return cut;
};

test('tenancy: a second one is refused with a sentence, and gets in when the first one has left', async (t) => {
  const leave = await take(t);
  await assert.rejects(take(t), /Another gateway uses this database/);
  await leave();
  await take(t);
});

test('tenancy: a name in the connection string makes nobody the same gateway', async (t) => {
  const named = `${database.url}&application_name=shop`;
  let taken = false;
  await take(t, () => (taken = true), named);
  const first = await holders();
  await assert.rejects(take(t, undefined, named), /Another gateway/);
  assert.deepEqual(await holders(), first);
  assert.equal(taken, false);
});

test('tenancy: a connection that was cut is taken up again', async (t) => {
  let taken = false;
  await take(t, () => (taken = true));
  const cut = await cutConnections();
  const isBack = async (): Promise<boolean> => (await holders()).some((pid) => !cut.includes(pid));
  await until(isBack, 'the lock is taken again');
  await assert.rejects(take(t), /Another gateway/);
  assert.equal(taken, false);
});

test('tenancy: a connection that only the server still believes in is no other gateway', async (t) => {
  const network = await openNetwork(t, database.url);
  let taken = false;
  await take(t, () => (taken = true), network.url);
  const before = await holders();
  network.forget();
  const isBack = async (): Promise<boolean> => taken || (await holders()).some((pid) => !before.includes(pid));
  await until(isBack, 'the lock is taken again');
  assert.equal(taken, false);
  await assert.rejects(take(t), /Another gateway/);
});

test('tenancy: who lost it to another hears of it', async (t) => {
  const { promise: taken, resolve } = Promise.withResolvers<void>();
  await take(t, resolve);
  await database.admin.transaction(async (rival) => {
    // Whoever stands in line gets it before the one that lost it is back.
    const inLine = rival.rows({ name: '', text: 'select pg_advisory_xact_lock(7110481294)' }, []);
    await cutConnections();
    await inLine;
    await taken;
  });
});
