/** Tests short ids of messages. They are random, an id that is taken is drawn again, and callers get the stored id. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SendOptions } from '#actors/gateway.ts';
import { options, staged, text } from './stage.ts';

test('short ids: a send whose short id is taken is answered with the id under which the message is stored', async () => {
  const { world, gateway } = await staged();
  // The simulated platform draws the same id for every message.
  const once = { key: 'k1', request: 'the second' };
  const later = { ...options, async: true };
  const asked: SendOptions[] = [options, { ...options, once }, later, { ...later, once: { key: 'k2', request: 'the last' } }];
  const ids: string[] = [];
  for (const one of asked) {
    const sent = await world.answerOf(gateway.send('r1', text(), one));
    assert.ok(sent.ok);
    const stored = [...world.db.messages.values()].find(({ messageId }) => messageId === sent.value.messageId);
    assert.equal(sent.value.id, stored?.id);
    ids.push(sent.value.id);
  }
  assert.equal(new Set(ids).size, asked.length);
  await world.time.pass(10_000);
  for (const [at, one] of asked.entries()) {
    const again = one.once && (await world.answerOf(gateway.send('r1', text(), one)));
    if (again) assert.equal(again.ok && again.value.id, ids[at]);
  }
  world.assertKept();
});
