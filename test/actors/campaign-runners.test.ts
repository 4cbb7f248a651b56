/** Tests the life of the runners of campaigns: a runner ends with the last campaign of its instance, and no campaign is left without a runner. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { done, refuse } from '#actors/model.ts';
import { supervisedWorkers } from '#actors/policy/supervised-workers.ts';
import { Campaigns } from '#actors/supervisor/campaigns.ts';
import { instance } from '#test/fakes/records.ts';
import { attachmentOf } from '#test/fakes/attachments.ts';
import { settle, testPolicy, World } from '#test/fakes/world.ts';
import { campaignSend } from '#test/support/campaign-rows.ts';
import { type Stage, staged } from './stage.ts';

/** Opens the campaigns of a process without sessions. `runners` returns the number of runners that were started, and of those that still exist. */
const opened = () => {
  const world = new World();
  const { ports } = world;
  const workers = supervisedWorkers(ports, testPolicy, {});
  const [supervise, dismiss] = [workers.supervise.bind(workers), workers.dismiss.bind(workers)];
  let [started, existing] = [0, 0];
  workers.supervise = (input) => {
    started += 1;
    existing += 1;
    return supervise(input);
  };
  workers.dismiss = (worker) => {
    existing -= 1;
    dismiss(worker);
  };
  const campaigns = new Campaigns({
    ports,
    policy: testPolicy,
    registry: { cell: () => null, cells: new Map(), record: () => instance, status: () => 'disconnected' },
    waking: { awake: () => Promise.reject(new Error('no session is woken')), keepAwake: () => undefined },
    workers,
    open: () => true,
    held: () => '',
    during: (_id, work) => work(),
  });
  return { world, campaigns, runners: () => [started, existing] };
};

test('campaigns: a runner without a campaign is dismissed, and the next campaign gets a new one', async () => {
  const { campaigns, runners } = opened();
  campaigns.look(instance.id);
  await settle();
  assert.deepEqual(runners(), [1, 0]);
  campaigns.look(instance.id);
  await settle();
  assert.deepEqual(runners(), [2, 0]);
});

test('campaigns: a runner looks again if a campaign may have been created during its query', async () => {
  const { world, campaigns, runners } = opened();
  const query = Promise.withResolvers<void>();
  world.db.holds.set('campaigns.next', query.promise);
  campaigns.look(instance.id);
  await settle();
  campaigns.look(instance.id);
  world.db.holds.clear();
  query.resolve();
  await settle();
  assert.deepEqual([world.db.count('campaigns.next'), ...runners()], [2, 1, 0]);
});

test('campaigns: a runner that is stopped for a move to another node is dismissed, and does not end a later runner', async () => {
  const { world, campaigns, runners } = opened();
  const first = Promise.withResolvers<void>();
  world.db.holds.set('campaigns.next', first.promise);
  campaigns.look(instance.id);
  await settle();
  campaigns.forget(instance.id);
  assert.deepEqual(runners(), [1, 0]);
  world.db.holds.set('campaigns.next', new Promise(() => undefined));
  campaigns.look(instance.id);
  await settle();
  first.resolve();
  await settle();
  assert.deepEqual(runners(), [2, 1]);
});

/** Creates a campaign of 20 recipients, with a pause of one second. `source`: the address of its file, or '' for texts. */
const create = async (stage: Stage, source = '', scheduledFor = 0): Promise<void> => {
  const file = { source, as: 'document', thumbnail: '', mimetype: '', filename: '' } as const;
  const media = { kind: 'media', as: 'document', file, caption: '', viewOnce: false } as const;
  const own = { ...campaignSend, content: source === '' ? ({ kind: 'text', text: 'Hi', preview: null } as const) : media };
  const recipients = Array.from({ length: 20 }, (_, n) => ({ number: `55${n}`, own }));
  const input = { info: '', delayMin: 1_000, delayMax: 1_000, scheduledFor, shared: null, recipients };
  const made = await stage.world.answerOf(stage.gateway.createCampaign('r1', input));
  assert.ok(made.ok, JSON.stringify(made));
};

test('campaigns: after five files in a row that cannot be fetched, the next recipient is tried after a minute', async () => {
  const stage = await staged();
  const { time, attachments } = stage.world;
  attachments.answer = () => refuse('invalid', 'the file could not be fetched');
  await create(stage, 'https://files.example/a.pdf');
  await time.pass(30_000);
  assert.equal(attachments.taken.length, 5);
  await time.pass(120_000);
  assert.equal(attachments.taken.length, 7);
  attachments.answer = (given) => done(attachmentOf(given));
  await time.pass(80_000);
  assert.equal(stage.link().sent.length, 13);
});

test('campaigns: a campaign whose files cannot be fetched rests while another campaign of the instance sends', async () => {
  const stage = await staged();
  const { time, attachments } = stage.world;
  attachments.answer = () => refuse('invalid', 'the file could not be fetched');
  await create(stage, 'https://files.example/a.pdf');
  await create(stage);
  await time.pass(30_000);
  assert.deepEqual([attachments.taken.length, stage.link().sent.length], [5, 20]);
  await time.pass(120_000);
  assert.equal(attachments.taken.length, 7);
});

test('campaigns: a campaign whose files come too slowly takes at most a tenth of the time of another campaign', async () => {
  const stage = await staged();
  const { time, attachments } = stage.world;
  const late = refuse('invalid', 'the file could not be fetched in time');
  attachments.answer = () => new Promise((resolve) => void time.setTimeout(() => resolve(late), 60_000));
  await create(stage, 'https://files.example/a.pdf');
  await create(stage);
  await time.pass(90_000);
  assert.deepEqual([attachments.taken.length, stage.link().sent.length], [1, 20]);
  await time.pass(9 * 60_000);
  assert.equal(attachments.taken.length, 1);
});

test('campaigns: one whose files come too slowly does not rest for the sake of others if it is alone', async () => {
  const stage = await staged();
  const { time, attachments } = stage.world;
  const late = refuse('invalid', 'the file could not be fetched in time');
  attachments.answer = () => new Promise((resolve) => void time.setTimeout(() => resolve(late), 60_000));
  await create(stage, 'https://files.example/a.pdf');
  await time.pass(5 * 60_000);
  assert.equal(attachments.taken.length, 5);
});

test('campaigns: a scheduled campaign starts at its time while another campaign rests for its files', async () => {
  const stage = await staged();
  const { time, attachments } = stage.world;
  attachments.answer = () => refuse('invalid', 'the file could not be fetched');
  await create(stage, 'https://files.example/a.pdf');
  await time.pass(20_000);
  await create(stage, '', time.now() + 20_000);
  await time.pass(30_000);
  assert.deepEqual([attachments.taken.length, stage.link().sent.length > 5], [6, true]);
});
