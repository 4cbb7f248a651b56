/** Tests that campaigns which were paused long ago are removed with their recipients, and that a retry leaves out a recipient with a late receipt. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instance } from '#test/contract/samples.ts';
import { putCampaign } from '#test/support/campaign-rows.ts';
import { testDatabase, waitsForLock } from '#test/support/database.ts';
import { until } from '#test/support/until.ts';

const database = await testDatabase();
const storage = await database.storage();
const run = <T>(text: string): Promise<readonly T[]> => database.admin.rows<T>({ name: '', text }, []);

test('campaigns: one that was paused long ago is removed with its recipients', async () => {
  const { epoch } = instance.record;
  for (const id of ['ra', 'rb', 'rc']) {
    await storage.instances.insert({ ...instance.record, id, token: id });
    await putCampaign(storage, { instanceId: id, epoch });
  }
  await run(`update campaign set status = 'paused', updated = 10 where instance_id in ('ra', 'rb')`);
  await run(`update campaign set updated = 900 where instance_id = 'rb'`);
  await run(`update campaign set status = 'waiting', updated = 10 where instance_id = 'rc'`);
  assert.equal(await storage.campaigns.expirePaused(500, 100), 1);
  for (const removal of await storage.removals.pending()) while (await storage.removals.removePiece(removal));
  const left = await run<{ id: string }>('select distinct instance_id as id from campaign_recipient order by 1');
  assert.deepEqual(
    left.map(({ id }) => id),
    ['rb', 'rc'],
  );
  assert.deepEqual((await run('select 1 from campaign')).length, 2);
});

test('campaigns: a recipient whose receipt arrives while a retry waits is not sent to again', async () => {
  const claim = { instanceId: 'rlate', epoch: instance.record.epoch };
  await storage.instances.insert({ ...instance.record, id: 'rlate', token: 'rlate' });
  await putCampaign(storage, claim);
  await run(`update campaign set status = 'paused' where instance_id = 'rlate'`);
  await run(`update campaign_recipient set state = 'failed' where instance_id = 'rlate' and position = 0`);
  const [campaign] = await run<{ id: string }>(`select id from campaign where instance_id = 'rlate'`);
  let retried: Promise<number> = Promise.resolve(0);
  await database.admin.transaction(async (holder) => {
    await holder.rows({ name: '', text: `select 1 from campaign where instance_id = 'rlate' for update` }, []);
    retried = storage.campaigns.retry(claim, campaign?.id ?? '', 1, 10);
    await until(async () => (await waitsForLock(database.admin, 'campaign_recipient')) > 0, 'the retry waits for the campaign');
    await holder.rows({ name: '', text: `update campaign_recipient set state = 'sent' where instance_id = 'rlate' and position = 0` }, []);
  });
  assert.equal(await retried, 0);
  assert.deepEqual(await run(`select state from campaign_recipient where instance_id = 'rlate' and position = 0`), [{ state: 'sent' }]);
});
