/** Tests the reports of an outage of the database. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageSlow, StorageUnavailable } from '#actors/ports.ts';
import { Health } from '#src/storage/postgres/health.ts';
import { quietLog } from '#test/support/database.ts';

const never = (): Promise<never> => new Promise(() => undefined);
const rejected = async (error: Error): Promise<never> => {
  throw error;
};

test('health: a listener learns of the beginning and of the end of an outage, each once', async () => {
  const health = new Health(quietLog, { answers: never, writes: never });
  const told: boolean[] = [];
  health.listen((up) => told.push(up));
  const fails = (error: Error) => assert.rejects(health.watch(() => rejected(error)));
  await health.watch(() => Promise.resolve());
  await fails(new StorageSlow('57014'));
  assert.deepEqual(told, []);
  await fails(new StorageUnavailable('away'));
  await fails(new StorageUnavailable('away'));
  assert.deepEqual(told, [false]);
  await health.watch(() => Promise.resolve());
  await health.watch(() => Promise.resolve());
  assert.deepEqual(told, [false, true]);
  health.end();
});
