/** Tests the tests of webhooks: they share the slots of the posts, and run one at a time for each owner. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attempt } from '#actors/ports.ts';
import { settle, testPolicy } from '#test/fakes/world.ts';
import { staged } from '../stage.ts';

const ok: Attempt = { ok: true, status: 200 };

/** Starts a gateway with two instances whose webhooks share a receiver host with one slot. The receiver answers when `answer` is called. */
async function shared() {
  const resting = [
    { id: 'r1', wanted: 'offline' },
    { id: 'r2', wanted: 'offline' },
  ] as const;
  const delivery = { ...testPolicy.delivery, atOnce: { total: 10, perHost: 1 } };
  const { world, gateway } = await staged(resting, { delivery }, (before) => {
    for (const instanceId of ['r1', 'r2']) before.hook({ id: `hook of ${instanceId}`, instanceId, url: `http://hook.test/${instanceId}` });
  });
  const answers: ((attempt: Attempt) => void)[] = [];
  world.receiver.answer = () => new Promise((resolve) => answers.push(resolve));
  const answer = async (): Promise<void> => {
    answers.shift()?.(ok);
    await settle();
  };
  const posts = (): readonly string[] => world.receiver.posts.map(({ url }) => url);
  return { gateway, answer, posts };
}

test('webhook tests: a test waits for a slot of the receiver host, as posts do', async () => {
  const { gateway, answer, posts } = await shared();
  const tests = [gateway.testWebhook('r1', {}), gateway.testWebhook('r2', {})];
  await settle();
  assert.deepEqual(posts(), ['http://hook.test/r1']);
  await answer();
  assert.deepEqual(posts(), ['http://hook.test/r1', 'http://hook.test/r2']);
  await answer();
  for (const tried of await Promise.all(tests)) assert.ok(tried.ok);
});

test('webhook tests: a second test of an owner is refused until the first has ended', async () => {
  const { gateway, answer, posts } = await shared();
  const first = gateway.testWebhook('r1', {});
  await settle();
  const second = gateway.testWebhook('r1', {});
  await settle();
  assert.deepEqual(posts(), ['http://hook.test/r1']);
  assert.deepEqual(await second, {
    ok: false,
    refusal: { reason: 'limited', message: 'another test of a webhook of this owner is under way', retryAfter: 1 },
  });
  await answer();
  assert.ok((await first).ok);
  const third = gateway.testWebhook('r1', {});
  await settle();
  await answer();
  assert.ok((await third).ok);
});
