/** Tests that every node shows the state of a failing receiver of another node. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { NatsServer, withNats } from '#test/support/nats.ts';
import { Nodes } from '#test/support/nodes.ts';
import { until } from '#test/support/until.ts';

let nats: NatsServer;
let nodes: Nodes;
before(async () => {
  if (withNats.skip !== undefined) return;
  nats = await NatsServer.open();
  // Retries of a closed circuit come in less than a second, and there are enough of them for every probe.
  const retries = { WEBHOOK_QUICK_RETRIES_MS: '0,50', WEBHOOK_SLOW_RETRIES_MS: Array(20).fill('100').join(',') };
  nodes = await Nodes.open({ NATS_URL: nats.url, CIRCUIT_FAILURES: '2', ...retries });
});
after(async () => {
  await nodes?.close();
  await nats?.stop();
});

interface Page {
  readonly deliveries: readonly { readonly next_attempt?: string; readonly state: string }[];
}

test('nodes: every node shows the time of the next attempt, also while the circuit is open', withNats, async () => {
  const second = await nodes.another('second').start();
  const account = await nodes.scene.paired();
  const [owner = ''] = await nodes.settled([account]);
  const both = [account, nodes.at(second, account)];
  const { receiver } = nodes.scene;
  receiver.answer(503);
  await account.call('POST', '/webhook', { url: receiver.url, events: ['messages'], enabled: true });
  await nodes.scene.write(account, 'to a receiver that fails');
  const waiting = (): Promise<readonly Page[]> =>
    Promise.all(both.map(async (one) => (await one.call('GET', '/webhook/deliveries')).body as unknown as Page));
  const shown = await until(async () => {
    const next = (await waiting()).map(({ deliveries }) => deliveries[0]?.next_attempt ?? '');
    // The time is beyond any retry, so the circuit is open.
    return next.every((one) => one === next[0] && Date.parse(one) > Date.now() + 1_000) && next;
  }, `both nodes show when ${owner} asks the receiver again`);
  assert.equal(shown.length, 2);
  receiver.answer(200);
});
