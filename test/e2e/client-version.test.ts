/** Tests the client version of connections, with a simulated platform that publishes one version and refuses others. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { adminToken } from '#test/support/gateway.ts';
import { Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

const newest = '2.3000.1050000001';
let scene: Scene;
before(async () => {
  scene = await Scene.open({ CANARY_MIN_MS: '200', CANARY_MAX_MS: '1000', PLATFORM_VERSION_EVERY_MS: '10000' });
});
after(() => scene.close());

interface Shown {
  readonly version: string;
  readonly source: string;
  readonly error: string;
}

const shown = async (): Promise<Shown> => {
  const { body } = await scene.gateway.call('GET', '/admin/numbers');
  return body['clientVersion'] as Shown;
};

test('client version: if the page names none, the built-in version connects, and the metrics show the reason', async () => {
  await until(async () => (await shown()).error !== '', 'the page was asked');
  const { source, error } = await shown();
  assert.equal(source, 'builtIn');
  assert.match(error, /sw\.js answered 404/);
  await scene.works(await scene.paired());
});

test('client version: after a refusal the sessions come back with the version of the page', async () => {
  const [first] = await Promise.all([scene.paired(), scene.paired()]);
  scene.platform.sandbox.requireVersion({ current: newest, connect: newest });
  await scene.gateway.end();
  await scene.gateway.start();
  await first.reaches('connected');
  await scene.works(first);
  assert.deepEqual(await shown(), {
    version: newest,
    source: 'lookedUp',
    error: '',
    checkedAt: ((await shown()) as { checkedAt?: number }).checkedAt,
  });
});

test('client version: a session that is refused while the gateway runs comes back with the version of the page', async () => {
  const account = await scene.paired();
  const newer = '2.3000.1050000002';
  scene.platform.sandbox.requireVersion({ current: newer, connect: newer });
  await scene.platform.sandbox.fault({ kind: 'close', number: account.number });
  await until(async () => (await shown()).version === newer, 'the newer version is found', 120_000);
  await account.reaches('connected');
  await scene.works(account);
});

test('client version: a new version that is refused is replaced by the last one that worked', async () => {
  const account = await scene.paired();
  const broken = '2.3000.1050000003';
  scene.platform.sandbox.requireVersion({ current: broken, broken });
  await until(async () => (await shown()).version === broken, 'the new one is found', 120_000);
  await scene.platform.sandbox.fault({ kind: 'close', number: account.number });
  await until(async () => (await shown()).source === 'rolledBack', 'it is rolled back');
  await account.reaches('connected');
  await scene.works(account);
  const metrics = await fetch(`${scene.gateway.address}/metrics`, { headers: { admintoken: adminToken } });
  assert.match(await metrics.text(), /dormouse_client_version\{version="2\.3000\.1050000002",source="rolledBack"\} 1/);
});
