/** Kills the gateway during uploads and downloads. Accepted messages are sent once, and no temporary file is left. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
before(async () => {
  scene = await Scene.open();
});
after(() => scene.close());

const leftIn = async (folder: string): Promise<readonly string[]> => readdir(join(scene.gateway.dataDir, folder));

const killAndStart = async (): Promise<void> => {
  await scene.gateway.end('SIGKILL');
  await scene.gateway.start();
};

test('kill: a queued message is sent once if the kill interrupts the upload of its file', async () => {
  const { sandbox } = scene.platform;
  const account = await scene.paired();
  const earlier = sandbox.stats().media;
  const documents = () => sandbox.received(contact).filter(({ kind }) => kind === 'documentMessage');
  const before = documents().length;
  await sandbox.fault({ kind: 'uploadSlow', ms: 60_000 });
  const file = randomBytes(8_000_000).toString('base64');
  const queued = await account.call('POST', '/send/media', { number: contact, type: 'document', file, docName: 'big.bin', async: true });
  assert.equal(queued.status, 200, JSON.stringify(queued.body));
  await until(() => sandbox.stats().media.begun > earlier.begun, 'the upload has begun');
  await killAndStart();
  await account.reaches('connected');
  const id = queued.body['messageid'];
  await until(() => sandbox.received(contact).some((message) => message.id === id), 'the phone has it');
  await scene.works(account);
  assert.deepEqual(
    documents()
      .slice(before)
      .map((message) => [message.id, message.media?.bytes]),
    [[id, 8_000_000]],
  );
  assert.equal(sandbox.stats().media.uploads - earlier.uploads, 1);
  await until(async () => (await leftIn('temporary')).length === 0, 'no file is left');
});

test('kill: an interrupted download leaves no file', async () => {
  const account = await scene.paired();
  const server = createServer((_request, response) => void response.writeHead(200).write('%PDF-1.4'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const file = `http://127.0.0.1:${(server.address() as AddressInfo).port}/slow.pdf`;
  const asked = account.call('POST', '/send/media', { number: contact, type: 'document', file }).catch(() => 'cut off');
  await until(async () => (await leftIn('temporary')).length > 0, 'the file is on its way');
  await killAndStart();
  assert.equal(await asked, 'cut off');
  await until(async () => (await leftIn('temporary')).length === 0, 'no file is left');
  server.closeAllConnections();
  server.close();
});
