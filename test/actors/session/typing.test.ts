/** Tests the typing indicator: how often it is repeated, and its end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { done } from '#actors/model.ts';
import { Typing, type TypingInput } from '#actors/session/typing.ts';
import { FakeTime } from '#test/fakes/time.ts';
import { refusalOf, staged, type Stage, options, text } from '#test/actors/stage.ts';

const ana = '551@s.whatsapp.net';
const show = (stage: Stage, delay: number, state: 'composing' | 'recording' | 'paused' = 'composing', number = '551') =>
  stage.gateway.showTyping('r1', number, state, delay);

/** Returns the presence updates since the last call. */
const calls = (stage: Stage): readonly string[] => stage.link().calls.splice(0);

test('typing: without a delay it is sent once', async () => {
  const stage = await staged();
  assert.ok((await show(stage, 0)).ok);
  await stage.world.time.pass(60_000);
  assert.deepEqual(calls(stage), [`composing ${ana}`]);
});

test('typing: the request is answered at once, and the indicator is repeated every ten seconds until the delay ends', async () => {
  const stage = await staged();
  assert.ok((await show(stage, 25_000, 'recording')).ok);
  assert.deepEqual(calls(stage), [`recording ${ana}`]);
  await stage.world.time.pass(9_999);
  assert.deepEqual(calls(stage), []);
  await stage.world.time.pass(1);
  assert.deepEqual(calls(stage), [`recording ${ana}`]);
  await stage.world.time.pass(14_999);
  assert.deepEqual(calls(stage), [`recording ${ana}`]);
  await stage.world.time.pass(1);
  assert.deepEqual(calls(stage), [`paused ${ana}`]);
  await stage.world.time.pass(60_000);
  assert.deepEqual(calls(stage), []);
});

test('typing: a timer that fires a millisecond before the end of the delay does not repeat the indicator', async () => {
  const time = new FakeTime();
  const early = {
    monotonic: () => time.monotonic(),
    setTimeout: (fn: () => void, ms: number) => time.setTimeout(fn, Math.max(1, ms - 1)),
    clearTimeout: (id: unknown) => time.clearTimeout(id),
  };
  const shown: string[] = [];
  const write: TypingInput['write'] = async (_, state) => {
    shown.push(state);
    return done(null);
  };
  const typing = new Typing({ time: early, atOnce: 1, write });
  await typing.show(ana, 'composing', 4_000, new AbortController().signal);
  await time.pass(5_000);
  assert.deepEqual(shown, ['composing', 'paused']);
});

const ends: readonly (readonly [title: string, end: (stage: Stage) => unknown, shown: readonly string[]])[] = [
  ['a message to the chat', (stage) => stage.gateway.send('r1', text('551', 'done'), options), []],
  ['another state in the chat', (stage) => show(stage, 0, 'recording'), [`recording ${ana}`]],
  ['a pause', (stage) => show(stage, 60_000, 'paused'), [`paused ${ana}`]],
  ['the end of the connection', (stage) => stage.link().end(428), []],
  ['the removal of the instance', (stage) => stage.gateway.remove('r1'), []],
];
for (const [title, end, shown] of ends)
  test(`typing: ${title} ends it`, async () => {
    const stage = await staged();
    await show(stage, 300_000);
    calls(stage);
    const link = stage.link();
    void end(stage);
    await stage.world.time.pass(400_000);
    assert.deepEqual(
      link.calls.filter((call) => /composing|recording|paused/.test(call)),
      shown,
    );
  });

test('typing: a message to another chat does not end it', async () => {
  const stage = await staged();
  await show(stage, 15_000);
  void stage.gateway.send('r1', text('552', 'other'), options);
  await stage.world.time.pass(15_000);
  assert.deepEqual(calls(stage), [`composing ${ana}`, `composing ${ana}`, `paused ${ana}`]);
});

test('typing: the number of chats with a repeated indicator is limited, and one more is refused with the limit', async () => {
  const stage = await staged();
  for (const number of ['551', '552', '553']) assert.ok((await show(stage, 20_000, 'composing', number)).ok);
  assert.equal(refusalOf(await show(stage, 20_000, 'composing', '554')), 'limited');
  assert.ok((await show(stage, 20_000, 'recording', '552')).ok, 'it takes the place of its own');
  assert.ok((await show(stage, 0, 'composing', '554')).ok, 'once is always possible');
  await stage.world.time.pass(20_000);
  assert.ok((await show(stage, 20_000, 'composing', '554')).ok);
});

test('typing: a session that is not connected sends none', async () => {
  const stage = await staged();
  stage.link().end(428);
  assert.equal(refusalOf(await show(stage, 0)), 'notSent');
});
