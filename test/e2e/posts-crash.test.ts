/** Kills the gateway while posts of channels are in flight. Each post is stored once in its last form, and delivered once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { postBench } from '#test/support/post-bench.ts';
import { contact } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

const bench = postBench();

const restart = async (): Promise<void> => {
  await bench.scene.gateway.end();
  await bench.scene.gateway.start();
};

/** Returns the number of distinct events of a post. */
const eventsOf = (id: string): number =>
  new Set(
    bench.scene.receiver.posted
      .filter(({ type, body }) => type === 'newsletter_messages' && (body['message'] as { messageid?: string }).messageid === id)
      .map((posted) => posted.id),
  ).size;

test('posts: posts that arrive during a kill, and their later changes, are stored and reported once', async () => {
  const { sandbox } = bench.scene.platform;
  const posts: { readonly id: string; readonly serverId: number }[] = [];
  for (let kill = 0; kill < 2; kill += 1) {
    const writing = (async () => {
      for (let at = 0; at < 12; at += 1) {
        const post = await sandbox.post(bench.followed, { content: { kind: 'text', text: `draft ${posts.length}` } });
        posts.push(post);
        await sandbox.changePost(bench.followed, post.serverId, { action: 'edit', text: `final ${post.serverId}` });
        await wait(5);
      }
    })();
    await wait(20 + kill * 15);
    await restart();
    await writing;
  }
  for (const { id, serverId } of posts) await bench.storedAs(id, { text: `final ${serverId}`, serverid: serverId, edited: id });
  await until(
    () => posts.every(({ id }) => eventsOf(id) >= 2),
    () => `every post and its edit are told: ${posts.map(({ id }) => eventsOf(id)).join(' ')}`,
  );
  assert.deepEqual(
    posts.map(({ id }) => eventsOf(id)),
    posts.map(() => 2),
  );
  const { messages } = await bench.call('/message/find', { chatid: bench.followed, limit: 1000 });
  assert.equal((messages as readonly unknown[]).length, posts.length);
});

test('posts: a queued post whose acknowledgement is lost in a kill is posted once, and gets its number', async () => {
  const { sandbox } = bench.scene.platform;
  await bench.account.reaches('connected');
  await sandbox.fault({ kind: 'noAck', number: bench.account.number, times: 1 });
  const { messageid: id } = await bench.call('/send/text', { number: bench.led, text: 'once', async: true });
  const { serverId } = await until(
    async () => (await sandbox.posts(bench.led)).find((post) => post.id === id),
    'the platform has the post',
  );
  await restart();
  await bench.storedAs(id, { status: 'Sent', serverid: serverId });
  assert.equal((await sandbox.posts(bench.led)).filter((post) => post.id === id).length, 1);
});

test('posts: counts that change while the gateway is down are requested after its start', async () => {
  const { sandbox } = bench.scene.platform;
  await bench.account.reaches('connected');
  const { id, serverId } = await bench.arrive({ kind: 'text', text: 'count me' });
  await bench.call('/newsletter/subscribe', { jid: bench.followed });
  await bench.scene.gateway.end();
  await sandbox.changePost(bench.followed, serverId, { action: 'view', by: contact });
  await bench.scene.gateway.start();
  await bench.storedAs(id, { viewsCount: 1 });
});
