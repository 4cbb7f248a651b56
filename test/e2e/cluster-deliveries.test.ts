/** Tests deliveries and history requests of one node, read and changed through another node. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Account } from '#test/support/account.ts';
import type { GatewayProcess } from '#test/support/gateway.ts';
import { NatsServer, withNats } from '#test/support/nats.ts';
import { Nodes } from '#test/support/nodes.ts';
import { contact } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let nats: NatsServer;
let nodes: Nodes;
let second: GatewayProcess;
/** The account through each node. */
let both: readonly Account[];
before(async () => {
  if (withNats.skip !== undefined) return;
  nats = await NatsServer.open();
  nodes = await Nodes.open({ NATS_URL: nats.url, WEBHOOK_SLOW_RETRIES_MS: '100' });
  second = await nodes.another('second').start();
  const account = await nodes.scene.paired();
  both = [account, nodes.at(second, account)];
});
after(async () => {
  await nodes?.close();
  await nats?.stop();
});

const posts = (id: string): number =>
  nodes.scene.receiver.posted.filter(({ body }) => (body['message'] as { messageid?: string } | undefined)?.messageid === id).length;

test('nodes: failed deliveries are shown by every node, whichever made them', withNats, async () => {
  const { receiver } = nodes.scene;
  const saved = await both[0]!.call('POST', '/webhook', { url: receiver.url, events: ['messages'], enabled: true });
  assert.equal(saved.status, 200, JSON.stringify(saved.body));
  receiver.answer(503);
  await nodes.scene.write(both[0]!, 'to a receiver that fails');
  for (const { gateway, token } of both) {
    await until(async () => {
      const { body } = await gateway.call('GET', '/webhook/errors', { token });
      return Array.isArray(body) && body.length > 0;
    }, 'the errors of the instance are shown');
    await until(async () => {
      const { body } = await gateway.call('GET', '/globalwebhook/errors');
      return Array.isArray(body) && body.length > 0;
    }, 'the errors of the global webhook are shown');
  }
  receiver.answer(200);
  await both[0]!.call('POST', '/webhook', { url: receiver.url, events: ['messages'], enabled: false });
});

test('nodes: history requests to a phone are shown by every node', withNats, async () => {
  const id = await nodes.scene.write(both[0]!, 'the message before which the phone shall look');
  await nodes.scene.stored(both[0]!, [id]);
  const asked = await both[0]!.call('POST', '/message/history-sync', { number: contact, count: 5 });
  assert.equal(asked.status, 200, JSON.stringify(asked.body));
  // The phone may answer between two requests.
  const [shown] = await until(async () => {
    const answers = await Promise.all(both.map(async (one) => (await one.call('GET', '/instance/history-sync/status')).body));
    return isDeepStrictEqual(answers[0], answers[1]) && answers;
  }, 'both nodes show the same');
  assert.equal((shown as { readonly requests: readonly unknown[] }).requests.length, 1);
});

test('nodes: replayed deliveries of the global webhook are posted at once, whichever node replays them', withNats, async () => {
  const id = await nodes.scene.write(both[0]!, 'posted twice more');
  await nodes.scene.told([id]);
  let expected = posts(id);
  for (const { gateway } of both) {
    expected += 1;
    // A posted event is not yet stored as delivered. An earlier replay would send older events only.
    await until(async () => {
      await gateway.call('POST', '/globalwebhook/replay', { body: { event: 'messages', state: 'delivered' } });
      return posts(id) >= expected;
    }, `the event is posted ${expected} times`);
    expected = posts(id);
  }
});
