/** Tests creations that storage applied although its answer was lost. The client gets an error and tries again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CampaignInput } from '#actors/gateway.ts';
import { StorageBusy, StorageFailure, StorageUnavailable } from '#actors/ports.ts';
import { campaignSend } from '#test/support/campaign-rows.ts';
import { type Stage, staged } from './stage.ts';

const campaign: CampaignInput = {
  info: '',
  delayMin: 10_000,
  delayMax: 20_000,
  scheduledFor: 0,
  shared: { ...campaignSend, content: { kind: 'text', text: 'Hi', preview: null } },
  recipients: [{ number: '551', own: null }],
};

const create = async (stage: Stage, input: CampaignInput): Promise<string> => {
  const made = await stage.world.answerOf(stage.gateway.createCampaign('r1', input));
  assert.ok(made.ok, JSON.stringify(made));
  return made.value.id;
};

test('lost answer: a campaign without a key is removed, so that the retry sends its messages once', async () => {
  const stage = await staged();
  stage.world.db.losses.add('campaigns.create');
  await assert.rejects(create(stage, campaign), StorageFailure);
  await stage.world.time.pass(3_000);
  const id = await create(stage, campaign);
  await stage.world.time.pass(60_000);
  const listed = (await stage.gateway.campaigns('r1', null)).map((one) => [one.id, one.status]);
  assert.deepEqual([listed, stage.link().sent.length], [[[id, 'done']], 1]);
});

test('lost answer: the removal of a campaign is retried while storage is away', async () => {
  const stage = await staged();
  const { db, time } = stage.world;
  db.losses.add('campaigns.create');
  db.losses.add('campaigns.change');
  await assert.rejects(create(stage, { ...campaign, scheduledFor: time.now() + 60_000 }), StorageFailure);
  await time.pass(60_000);
  assert.deepEqual([await stage.gateway.campaigns('r1', null), stage.link().sent], [[], []]);
});

test('lost answer: a campaign under a key is sent, and its retry gets the stored answer', async () => {
  const stage = await staged();
  stage.world.db.losses.add('campaigns.create');
  const keyed = { ...campaign, once: { key: 'k', request: 'r' } };
  await assert.rejects(create(stage, keyed), StorageFailure);
  await stage.world.time.pass(60_000);
  const id = await create(stage, keyed);
  const listed = (await stage.gateway.campaigns('r1', null)).map((one) => [one.id, one.status]);
  assert.deepEqual([listed, stage.link().sent.length], [[[id, 'done']], 1]);
});

for (const action of ['', 'add'] as const)
  test(`lost answer: the retry of a new webhook replaces it, action '${action}'`, async () => {
    const { world, gateway } = await staged();
    const add = (url: string) => gateway.saveWebhook('r1', { action, id: '', url, events: ['all'], enabled: true });
    world.db.losses.add('webhooks.save');
    await assert.rejects(world.answerOf(add('http://receiver.test/1')), StorageFailure);
    for (const url of ['http://receiver.test/1', 'http://receiver.test/2']) assert.ok((await world.answerOf(add(url))).ok);
    const stored = [...world.db.webhooks.values()].map(({ url }) => url);
    assert.deepEqual(stored, action === '' ? ['http://receiver.test/2'] : ['http://receiver.test/1', 'http://receiver.test/2']);
  });

test('lost answer: the retry of a new Chatwoot connector replaces it', async () => {
  const { world, gateway } = await staged();
  const settings = { enabled: false, accountId: 1, inboxId: 2, accessToken: 'token', ignoreGroups: false, signMessages: false };
  const save = (url: string) => gateway.saveChatwoot('r1', { ...settings, newConversations: false, url });
  world.db.losses.add('webhooks.save');
  await assert.rejects(world.answerOf(save('http://chat.test')), StorageFailure);
  for (const url of ['http://chat.test', 'http://other.test']) assert.ok((await world.answerOf(save(url))).ok);
  assert.deepEqual(
    [...world.db.webhooks.values()].map(({ url }) => url),
    ['http://other.test'],
  );
});

const branch = { name: 'branch', adminField01: '', adminField02: '', systemName: '', browser: '', system: '' };

test('lost answer: a new instance is removed, so that the retry creates the only one', async () => {
  const { world, gateway } = await staged();
  for (const statement of ['instances.insert', 'instances.remove']) world.db.losses.add(statement);
  await assert.rejects(world.answerOf(gateway.create(branch)), StorageFailure);
  await world.time.pass(2_000);
  const made = await world.answerOf(gateway.create(branch));
  assert.ok(made.ok);
  const named = [...world.db.instances.values()].filter(({ name }) => name === branch.name).map(({ id }) => id);
  assert.deepEqual(named, [made.value.record.id]);
});

test('lost answer: a stop ends the removal of a new instance', async () => {
  const { world, gateway } = await staged();
  world.db.away = true;
  await assert.rejects(world.answerOf(gateway.create(branch)), StorageFailure);
  await world.time.pass(5_000);
  await world.answerOf(gateway.stop());
  const tries = world.db.count('instances.remove');
  await world.time.pass(60_000);
  assert.ok(tries > 1);
  assert.equal(world.db.count('instances.remove'), tries);
});

test('lost answer: the removals of many new instances share one statement a second while storage is away', async () => {
  const { world, gateway } = await staged();
  const before = world.db.instances.size;
  const { instances } = world.ports;
  const { insert, remove } = instances;
  let [isAway, tries] = [true, 0];
  instances.insert = async (record) => {
    await insert(record);
    throw new StorageUnavailable('the answer was lost');
  };
  instances.remove = (...given) => {
    tries += 1;
    return isAway ? Promise.reject(new StorageUnavailable('away')) : remove(...given);
  };
  for (let n = 0; n < 20; n += 1) await assert.rejects(world.answerOf(gateway.create(branch)), StorageUnavailable);
  await world.time.pass(10_000);
  assert.ok(tries >= 10 && tries <= 12, `${tries} tries`);
  isAway = false;
  await world.time.pass(2_000);
  assert.equal(world.db.instances.size, before);
});

test('lost answer: a new instance that storage was too busy for is not removed', async () => {
  const { world, gateway } = await staged();
  world.ports.instances.insert = () => Promise.reject(new StorageBusy('busy'));
  await assert.rejects(world.answerOf(gateway.create(branch)), StorageBusy);
  await world.time.pass(2_000);
  assert.equal(world.db.count('instances.remove'), 0);
});
