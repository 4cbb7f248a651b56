/** Tests that sessions of the simulated platform never reach the real one. A server without a platform stands for the real one and counts its connections. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, test } from 'node:test';
import { Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
let connections = 0;
const real = createServer((socket) => {
  connections += 1;
  socket.destroy();
});
before(async () => {
  scene = await Scene.open();
  await once(real.listen(0, '127.0.0.1'), 'listening');
});
after(async () => {
  real.close();
  await scene.close();
});

test('platform kind: a data folder with simulated sessions refuses the real platform before any connection, and its sessions work on', async () => {
  const account = await scene.paired();
  assert.equal(await scene.gateway.end('SIGTERM'), 0, scene.gateway.printed);
  scene.gateway.launch({ PLATFORM_URL: `wss://127.0.0.1:${(real.address() as AddressInfo).port}/ws` });
  assert.equal(await scene.gateway.endsWithin(120_000), 1, scene.gateway.printed);
  assert.match(
    scene.gateway.printed,
    /^Dormouse could not start: the sessions in the data folder .+ are linked with a simulated platform, /m,
  );
  assert.ok(scene.gateway.printed.includes(scene.gateway.dataDir));
  assert.equal(connections, 0);
  await scene.gateway.start();
  await until(async () => (await account.seen()).status === 'connected', 'the session is connected again');
  await scene.works(account);
});
