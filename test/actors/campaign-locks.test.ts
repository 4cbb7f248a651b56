/** Tests campaigns on simulated time while the platform reports a reach-out time-lock. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { done, refuse } from '#actors/model.ts';
import { refused } from '#src/platform/wire/outcomes.ts';
import { campaignSend } from '#test/support/campaign-rows.ts';
import { type Stage, staged } from './stage.ts';

const hour = 3_600_000;

const create = async (stage: Stage, numbers: readonly string[]): Promise<void> => {
  const shared = { ...campaignSend, content: { kind: 'text', text: 'Hi', preview: null } } as const;
  const recipients = numbers.map((number) => ({ number, own: null }));
  const input = { info: '', delayMin: 10_000, delayMax: 20_000, scheduledFor: 0, shared, recipients };
  const made = await stage.world.answerOf(stage.gateway.createCampaign('r1', input));
  assert.ok(made.ok, JSON.stringify(made));
};

/** The status and the reason of the only campaign, and how many messages left. */
const seen = async (stage: Stage) => {
  const [one] = await stage.gateway.campaigns('r1', null);
  return [stage.link().sent.length, one?.reason, one?.status];
};

test('campaigns: one rests while the account may not start new chats, and continues at the end of the time-lock', async () => {
  const stage = await staged();
  const { time } = stage.world;
  stage.link().answer = () => done({ at: time.now() });
  await create(stage, ['551', '552', '553']);
  await time.pass(100);
  const until = time.now() + hour;
  stage.link().lock = { active: true, until, kind: 'DEFAULT' };
  await time.pass(hour - 60_000);
  const reason = `the platform lets the account start no chats until ${new Date(until).toISOString()}`;
  assert.deepEqual(await seen(stage), [1, reason, 'sending']);
  await time.pass(4 * 60_000);
  assert.deepEqual(await seen(stage), [3, '', 'done']);
});

test('campaigns: a restriction without an end date lasts until the platform lifts it', async () => {
  const stage = await staged();
  stage.link().lock = { active: true, until: null, kind: 'DEFAULT' };
  await create(stage, ['551']);
  await stage.world.time.pass(2 * hour);
  assert.deepEqual((await seen(stage)).slice(0, 2), [0, 'the platform lets the account start no chats']);
  stage.link().lock = { active: false, until: null, kind: '' };
  await stage.world.time.pass(60_000);
  assert.deepEqual(await seen(stage), [1, '', 'done']);
});

test('campaigns: one that a time-lock stopped sends at once if it is continued after its pause', async () => {
  const stage = await staged();
  stage.link().answer = () => refused(463, 'the account is locked');
  await create(stage, ['551', '552']);
  await stage.world.time.pass(100_000);
  const [one] = await stage.gateway.campaigns('r1', null);
  assert.deepEqual([stage.link().sent.length, one?.status], [1, 'paused']);
  stage.link().answer = () => done({ at: 1 });
  assert.ok((await stage.gateway.continueCampaign('r1', one!.id)).ok);
  await stage.world.time.pass(100);
  assert.equal(stage.link().sent.length, 2);
});

test('campaigns: a recipient that is refused without a time-lock fails alone, and three such refusals in a row pause the campaign', async () => {
  const stage = await staged();
  const limits = { timeLock: { ok: true, value: { active: false, until: null, kind: '' } } } as const;
  stage.link().answer = () => refuse('refused', 'the address is refused', { code: 463, limits });
  await create(stage, ['551', '552', '553', '554']);
  await stage.world.time.pass(100);
  assert.deepEqual(await seen(stage), [1, '', 'sending']);
  await stage.world.time.pass(3 * 20_000);
  assert.deepEqual(await seen(stage), [3, 'the platform refused 3 messages in a row', 'paused']);
  const [one] = await stage.gateway.campaigns('r1', null);
  const stored = await stage.gateway.campaignRecipients('r1', { campaignId: one!.id, states: null, limit: 10, offset: 0 });
  const outcomes = stored.ok ? stored.value.recipients.map(({ state, error }) => [state, error]) : [];
  const failed = ['failed', 'the address is refused'];
  assert.deepEqual(outcomes, [failed, failed, failed, ['waiting', '']]);
});
