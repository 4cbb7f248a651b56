/** Tests the presence of the account: the choice of the client holds for the later connections of one linking. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from '#test/fakes/world.ts';
import { options, staged, text, type Stage } from '#test/actors/stage.ts';

const reconnected = async (stage: Stage): Promise<void> => {
  stage.letIn();
  stage.link().end(503);
  await stage.world.time.pass(60_000);
  assert.equal(stage.status(), 'connected');
};

/** Returns the presences that the session sent since the last call. */
const sent = (stage: Stage): readonly string[] => {
  const { calls } = stage.link();
  return calls.splice(0).filter((call) => call.startsWith('presence'));
};

test('presence: a session that the client made available is available again after a reconnect', async () => {
  const stage = await staged();
  assert.ok((await stage.gateway.presence('r1', 'available')).ok);
  for (let n = 0; n < 2; n += 1) {
    sent(stage);
    await reconnected(stage);
    assert.deepEqual(sent(stage), ['presence available']);
    assert.equal(stage.gateway.view('r1')?.presence, 'available');
  }
  assert.ok((await stage.gateway.presence('r1', 'unavailable')).ok);
  sent(stage);
  await reconnected(stage);
  assert.deepEqual([sent(stage), stage.gateway.view('r1')?.presence], [[], 'unavailable']);
});

test('presence: a session that nobody made available sends no presence', async () => {
  const stage = await staged();
  await reconnected(stage);
  assert.deepEqual(sent(stage), []);
});

test('presence: a call that wakes the session has the last word', async () => {
  const stage = await staged();
  await stage.gateway.presence('r1', 'available');
  await stage.world.answerOf(stage.gateway.hibernate('r1'));
  assert.equal(stage.gateway.view('r1')?.presence, 'unavailable');
  stage.letIn();
  sent(stage);
  assert.ok((await stage.world.answerOf(stage.gateway.presence('r1', 'unavailable'))).ok);
  assert.equal(sent(stage).at(-1), 'presence unavailable');
  assert.equal(stage.gateway.view('r1')?.presence, 'unavailable');
});

test('presence: another linking begins as unavailable', async () => {
  const stage = await staged();
  await stage.gateway.presence('r1', 'available');
  stage.link().say({ type: 'platform.identity', patch: { jid: '5511900000009:7@s.whatsapp.net' } });
  await settle();
  assert.equal(stage.gateway.view('r1')?.presence, 'unavailable');
});

test('presence: a presence that cannot be set again harms no session', async () => {
  const stage = await staged();
  await stage.gateway.presence('r1', 'available');
  stage.link().broken.add('account.presence');
  await reconnected(stage);
  assert.ok((await stage.world.answerOf(stage.gateway.send('r1', text(), options))).ok);
});
