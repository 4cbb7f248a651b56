/** Tests sends with files: the time at which a file is fetched, and the stored form. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTaken, refuse, type Send } from '#actors/model.ts';
import { attachmentOf } from '#test/fakes/attachments.ts';
import { media, options, refusalOf, staged, text, type Stage } from './stage.ts';

const send: Send = { ...text('551'), content: media };
const asked = (stage: Stage, more: Partial<typeof options> = {}, what = send) =>
  stage.world.answerOf(stage.gateway.send('r1', what, { ...options, ...more }));

test('files: a queued message holds a reference, and the address of its file is announced at once', async () => {
  const stage = await staged();
  stage.link().end(428);
  await stage.world.time.pass(10);
  const queued = await asked(stage, { async: true });
  assert.ok(queued.ok);
  const kept = attachmentOf({ ...(media.file as Parameters<typeof attachmentOf>[0]) });
  const stored = stage.world.db.message('r1', queued.value.messageId);
  assert.equal(stored?.fileUrl, kept.url);
  const waiting = stored?.queuedSend?.send?.content;
  assert.ok(waiting?.kind === 'media' && isTaken(waiting.file));
  assert.deepEqual(waiting.file, kept);
  assert.equal(JSON.stringify(stored).includes('UERG'), false);
});

test('files: a refused file refuses the send, and nothing is stored', async () => {
  const stage = await staged();
  stage.world.attachments.answer = () => refuse('notConvertible', 'no');
  assert.equal(refusalOf(await asked(stage)), 'notConvertible');
  assert.deepEqual([stage.link().sent, [...stage.world.db.messages.values()]], [[], []]);
});

test('files: none is fetched for a session that accepts no messages or for an invalid number', async () => {
  const stage = await staged();
  stage.link().objection = (number) => (number === 'nobody' ? 'no number' : null);
  assert.equal(refusalOf(await asked(stage, {}, { ...send, number: 'nobody' })), 'invalid');
  await stage.world.answerOf(stage.gateway.disconnect('r1'));
  for (const async of [true, false]) assert.equal(refusalOf(await asked(stage, { async })), 'notSent');
  assert.deepEqual(stage.world.attachments.taken, []);
});

test('files: a slow one delays no other message of its chat', async () => {
  const stage = await staged();
  const slow = Promise.withResolvers<ReturnType<typeof refuse>>();
  stage.world.attachments.answer = () => slow.promise;
  const waiting = stage.gateway.send('r1', send, options);
  assert.ok((await asked(stage, {}, text('551', 'meanwhile'))).ok);
  slow.resolve(refuse('invalid', 'gone'));
  assert.equal(refusalOf(await stage.world.answerOf(waiting)), 'invalid');
});

test('files: a session that is disconnected while a file is fetched sends nothing', async () => {
  const stage = await staged();
  stage.world.attachments.answer = async (given) => {
    await stage.gateway.disconnect('r1');
    return { ok: true, value: attachmentOf(given) };
  };
  assert.equal(refusalOf(await asked(stage)), 'notSent');
  assert.deepEqual(stage.link().sent, []);
});

test('files: recording is shown before a voice message, and typing before the others', async () => {
  const stage = await staged();
  const voice: Send = { ...send, content: { ...media, as: 'ptt' } };
  const sent = stage.gateway.send('r1', voice, { ...options, delay: 500 });
  await stage.world.time.pass(10);
  await stage.world.time.pass(500);
  assert.ok((await sent).ok);
  assert.deepEqual(stage.link().calls, ['recording 551@s.whatsapp.net', 'paused 551@s.whatsapp.net']);
});

test('files: a long recording is shown until its end, because phones forget it after some 25 s', async () => {
  const stage = await staged();
  const voice: Send = { ...send, content: { ...media, as: 'ptt' } };
  const sent = stage.gateway.send('r1', voice, { ...options, delay: 25_000 });
  await stage.world.time.pass(10);
  await stage.world.time.pass(24_000);
  assert.deepEqual([stage.link().calls, stage.link().sent.length], [Array(3).fill('recording 551@s.whatsapp.net'), 0]);
  await stage.world.time.pass(1_000);
  assert.ok((await sent).ok);
  assert.equal(stage.link().calls.at(-1), 'paused 551@s.whatsapp.net');
});
