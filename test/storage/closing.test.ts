/** Tests pools that are closed while callers wait for a connection. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageUnavailable } from '#actors/ports.ts';
import { within } from '#actors/waiting.ts';
import { openUnitDatabase, type UnitDatabase } from '#src/storage/postgres/database.ts';
import { systemTime } from '#src/base/system-time.ts';
import { quietLog, testDatabase } from '#test/support/database.ts';

const { url } = await testDatabase();
const look = (database: UnitDatabase): Promise<unknown> => database.unit((em) => em.getConnection().execute('select 1 as one'));

for (const [title, began] of [
  ['before it was ever connected', false],
  ['when all connections are in use', true],
] as const)
  test(`closing: a pool that is closed ${title} does the units of work that were asked for, and ends`, async () => {
    const database = await openUnitDatabase({ url, log: quietLog, poolSize: 2 });
    if (began) await look(database);
    const units = Promise.all(Array.from({ length: 5 }, () => look(database)));
    const ended = await within(systemTime, 60_000, database.close());
    assert.equal(ended, 'done');
    assert.deepEqual(
      await units,
      Array.from({ length: 5 }, () => [{ one: 1 }]),
    );
    await assert.rejects(look(database), StorageUnavailable);
  });
