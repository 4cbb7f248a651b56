/** Tests that a single gateway follows the clock of its database. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageUnavailable } from '#actors/ports.ts';
import { DatabaseTimeWatch, nodeTime } from '#src/machine-watch.ts';
import { systemTime } from '#src/base/system-time.ts';
import { FakeLog } from '#test/fakes/time.ts';
import { testDatabase } from '#test/support/database.ts';

test('database time: a clock that is an hour behind the database is corrected at the start', async () => {
  const time = nodeTime({ ...systemTime, now: () => Date.now() - 3_600_000 }, new FakeLog());
  const following = await DatabaseTimeWatch.open({ time, ask: async () => Date.now() });
  assert.ok(Math.abs(time.now() - Date.now()) < 5_000);
  await following.close();
});

test('database time: the offset of the clock is read from PostgreSQL, and an unreachable server changes nothing', async () => {
  const storage = await (await testDatabase()).storage();
  const before = Date.now();
  const told = await storage.clock();
  // The server uses the clock of this machine, and answers in whole milliseconds.
  assert.ok(told >= before - 1 && told <= Date.now() + 1, `${told} is told at ${before}`);
  const time = nodeTime(systemTime, new FakeLog());
  const away = async (): Promise<number> => {
    throw new StorageUnavailable('away');
  };
  await (await DatabaseTimeWatch.open({ time, ask: away })).close();
  assert.equal(time.correction(), 0);
});
