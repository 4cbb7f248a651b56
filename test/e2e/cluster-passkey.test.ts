/** Tests an account with a passkey on several nodes. A one-time code is valid at every node, and linking starts anew after the death of a node. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Account } from '#test/support/account.ts';
import type { GatewayProcess } from '#test/support/gateway.ts';
import { NatsServer, withNats } from '#test/support/nats.ts';
import { Nodes } from '#test/support/nodes.ts';
import { makeCode, OwnerBrowser, reachesStage, scanned } from '#test/support/passkeys.ts';
import { until } from '#test/support/until.ts';

let nats: NatsServer;
let nodes: Nodes;
let second: GatewayProcess;
before(async () => {
  if (withNats.skip !== undefined) return;
  nats = await NatsServer.open();
  nodes = await Nodes.open({ NATS_URL: nats.url });
  second = await nodes.another('second').start();
});
after(async () => {
  await nodes?.close();
  await nats?.stop();
});

const run = (text: string, values: readonly unknown[] = []) => nodes.admin.rows<{ name: string }>({ name: '', text }, values);

/** Returns the node that links the instance, and the other one. */
const placesOf = async (account: Account): Promise<{ readonly owner: GatewayProcess; readonly other: GatewayProcess }> => {
  const text = 'select node.name from lease join node on node.incarnation = lease.incarnation where lease.instance_id = $1';
  const [found] = await run(text, [(await account.seen()).id]);
  const isFirst = found?.name === 'first';
  return { owner: isFirst ? nodes.first : second, other: isFirst ? second : nodes.first };
};

for (const [title, madeAt, usedAt] of [
  ['made at its owner counts at another node', 'owner', 'other'],
  ['made at another node counts at its owner', 'other', 'owner'],
  ['made at another node counts there', 'other', 'other'],
] as const)
  test(`passkey code: one ${title}, and the account is linked`, withNats, async () => {
    const account = await scanned(nodes.scene);
    await reachesStage(account, 'assertion');
    const places = await placesOf(account);
    const code = await makeCode(nodes.at(places[madeAt], account));
    const browser = new OwnerBrowser(places[usedAt].address, code);
    const { status, body } = await browser.signs(nodes.scene, account);
    assert.equal(status, 200, JSON.stringify(body));
    for (const node of [places.owner, places.other])
      assert.equal((await new OwnerBrowser(node.address, code).ask('GET', '/passkey')).status, 401);
    const follower = new OwnerBrowser(places[madeAt].address, String(body['ticket']));
    await until(async () => (await follower.ask('GET', '/passkey')).body['stage'] === 'linked', 'the ticket counts at each node');
    await account.reaches('connected');
  });

test('passkey code: one that has expired is refused at every node', withNats, async () => {
  const account = await scanned(nodes.scene);
  const code = await makeCode(account);
  await run('update passkey_code set until = 0');
  for (const node of [nodes.first, second]) {
    const { status, body } = await new OwnerBrowser(node.address, code).ask('GET', '/passkey');
    assert.deepEqual([status, /was used, has expired, or was never made/.test(String(body['error']))], [401, true]);
  }
  await account.call('DELETE', '/instance/passkey');
});

test('passkey code: if the linking node dies, linking starts anew at another one', withNats, async () => {
  const account = await scanned(nodes.scene);
  const code = await makeCode(account);
  const { owner, other } = await placesOf(account);
  await owner.end('SIGKILL');
  const there = nodes.at(other, account);
  const browser = new OwnerBrowser(other.address, code);
  await until(async () => (await browser.ask('GET', '/passkey')).body['stage'] === 'none', 'the other node knows that linking is over');
  await until(async () => {
    const { status } = await there.connect();
    return status === 200;
  }, 'the other node takes the instance');
  await there.scan(nodes.scene.platform);
  const answered = await new OwnerBrowser(other.address, await makeCode(there)).signs(nodes.scene, account);
  assert.equal(answered.status, 200, JSON.stringify(answered.body));
  await there.reaches('connected');
});
