/** Tests a pairing while a node joins to which the instance will belong. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Account } from '#test/support/account.ts';
import { NatsServer, withNats } from '#test/support/nats.ts';
import { Nodes } from '#test/support/nodes.ts';
import { until } from '#test/support/until.ts';

let nats: NatsServer;
let nodes: Nodes;
before(async () => {
  if (withNats.skip !== undefined) return;
  nats = await NatsServer.open();
  nodes = await Nodes.open({ NATS_URL: nats.url });
});
after(async () => {
  await nodes?.close();
  await nats?.stop();
});

const several = <T>(count: number, make: () => Promise<T>): Promise<readonly T[]> => Promise.all(Array.from({ length: count }, make));

/** Creates an instance that shows its QR code. */
const shown = async (): Promise<Account> => {
  const account = await nodes.scene.create();
  await account.connect();
  await until(async () => (await account.seen()).qrcode, 'a picture');
  return account;
};

test('nodes: a pairing stays with its node when another one joins, and the session moves afterwards', withNats, async () => {
  const connected = await several(6, () => nodes.scene.paired());
  const pairing = await several(6, shown);
  await nodes.another('second').start();
  await nodes.settled(connected);
  for (const account of pairing) {
    const { status, qrcode } = await account.seen();
    assert.deepEqual([status, qrcode !== ''], ['connecting', true]);
    await nodes.scene.platform.scan({ qrcode, number: account.number });
  }
  await nodes.settled(pairing);
  assert.equal(nodes.doubleLogins, 0);
});
