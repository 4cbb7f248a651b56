/** Tests campaigns on simulated time: pace, rests, waking of sessions, reasons for a stop, and the work that a restart finds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CampaignInput } from '#actors/gateway.ts';
import { done, refuse } from '#actors/model.ts';
import { testPolicy } from '#test/fakes/world.ts';
import { campaignSend } from '#test/support/campaign-rows.ts';
import { notSent, refused } from '#src/platform/wire/outcomes.ts';
import { options, refusalOf, type Stage, staged, text } from './stage.ts';

const hour = 3_600_000;
const policy = (change: Partial<typeof testPolicy.campaigns> = {}) => ({ campaigns: { ...testPolicy.campaigns, ...change } });

const to = (...numbers: readonly string[]): CampaignInput => ({
  info: '',
  delayMin: 10_000,
  delayMax: 20_000,
  scheduledFor: 0,
  shared: { ...campaignSend, content: { kind: 'text', text: 'Hi', preview: null } },
  recipients: numbers.map((number) => ({ number, own: null })),
});

const create = async (stage: Stage, input: CampaignInput): Promise<string> => {
  const made = await stage.world.answerOf(stage.gateway.createCampaign('r1', input));
  assert.ok(made.ok, JSON.stringify(made));
  return made.value.id;
};
const sent = (stage: Stage): number => stage.link().sent.length;
const statusOf = async (stage: Stage) => (await stage.gateway.campaigns('r1', null)).map(({ status }) => status).join(' ');
const states = async (stage: Stage, campaignId: string): Promise<string> => {
  const found = await stage.gateway.campaignRecipients('r1', { campaignId, states: null, limit: 100, offset: 0 });
  return found.ok ? found.value.recipients.map(({ state }) => state).join(' ') : '';
};
/** Records the simulated times at which messages leave, from the time of the call. */
const watch = (stage: Stage): readonly number[] => {
  const at: number[] = [];
  stage.link().answer = () => {
    at.push(stage.world.time.now());
    return done({ at: stage.world.time.now() });
  };
  return at;
};

test('campaigns: the first message leaves at once, and each later one after a random pause within the bounds', async () => {
  const stage = await staged();
  const at = watch(stage);
  const id = await create(stage, to('551', '552', '553', '554', '555'));
  await stage.world.time.pass(100);
  assert.equal(at.length, 1);
  await stage.world.time.pass(4 * 20_000 + 1_000);
  const pauses = at.slice(1).map((one, n) => one - (at[n] ?? 0));
  assert.equal(pauses.length, 4);
  assert.ok(
    pauses.every((pause) => pause >= 10_000 && pause <= 20_100),
    pauses.join(),
  );
  assert.ok(new Set(pauses.map((pause) => Math.round(pause / 100))).size > 1, pauses.join());
  assert.deepEqual([await statusOf(stage), await states(stage, id)], ['done', 'sent sent sent sent sent']);
  stage.world.assertKept();
});

test('campaigns: the pause after the last message also applies to a campaign that is created afterwards', async () => {
  const stage = await staged();
  const at = watch(stage);
  await create(stage, to('551'));
  await stage.world.time.pass(1_000);
  assert.equal((await stage.gateway.campaignStats('r1')).nextAt, null);
  await create(stage, to('552'));
  await stage.world.time.pass(20_000);
  assert.ok(at.length === 2 && at[1]! - at[0]! >= 10_000, at.join());
});

test('campaigns: a scheduled one sends nothing before its time', async () => {
  const stage = await staged();
  await create(stage, { ...to('551'), scheduledFor: stage.world.time.now() + 2 * 24 * hour });
  await stage.world.time.pass(1_000);
  assert.deepEqual([sent(stage), await statusOf(stage)], [0, 'waiting']);
  const part = async () => {
    const actor = await stage.gateway.actor('r1');
    return actor.ok ? actor.value.parts.find(({ id }) => id === 'campaigns')?.note : '';
  };
  assert.equal(await part(), `next message in ${2 * 24 * 3_600 - 1} s`);
  await stage.world.time.pass(2 * 24 * hour);
  assert.deepEqual([sent(stage), await statusOf(stage), await part()], [1, 'done', undefined]);
});

test('campaigns: a waiting one checks its time each minute, also when the wait is longer than a timer can hold', async () => {
  const stage = await staged(['r1'], policy());
  const { time, db } = stage.world;
  await create(stage, { ...to('551'), scheduledFor: time.now() + 40 * 24 * hour });
  const looks = (): number => db.statements.filter((name) => name === 'campaigns.next').length;
  const before = looks();
  await time.pass(10 * 60_000);
  assert.equal(looks() - before, 10);
});

test('campaigns: nothing leaves in the quiet hours, also when they span midnight', async () => {
  const stage = await staged(['r1'], policy({ quiet: { from: 21 * 60, to: 8 * 60 }, timeZone: 'UTC' }));
  const { time } = stage.world;
  const hourNow = (): number => new Date(time.now()).getUTCHours();
  const at = watch(stage);
  await create(stage, { ...to(...Array.from({ length: 20 }, (_, n) => `55${n}`)), delayMin: hour, delayMax: hour });
  for (let n = 0; n < 50; n++) await time.pass(hour);
  assert.ok(at.length === 20, `${at.length}`);
  assert.deepEqual(
    at.filter((one) => new Date(one).getUTCHours() >= 21 || new Date(one).getUTCHours() < 8),
    [],
    String(hourNow()),
  );
});

test('campaigns: no more messages than the daily cap leave within any 24 hours, also when campaigns are deleted', async () => {
  const stage = await staged(['r1'], policy({ dailyCap: 3 }));
  const at = watch(stage);
  const first = await create(stage, to('551', '552'));
  await stage.world.time.pass(60_000);
  assert.equal(at.length, 2);
  await stage.gateway.deleteCampaign('r1', first);
  await create(stage, to('553', '554', '555', '556'));
  await stage.world.time.pass(hour);
  assert.equal(at.length, 3);
  assert.ok(Number((await stage.gateway.campaignStats('r1')).nextAt) > stage.world.time.now() + 20 * hour);
  await stage.world.time.pass(24 * hour);
  assert.ok(at.length > 3 && at.every((one, n) => n < 3 || one - (at[n - 3] ?? 0) >= 24 * hour), at.join());
});

test('campaigns: two of them take turns, and a stopped one gets no turn', async () => {
  const stage = await staged();
  const shared = (text: string) => ({ ...campaignSend, content: { kind: 'text', text, preview: null } as const });
  const one = await create(stage, { ...to('551', '552', '553'), shared: shared('one') });
  await create(stage, { ...to('551', '552', '553'), shared: shared('two') });
  await stage.world.time.pass(62_000);
  const texts = stage.link().sent.map(({ text }) => text);
  assert.deepEqual(texts.slice(0, 4), ['one', 'two', 'one', 'two']);
  await stage.gateway.stopCampaign('r1', one);
  const before = texts.filter((text) => text === 'one').length;
  await stage.world.time.pass(5 * 20_000);
  const after = stage.link().sent.map(({ text }) => text);
  assert.equal(after.filter((text) => text === 'one').length, before);
  assert.equal(after.filter((text) => text === 'two').length, 3);
});

test('campaigns: a session that went away is waited for, and no message is sent twice when it is back', async () => {
  const stage = await staged();
  const id = await create(stage, to('551', '552'));
  await stage.world.time.pass(100);
  stage.link().end(428);
  await stage.world.time.pass(30_000);
  assert.equal(await states(stage, id), 'sent waiting');
  stage.link().login();
  await stage.world.time.pass(30_000);
  assert.equal(await states(stage, id), 'sent sent');
  assert.equal(sent(stage), 2);
});

test('campaigns: a frame that did not leave is sent again under another id, and a frame that may have left is not', async () => {
  const stage = await staged();
  const answers = [notSent, done({ at: 1 }), refuse('unknown', 'nobody answered')];
  stage.link().answer = () => answers.shift() ?? done({ at: 1 });
  const id = await create(stage, to('551', '552', '553'));
  await stage.world.time.pass(120_000);
  assert.equal(await states(stage, id), 'sent unknown sent');
  const ids = stage.link().sent.map(({ messageId, chatId }) => `${chatId.split('@')[0]} ${messageId}`);
  assert.deepEqual(
    ids.map((one) => one.split(' ')[0]),
    ['551', '551', '552', '553'],
  );
  assert.equal(new Set(ids).size, 4);
});

test('campaigns: a hibernated session is woken when the next message is due', async () => {
  const stage = await staged();
  await stage.world.answerOf(stage.gateway.hibernate('r1'));
  assert.equal(stage.status(), 'hibernated');
  stage.letIn();
  await create(stage, { ...to('551'), scheduledFor: stage.world.time.now() + hour });
  await stage.world.time.pass(hour / 2);
  assert.equal(stage.status(), 'hibernated');
  await stage.world.time.pass(hour / 2 + 5_000);
  assert.deepEqual([sent(stage), await statusOf(stage)], [1, 'done']);
});

/** Answers of the platform, and the states of the campaigns after them. */
const stops: readonly (readonly [title: string, answer: ReturnType<typeof refused>, sends: number, states: string, reason: RegExp])[] = [
  ['a time-lock', refused(463, 'the account is locked'), 1, 'waiting waiting waiting waiting', /the account is locked/],
  ['the bound of new chats', refused(475, 'no more new chats'), 1, 'waiting waiting waiting waiting', /no more new chats/],
  ['three refusals in a row', refused(479, 'no'), 3, 'failed failed failed waiting', /refused 3 messages in a row/],
];

for (const [title, answer, sends, after, reason] of stops)
  test(`campaigns: ${title} stops all that are due, and the reason is shown`, async () => {
    const stage = await staged();
    stage.link().answer = () => answer;
    const id = await create(stage, to('551', '552', '553', '554'));
    const later = await create(stage, { ...to('551'), scheduledFor: stage.world.time.now() + hour });
    await stage.world.time.pass(100_000);
    const all = await stage.gateway.campaigns('r1', null);
    assert.deepEqual([sent(stage), await states(stage, id)], [sends, after]);
    assert.match(all.find((one) => one.id === id)?.reason ?? '', reason);
    assert.deepEqual([all.find((one) => one.id === id)?.status, all.find((one) => one.id === later)?.status], ['paused', 'waiting']);
    stage.link().answer = () => done({ at: 1 });
    assert.ok((await stage.gateway.continueCampaign('r1', id)).ok);
    await stage.world.time.pass(100_000);
    assert.doesNotMatch(await states(stage, id), /waiting|sending/);
  });

test('campaigns: refusals that a success interrupts stop nothing', async () => {
  const stage = await staged();
  let n = 0;
  stage.link().answer = () => ((n += 1) % 3 === 0 ? done({ at: 1 }) : refused(479, 'no'));
  await create(stage, to('551', '552', '553', '554', '555', '556', '557'));
  await stage.world.time.pass(200_000);
  assert.equal(await statusOf(stage), 'done');
});

test('campaigns: during a storage outage they wait, and afterwards each recipient gets the message once', async () => {
  const stage = await staged();
  const id = await create(stage, to('551', '552', '553'));
  await stage.world.time.pass(100);
  stage.world.db.away = true;
  await stage.world.time.pass(60_000);
  stage.world.db.away = false;
  await stage.world.time.pass(60_000);
  assert.deepEqual([await states(stage, id), sent(stage)], ['sent sent sent', 3]);
});

test('campaigns: invalid requests to create one are refused', async () => {
  const stage = await staged(['r1', { id: 'r2', jid: '', wanted: 'offline' }], policy({ atOnce: 1, recipients: 2 }));
  const attempt = async (id: string, input: CampaignInput) =>
    refusalOf(await stage.world.answerOf(stage.gateway.createCampaign(id, input)));
  assert.equal(await attempt('r2', to('551')), 'notSent');
  assert.equal(await attempt('nobody', to('551')), 'notFound');
  assert.equal(await attempt('r1', to('551', '552', '553')), 'invalid');
  assert.equal(await attempt('r1', to()), 'invalid');
  await create(stage, { ...to('551'), scheduledFor: stage.world.time.now() + hour });
  assert.equal(await attempt('r1', to('551')), 'limited');
});

test('campaigns: creations at the same moment do not exceed the limit of running campaigns', async () => {
  const stage = await staged(['r1'], policy({ atOnce: 2 }));
  const made = Array.from({ length: 6 }, () =>
    stage.gateway.createCampaign('r1', { ...to('551'), scheduledFor: stage.world.time.now() + hour }),
  );
  const answers = await stage.world.answerOf(Promise.all(made));
  assert.deepEqual([answers.filter(({ ok }) => ok).length, (await stage.gateway.campaigns('r1', null)).length], [2, 2]);
});

test('campaigns: requests with one key create one campaign, also after a kill, and a different request with the key is a conflict', async () => {
  const stage = await staged();
  const once = { key: 'k', request: 'campaign' };
  const input = { ...to('551'), scheduledFor: stage.world.time.now() + hour };
  const all = await stage.world.answerOf(Promise.all([1, 2, 3].map(() => stage.gateway.createCampaign('r1', { ...input, once }))));
  const [first] = all;
  assert.ok(first?.ok);
  for (const answer of all) assert.deepEqual(answer, first);
  const other = { ...once, request: 'other' };
  assert.equal(refusalOf(await stage.world.answerOf(stage.gateway.createCampaign('r1', { ...input, once: other }))), 'conflict');
  assert.equal(refusalOf(await stage.world.answerOf(stage.gateway.send('r1', text(), { ...options, once: other }))), 'conflict');
  const restarted = await staged(['r1'], {}, (world) => {
    for (const [name, key] of stage.world.db.sendKeys) world.db.sendKeys.set(name, key);
    for (const [name, row] of stage.world.db.campaigns) world.db.campaigns.set(name, row);
  });
  assert.deepEqual(await restarted.world.answerOf(restarted.gateway.createCampaign('r1', { ...input, once })), first);
  assert.equal((await restarted.gateway.campaigns('r1', null)).length, 1);
});

test('campaigns: a request that fails during a storage outage leaves its key unused, and an expired key counts no more', async () => {
  const stage = await staged();
  const { db, time } = stage.world;
  const call = () =>
    stage.gateway.createCampaign('r1', { ...to('551'), scheduledFor: time.now() + 72 * hour, once: { key: 'k', request: '' } });
  db.away = true;
  await assert.rejects(stage.world.answerOf(call()));
  db.away = false;
  await time.pass(2_000);
  const first = await stage.world.answerOf(call());
  await time.pass(25 * hour);
  const second = await stage.world.answerOf(call());
  assert.ok(first.ok && second.ok && first.value.id !== second.value.id);
  assert.equal((await stage.gateway.campaigns('r1', null)).length, 2);
});

test('campaigns: stop and continue requests at the same moment are all answered', async () => {
  const stage = await staged(['r1'], policy());
  const id = await create(stage, { ...to('551'), scheduledFor: stage.world.time.now() + hour });
  const calls = Array.from({ length: 10 }, (_, at) =>
    at % 2 === 0 ? stage.gateway.stopCampaign('r1', id) : stage.gateway.continueCampaign('r1', id),
  );
  const answers = await stage.world.answerOf(Promise.all(calls));
  assert.deepEqual(
    answers.filter(({ ok }) => !ok),
    [],
  );
});

test('campaigns: the outcome of each recipient is counted', async () => {
  const counted: string[] = [];
  const stage = await staged(['r1'], policy(), ({ ports }) =>
    Object.assign(ports, { meter: { ...ports.meter, campaigned: (outcome: string) => counted.push(outcome) } }),
  );
  stage.link().answer = ({ chatId }) => (chatId.startsWith('552') ? refused(406, '') : done({ at: stage.world.time.now() }));
  await create(stage, to('551', '552'));
  await stage.world.time.pass(120_000);
  assert.deepEqual(counted, ['sent', 'failed']);
});

/** Returns the reasons of the `sender` events, in order. */
const told = (stage: Stage): readonly string[] =>
  stage.world.journal.groups.flat().flatMap((entry) => (entry.kind === 'campaign' ? [`${entry.status}: ${entry.reason}`] : []));
const reasons = async (stage: Stage) => (await stage.gateway.campaigns('r1', null)).map(({ reason }) => reason).join(' | ');

test('campaigns: one that rests in the quiet hours shows this in the list and in an event, until the rest ends', async () => {
  const stage = await staged(['r1'], policy({ quiet: { from: 0, to: 12 * 60 }, timeZone: 'UTC' }));
  const { time } = stage.world;
  const toMorning = 24 * hour - (time.now() % (24 * hour)) + hour;
  await time.pass(toMorning);
  await create(stage, to('551', '552'));
  await create(stage, { ...to('551'), scheduledFor: time.now() + 48 * hour });
  await time.pass(60_000);
  assert.deepEqual([(await reasons(stage)).split(' | ').toSorted(), sent(stage)], [['', 'the quiet hours are not over'], 0]);
  await time.pass(12 * hour);
  assert.equal(sent(stage), 2);
  assert.deepEqual(told(stage), ['waiting: the quiet hours are not over', 'waiting: ', 'sending: ', 'done: ']);
});

test('campaigns: one that has reached the daily cap shows this as its reason', async () => {
  const stage = await staged(['r1'], policy({ dailyCap: 2 }));
  await create(stage, to('551', '552', '553'));
  await stage.world.time.pass(120_000);
  assert.equal(await reasons(stage), 'the daily cap of 2 messages is reached');
  const [one] = await stage.gateway.campaigns('r1', null);
  assert.ok(Number(one?.remainingMs) > 23 * hour, `${one?.remainingMs}`);
});

test('campaigns: a session that is away for a minute is named as the reason', async () => {
  const stage = await staged();
  await create(stage, to('551', '552', '553'));
  await stage.world.time.pass(100);
  stage.link().end(428);
  await stage.world.time.pass(50_000);
  assert.equal(await reasons(stage), '');
  await stage.world.time.pass(70_000);
  assert.equal(await reasons(stage), 'the session is not connected');
  stage.link().login();
  await stage.world.time.pass(60_000);
  assert.deepEqual([await reasons(stage), await statusOf(stage)], ['', 'done']);
});

test('campaigns: a session that was logged out is named as the reason', async () => {
  const stage = await staged();
  await create(stage, to('551', '552'));
  await stage.world.time.pass(100);
  stage.link().end(401);
  await stage.world.time.pass(120_000);
  assert.deepEqual([await reasons(stage), await statusOf(stage)], ['the session is logged out: pair it again', 'sending']);
});

test('campaigns: continuing a finished one sends only to the recipients whose message failed', async () => {
  const stage = await staged();
  stage.link().answer = ({ chatId }) => (chatId.startsWith('552') ? refused(479, 'no') : done({ at: stage.world.time.now() }));
  const id = await create(stage, to('551', '552', '553'));
  await stage.world.time.pass(100_000);
  assert.deepEqual([await states(stage, id), await statusOf(stage)], ['sent failed sent', 'done']);
  stage.link().answer = () => done({ at: stage.world.time.now() });
  assert.ok((await stage.world.answerOf(stage.gateway.continueCampaign('r1', id))).ok);
  await stage.world.time.pass(100_000);
  assert.deepEqual([await states(stage, id), await statusOf(stage), sent(stage)], ['sent sent sent', 'done', 4]);
  assert.equal(refusalOf(await stage.world.answerOf(stage.gateway.continueCampaign('r1', id))), 'conflict');
});

test('campaigns: the answer and the list estimate the remaining time', async () => {
  const stage = await staged();
  const made = await stage.world.answerOf(stage.gateway.createCampaign('r1', to('551', '552', '553', '554')));
  assert.ok(made.ok);
  assert.equal(made.value.remainingMs, 45_000);
  await stage.world.time.pass(100);
  const [one] = await stage.gateway.campaigns('r1', null);
  assert.ok(Number(one?.remainingMs) >= 39_000 && Number(one?.remainingMs) <= 50_000, `${one?.remainingMs}`);
  await stage.gateway.stopCampaign('r1', made.value.id);
  assert.equal((await stage.gateway.campaigns('r1', null))[0]?.remainingMs, null);
});

test('campaigns: the name of a group that is not stored is requested before the message is filled', async () => {
  const stage = await staged(['r1'], policy(), ({ ports }) =>
    Object.assign(ports, { placeholder: (_name: string, chat: { readonly name: string } | null) => chat?.name ?? '' }),
  );
  const subject = { text: 'Neighbours', by: '', at: 1 };
  stage.link().handle = ({ name }) => (name === 'group.get' ? done({ group: { subject }, requests: null }) : refuse('notSupported', name));
  const hello = { kind: 'text', text: 'Hello {{name}}', preview: null } as const;
  await create(stage, { ...to('120363000000000001@g.us'), shared: { ...campaignSend, content: hello } });
  await stage.world.time.pass(1_000);
  await stage.world.answerOf(stage.gateway.send('r1', text('120363000000000002@g.us', 'Hi {{name}}'), options));
  await stage.world.answerOf(stage.gateway.send('r1', text('120363000000000003@g.us', 'Hey {{name}}'), { ...options, async: true }));
  await stage.world.time.pass(1_000);
  assert.deepEqual(
    stage.link().sent.map(({ text }) => text),
    ['Hello Neighbours', 'Hi Neighbours', 'Hey Neighbours'],
  );
});
