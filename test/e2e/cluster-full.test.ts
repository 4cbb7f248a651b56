/** Tests draining nodes when the others have room for only some of the sessions. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { NatsServer, withNats } from '#test/support/nats.ts';
import { Nodes } from '#test/support/nodes.ts';
import { contact } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

/** The time-out of waits, in milliseconds. The machine may be busy with other tests. */
const patience = 120_000;

let nats: NatsServer;
let nodes: Nodes;
before(async () => {
  if (withNats.skip !== undefined) return;
  nats = await NatsServer.open({ jetStream: false });
  nodes = await Nodes.open({ NATS_URL: nats.url });
});
after(async () => {
  await nodes?.close();
  await nats?.stop();
});

test('full: sessions without room elsewhere stay connected on the draining node until another node joins', withNats, async () => {
  const accounts = [await nodes.scene.paired(), await nodes.scene.paired(), await nodes.scene.paired()];
  const late = await nodes.scene.create();
  const small = await nodes.another('small', { MAX_CONNECTED_INSTANCES: '1' }).start();
  assert.equal((await small.call('POST', '/admin/nodes/first/drain')).status, 202);
  const owned = async (): Promise<string> => (await nodes.owners(accounts)).toSorted().join(' ');
  await until(async () => (await owned()) === 'first first small', 'one has moved', patience);
  // The wait covers several looks and several renewals.
  await wait(8_000);
  assert.equal(await owned(), 'first first small');
  for (const account of accounts) await account.reaches('connected', patience);
  for (const account of accounts) await nodes.scene.works(nodes.at(small, account));
  const logins = accounts.reduce((sum, account) => sum + nodes.scene.logins(account), 0);
  assert.equal(logins, 4, 'none was closed in vain');

  const refused = await late.connect();
  assert.equal(refused.status, 503, JSON.stringify(refused.body));
  assert.deepEqual(refused.body, { error: 'no node has room for the instance' });
  assert.equal(refused.headers.get('retry-after'), '2');

  const large = await nodes.another('large').start();
  await until(async () => (await owned()) === 'large large small', 'the others have moved too', patience);
  for (const account of accounts) await nodes.at(large, account).reaches('connected', patience);
  assert.equal((await nodes.at(large, accounts[0]!).send(contact, 'from the next node')).status, 200);
  assert.equal(nodes.doubleLogins, 0);
});
