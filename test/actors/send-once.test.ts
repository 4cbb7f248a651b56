/** Tests idempotency keys of sends: the answer to a repeated key, and the cases in which the key becomes free. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message, Result } from '#actors/model.ts';
import type { Outcome } from '#actors/ports.ts';
import { lateAnswer, lostAnswer, notSent, refused } from '#src/platform/wire/outcomes.ts';
import { options, refusalOf, staged, text, type Stage } from './stage.ts';

const day = 86_400_000;

const send = (stage: Stage, key: string, body = 'hello', more: Partial<typeof options> = {}, id = 'r1'): Promise<Result<Message>> =>
  stage.world.answerOf(stage.gateway.send(id, text('551', body), { ...options, ...more, once: { key, request: body } }));

const count = (stage: Stage, id = 'r1'): number => stage.link(id).sent.length;

test('send once: twenty simultaneous requests with one key are one message, and get one answer', async () => {
  const stage = await staged();
  const answers = await Promise.all(Array.from({ length: 20 }, () => send(stage, 'k')));
  const again = await send(stage, 'k');
  assert.equal(count(stage), 1);
  assert.ok(again.ok);
  for (const answer of answers) assert.ok(answer.ok && answer.value.messageId === again.value.messageId && answer.value.status === 'Sent');
});

test('send once: later changes of the message do not change the first answer', async () => {
  const stage = await staged();
  const first = await send(stage, 'k');
  assert.ok(first.ok);
  stage.world.db.putMessage({ ...first.value, instanceId: 'r1', status: 'Read', text: 'changed' });
  const again = await send(stage, 'k');
  assert.ok(again.ok);
  assert.deepEqual([again.value.status, again.value.text], ['Sent', first.value.text]);
});

test('send once: a different request with the key is a conflict, also while the first is under way, and each instance has its own keys', async () => {
  const stage = await staged(['r1', 'r2']);
  const [first, other] = await Promise.all([send(stage, 'k', 'one'), send(stage, 'k', 'two')]);
  assert.deepEqual([refusalOf(first), refusalOf(other)], ['', 'conflict']);
  assert.equal(refusalOf(await send(stage, 'k', 'two')), 'conflict');
  assert.equal(refusalOf(await send(stage, 'k', 'two', {}, 'r2')), '');
  assert.deepEqual([count(stage), count(stage, 'r2')], [1, 1]);
});

/** Answers of the platform, the result for the caller, and the number of messages that leave when the same key comes again. */
const failures: readonly (readonly [title: string, outcome: Outcome<{ readonly at: number }>, reason: string, sent: number])[] = [
  ['nothing left: the key is free', notSent, 'notSent', 2],
  ['the platform refused it: that is the answer', refused(463, 'restricted'), 'refused', 1],
  ['no answer came in time: the key is in use', lateAnswer, 'unknown', 1],
  ['the connection was lost: the key is in use', lostAnswer, 'unknown', 1],
];

for (const [title, outcome, reason, sent] of failures) {
  test(`send once: ${title}`, async () => {
    const stage = await staged();
    stage.link().answer = () => outcome;
    const first = await send(stage, 'k');
    stage.link().answer = () => ({ ok: true, value: { at: stage.world.time.now() } });
    const again = await send(stage, 'k');
    assert.deepEqual([refusalOf(first), count(stage)], [reason, sent]);
    if (sent === 2) return assert.equal(refusalOf(again), '');
    const [told, repeated] = [first, again].map((one) => (one.ok ? null : [one.refusal.reason, one.refusal.message, one.refusal.code]));
    assert.deepEqual(repeated, told);
    const [message] = stage.link().sent;
    if (reason === 'unknown') assert.equal(!again.ok && again.refusal.messageId, message?.messageId);
  });
}

test('send once: a receipt for a message whose answer was lost turns the next answer into a success', async () => {
  const stage = await staged();
  stage.link().answer = () => lateAnswer;
  const first = await send(stage, 'k');
  const messageId = first.ok ? '' : (first.refusal.messageId ?? '');
  const stored = stage.world.db.message('r1', messageId);
  assert.ok(stored);
  stage.world.db.putMessage({ ...stored, instanceId: 'r1', status: 'Delivered' });
  const again = await send(stage, 'k');
  assert.ok(again.ok);
  assert.deepEqual([again.value.messageId, again.value.status, count(stage)], [messageId, 'Delivered', 1]);
});

test('send once: a request that is refused before anything is stored leaves the key free', async () => {
  const stage = await staged();
  stage.link().objection = () => 'makes no sense';
  assert.equal(refusalOf(await send(stage, 'k')), 'invalid');
  stage.link().objection = () => null;
  stage.world.db.away = true;
  await assert.rejects(send(stage, 'k'));
  stage.world.db.away = false;
  await stage.world.time.pass(2_000);
  assert.equal(refusalOf(await send(stage, 'k', 'another')), '');
  assert.equal(count(stage), 1);
});

test('send once: a message of the asynchronous queue is accepted once, whatever its outcome', async () => {
  const stage = await staged();
  stage.link().answer = () => refused(479, 'no');
  const first = await send(stage, 'k', 'later', { async: true });
  await stage.world.time.pass(1_000);
  const again = await send(stage, 'k', 'later', { async: true });
  assert.ok(first.ok && again.ok);
  assert.deepEqual([again.value.messageId, again.value.status, count(stage)], [first.value.messageId, 'Queued', 1]);
});

test('send once: an expired key no longer counts, and its row is deleted', async () => {
  const stage = await staged();
  await send(stage, 'k');
  await stage.world.time.pass(day - 1_000);
  await send(stage, 'k');
  assert.equal(count(stage), 1);
  await stage.world.time.pass(1_200_000);
  assert.equal(stage.world.db.sendKeys.size, 0);
  await send(stage, 'k', 'another');
  assert.equal(count(stage), 2);
});

test('send once: after a kill the stored message gives the result of the first request', async () => {
  const stage = await staged();
  const never = Promise.withResolvers<Outcome<{ readonly at: number }>>();
  stage.link().answer = () => never.promise;
  void stage.gateway.send('r1', text(), { ...options, once: { key: 'k', request: 'hello' } });
  await stage.world.time.pass(100);
  const [sent] = stage.link().sent;
  const restarted = await staged(['r1'], {}, (world) => {
    for (const row of stage.world.db.messages.values()) world.db.putMessage(row);
    for (const [name, key] of stage.world.db.sendKeys) world.db.sendKeys.set(name, key);
  });
  const again = await send(restarted, 'k');
  assert.deepEqual([refusalOf(again), count(restarted)], ['unknown', 0]);
  assert.equal(!again.ok && again.refusal.messageId, sent?.messageId);
});
