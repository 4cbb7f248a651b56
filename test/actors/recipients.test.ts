/** Tests the lookup of a number before the first message to it: once, at a limited pace, and with a cached answer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { done, refuse, type Message, type Result } from '#actors/model.ts';
import type { LookedUp, Outcome } from '#actors/ports.ts';
import { lateAnswer, refused } from '#src/platform/wire/outcomes.ts';
import { chat as sampleChat } from '#test/contract/samples.ts';
import { options, refusalOf, staged, text, type Stage } from './stage.ts';

const jid = (number: string): string => `${number}@s.whatsapp.net`;

/** A stage whose platform knows the numbers of the table, in any of their forms. `asked` gathers the lookups. */
async function lookingUp(accounts: Readonly<Record<string, string>>, policy: Parameters<typeof staged>[1] = {}) {
  const stage = await staged(['r1'], policy);
  const asked: string[][] = [];
  const control: { outcome: Outcome<readonly (LookedUp | null)[]> | null } = { outcome: null };
  const link = stage.link();
  link.forms = (chatId) => [chatId, `9${chatId}`];
  link.handle = (operation) => {
    if (operation.name !== 'chat.lookUp') return refuse('notSupported', operation.name);
    const { numbers } = operation.input;
    asked.push(...numbers.map((forms) => [...forms]));
    const found = (forms: readonly string[]) => forms.map((form) => accounts[form]).find((one) => one !== undefined) ?? '';
    return control.outcome ?? done(numbers.map((forms) => ({ chatId: found(forms), businessName: '' })));
  };
  return { stage, asked, control };
}

const send = (stage: Stage, number: string, more: Partial<typeof options> = {}): Promise<Result<Message>> =>
  stage.world.answerOf(stage.gateway.send('r1', text(number), { ...options, ...more }));

const chatsOf = (stage: Stage): readonly string[] => stage.link().sent.map(({ chatId }) => chatId);

test('recipients: an unknown number is looked up once in both forms, also by many requests at once, and not again', async () => {
  const { stage, asked } = await lookingUp({ [jid('551')]: jid('551') });
  await Promise.all(Array.from({ length: 5 }, () => send(stage, '551')));
  const queries = stage.world.db.count('recipients.find');
  await send(stage, '551');
  assert.deepEqual(
    [asked, stage.world.db.count('recipients.find'), stage.link().sent.length],
    [[[jid('551'), `9${jid('551')}`]], queries, 6],
  );
});

test('recipients: the form in the reply of the platform is the chat, also for the asynchronous queue', async () => {
  const { stage, asked } = await lookingUp({ [jid('551')]: jid('9551') });
  const sent = await send(stage, '551');
  const queued = await send(stage, '551', { async: true });
  await stage.world.time.pass(1_000);
  assert.deepEqual([sent.ok && sent.value.chatId, queued.ok && queued.value.chatId], [jid('9551'), jid('9551')]);
  assert.deepEqual([asked.length, chatsOf(stage)], [1, [jid('9551'), jid('9551')]]);
});

test('recipients: a message of the asynchronous queue is stored under the form that an earlier process looked up', async () => {
  const { stage, asked } = await lookingUp({ [jid('551')]: jid('9551') });
  const known = { chatId: jid('9551'), businessName: '', at: stage.world.time.now() };
  for (const form of ['551', '9551']) stage.world.db.lookups.set(`r1 ${jid(form)}`, known);
  const queued = await send(stage, '551', { async: true });
  await stage.world.time.pass(1_000);
  const stored = [...stage.world.db.messages.values()].map(({ chatId, status }) => [chatId, status]);
  assert.deepEqual([queued.ok && queued.value.chatId, stored, asked], [jid('9551'), [[jid('9551'), 'Sent']], []]);
});

test('recipients: the asynchronous queue takes a number that an earlier look-up did not find, and asks nothing meanwhile', async () => {
  const { stage, asked } = await lookingUp({});
  stage.world.db.lookups.set(`r1 ${jid('551')}`, { chatId: '', businessName: '', at: stage.world.time.now() });
  const queued = await send(stage, '551', { async: true });
  assert.deepEqual([queued.ok && queued.value.chatId, asked], [jid('551'), []]);
});

test('recipients: a number without an account is refused, cached for a time, and then looked up again', async () => {
  const { stage, asked } = await lookingUp({});
  const first = await send(stage, '551');
  assert.deepEqual([refusalOf(first), !first.ok && first.refusal.message], ['notFound', `the number ${jid('551')} is not on WhatsApp`]);
  await send(stage, '551');
  assert.equal(asked.length, 1);
  await stage.world.time.pass(21_600_001);
  assert.equal(refusalOf(await send(stage, '551')), 'notFound');
  assert.deepEqual([asked.length, stage.link().sent.length, stage.world.db.messages.size], [2, 0, 0]);
});

test('recipients: in the asynchronous queue a number without an account becomes Failed with the reason, and the next message leaves', async () => {
  const { stage } = await lookingUp({ [jid('552')]: jid('552') });
  for (const number of ['551', '552']) assert.ok((await send(stage, number, { async: true })).ok);
  await stage.world.time.pass(1_000);
  const stored = [...stage.world.db.messages.values()].map(({ status, error }) => [status, error]);
  assert.deepEqual(stored, [
    ['Failed', `the number ${jid('551')} is not on WhatsApp`],
    ['Sent', ''],
  ]);
});

test('recipients: lookups are throttled, so that a caller is told when to retry and the asynchronous queue waits', async () => {
  const everybody = Object.fromEntries(['1', '2', '3', '4', '5'].map((n) => [jid(`55${n}`), jid(`55${n}`)]));
  const lookups = { pace: { burst: 2, every: 30_000 }, knownFor: 1e9, absentFor: 1e9 };
  const { stage, asked } = await lookingUp(everybody, { lookups });
  for (const number of ['551', '552']) assert.ok((await send(stage, number)).ok);
  const third = await send(stage, '553');
  assert.ok(!third.ok);
  assert.equal(third.refusal.reason, 'limited');
  assert.ok((third.refusal.retryAfter ?? 0) > 25 && (third.refusal.retryAfter ?? 0) <= 30, `${third.refusal.retryAfter} s`);
  // A known number needs no lookup.
  assert.ok((await send(stage, '551')).ok);
  for (const number of ['554', '555']) await send(stage, number, { async: true });
  await stage.world.time.pass(1_000);
  assert.equal(asked.length, 2);
  await stage.world.time.pass(65_000);
  assert.deepEqual([asked.length, chatsOf(stage).slice(-2)], [4, [jid('554'), jid('555')]]);
});

test('recipients: a 429 of the platform is answered with its code, and lookups stop for a while', async () => {
  const { stage, asked, control } = await lookingUp({ [jid('551')]: jid('551') });
  control.outcome = refused(429, 'rate-overlimit');
  const first = await send(stage, '551');
  control.outcome = null;
  assert.deepEqual(!first.ok && [first.refusal.reason, first.refusal.code, first.refusal.retryAfter], ['limited', 429, 60]);
  assert.equal(refusalOf(await send(stage, '551')), 'limited');
  assert.equal(asked.length, 1);
  await stage.world.time.pass(60_000);
  assert.ok((await send(stage, '551')).ok);
});

/** Outcomes of a lookup, with the result for the caller and the number of messages that leave. */
const others: readonly (readonly [title: string, outcome: Outcome<readonly LookedUp[]>, reason: string, sent: number])[] = [
  ['no answer in time: nothing was sent', lateAnswer, 'notSent', 0],
  ['the platform refuses to say: the message goes as it is written', refused(500, 'internal'), '', 1],
];

for (const [title, outcome, reason, sent] of others)
  test(`recipients: ${title}`, async () => {
    const { stage, control } = await lookingUp({});
    control.outcome = outcome;
    assert.equal(refusalOf(await send(stage, '551')), reason);
    assert.equal(stage.link().sent.length, sent);
  });

test('recipients: the asynchronous queue repeats a lookup that the platform did not answer', async () => {
  const { stage, control } = await lookingUp({ [jid('551')]: jid('551') });
  control.outcome = lateAnswer;
  await send(stage, '551', { async: true });
  await stage.world.time.pass(1_000);
  control.outcome = null;
  assert.equal(stage.link().sent.length, 0);
  await stage.world.time.pass(6_000);
  assert.equal(stage.link().sent.length, 1);
});

test('recipients: a request for history names the chat by the stored form of its Brazilian number', async () => {
  const stage = await staged(['r1']);
  stage.world.db.putChat({ ...sampleChat, instanceId: 'r1', chatId: jid('553187654321'), chatLid: '' });
  const asked: string[] = [];
  stage.link().handle = (operation) => {
    if (operation.name !== 'message.history') return refuse('notSupported', operation.name);
    asked.push(operation.input.chatId);
    return done({ requestId: 'Q' });
  };
  const wish = { messageId: '', at: null, fromMe: false, count: 5, requestId: 'R', exact: false, alternates: true, wait: 0 };
  await stage.world.answerOf(stage.gateway.requestHistory('r1', { ...wish, number: '5531987654321' }));
  assert.deepEqual(asked, [jid('553187654321')]);
});

test('recipients: a picture is asked for under the form in the reply of the platform, or as written if the look-up is refused', async () => {
  const { stage, control } = await lookingUp({ [jid('551')]: jid('9551') });
  const link = stage.link();
  const { handle } = link;
  const pictures: string[] = [];
  link.handle = (operation) => {
    if (operation.name !== 'picture.look') return handle(operation);
    pictures.push(operation.input.id);
    return done({ state: 'there', url: 'https://example.com/picture' });
  };
  const look = (number: string) => stage.world.answerOf(stage.gateway.picture('r1', number, 'image', false));
  assert.ok((await look('551')).ok);
  control.outcome = refused(429, 'rate-overlimit');
  assert.ok((await look('552')).ok);
  assert.deepEqual(pictures, [jid('9551'), jid('552')]);
});
