/** Tests that campaigns which were paused long ago are removed with their recipients, and others stay. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instance } from '#test/contract/samples.ts';
import { putCampaign } from '#test/support/campaign-rows.ts';
import { testDatabase } from '#test/support/database.ts';

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
