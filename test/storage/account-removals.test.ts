/** Tests the removal of the rows of a former account, across interruptions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EpochLost } from '#actors/ports.ts';
import { instance, message, owner } from '#test/contract/samples.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const { instances, journal, removals } = await database.storage();
const { epoch } = instance.record;
const id = 'leaving';

const arrive = (messageId: string): Promise<unknown> =>
  journal.commit(
    { id, owner, epoch },
    [{ kind: 'message', message: { ...message, messageId }, chat: { chatId: 'c' }, unread: false }],
    () => [],
  );
const left = (): Promise<readonly unknown[]> =>
  database.admin.rows({ name: '', text: `select message_id from message where instance_id = $1` }, [id]);

await instances.insert({ ...instance.record, id, token: id });

test('account removal: after an interruption the next removal begins with the first row', async () => {
  await arrive('m2');
  assert.equal(await removals.removePiece({ kind: 'account', id, epoch }), true);
  await arrive('m1');
  removals.rewind(id);
  while (await removals.removePiece({ kind: 'account', id, epoch }));
  assert.deepEqual(await left(), []);
});

test('account removal: a former owner removes no row of the next owner', async () => {
  await arrive('m3');
  await assert.rejects(removals.removePiece({ kind: 'account', id, epoch: epoch - 1 }), EpochLost);
  assert.equal((await left()).length, 1);
});
