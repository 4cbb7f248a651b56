/** Tests the stored last steps of sessions: appended, bounded, and removed with their instance. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instance } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';
import { removeRows } from '#test/support/removals.ts';

const database = await testDatabase();
const storage = await database.storage();
const { stepLog } = storage;
for (const id of ['rsteps', 'rother']) await storage.instances.insert({ ...instance.record, id, token: id });

const numbered = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => ({ at: from + n }));

test('steps: new ones are appended to the stored ones, and the newest are kept', async () => {
  assert.deepEqual(await stepLog.read('rsteps'), []);
  await stepLog.append(
    [
      { instanceId: 'rsteps', steps: numbered(1, 3) },
      { instanceId: 'rother', steps: numbered(7, 7) },
      { instanceId: 'gone', steps: numbered(1, 1) },
    ],
    5,
  );
  await stepLog.append([{ instanceId: 'rsteps', steps: numbered(4, 4) }], 5);
  assert.deepEqual(await stepLog.read('rsteps'), numbered(1, 4));
  await stepLog.append([{ instanceId: 'rsteps', steps: numbered(5, 8) }], 5);
  assert.deepEqual(await stepLog.read('rsteps'), numbered(4, 8));
  assert.deepEqual(await stepLog.read('rother'), numbered(7, 7));
  const several = [
    ['rsteps', numbered(4, 8)],
    ['rother', numbered(7, 7)],
  ] as const;
  assert.deepEqual(await stepLog.last(['rsteps', 'gone', 'rother']), new Map(several));
  await stepLog.append([{ instanceId: 'rother', steps: numbered(8, 20) }], 20);
  assert.deepEqual(await stepLog.last(['rother']), new Map([['rother', numbered(13, 20)]]));
  assert.deepEqual(await stepLog.read('gone'), []);
});

test('steps: they are removed with their instance', async () => {
  await storage.instances.remove('rother', instance.record.epoch);
  await removeRows(storage.removals);
  assert.deepEqual(await stepLog.read('rother'), []);
});
