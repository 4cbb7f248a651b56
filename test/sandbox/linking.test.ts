/** Tests the platform's refusals while a client is linked: names of devices, retired kinds of clients, old versions, void codes and secrets. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { BinaryNode } from '@whiskeysockets/baileys';
import { closeCode, connect, createAuth, openSandbox, pair, qrOf, type Client, type TestSandbox } from './client.ts';

let sandbox: TestSandbox;
let cleanUp: () => Promise<void>;
before(async () => {
  ({ sandbox, cleanUp } = await openSandbox());
});
after(() => cleanUp());

const versionOf = (text: string): [number, number, number] => text.split('.').map(Number) as [number, number, number];

/** Returns the answer to the request of the library for a pairing code. */
async function answerTo(client: Client, number: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  client.sock.ws.on('CB:iq,type:error', ({ content }: BinaryNode) =>
    resolve(Array.isArray(content) ? (content[0]?.attrs['code'] ?? '') : ''),
  );
  client.sock.ws.on('CB:iq,type:result,link_code_companion_reg', () => resolve('result'));
  await qrOf(client);
  await client.sock.requestPairingCode(number);
  return promise;
}

for (const [browser, answer] of [
  [['Windows', 'Chrome', '1.0'], 'result'],
  [['Mac OS', 'Safari', '1.0'], 'result'],
  [['Linux', 'Firefox', '1.0'], 'result'],
  [['Acme', 'Chrome', '1.0'], '400'],
  [['Windows', 'Acme', '1.0'], '400'],
  [['Linux', 'Desktop', '1.0'], '400'],
] as const) {
  test(`pairing code: the platform answers ${answer} for the device name ${browser[1]} (${browser[0]})`, async () => {
    const client = connect(sandbox, createAuth(), { browser: [...browser] });
    assert.equal(await answerTo(client, '5511999990301'), answer);
    await client.end();
  });
}

for (const system of ['Windows', 'Mac OS']) {
  test(`registration: a desktop program on ${system} is closed with 428 before any QR code`, async () => {
    const client = connect(sandbox, createAuth(), { browser: [system, 'Desktop', '1.0'], syncFullHistory: true });
    assert.equal(await closeCode(client), 428);
    assert.deepEqual(
      client.seen('connection.update').filter(({ qr }) => qr !== undefined),
      [],
    );
  });
}

test('versions: one that is too old for a connection gets 405, at the registration and at the login', async () => {
  const paired = await pair(sandbox, { number: '5511999990302' });
  await paired.end();
  sandbox.sandbox.requireVersion({ connect: '2.3000.1050000000' });
  const version = versionOf('2.3000.1049999999');
  assert.equal(await closeCode(connect(sandbox, createAuth(), { version })), 405);
  assert.equal(await closeCode(connect(sandbox, paired.auth, { version })), 405);
  const newer = connect(sandbox, createAuth(), { version: versionOf('2.3000.1050000000') });
  await qrOf(newer);
  await newer.end();
  sandbox.sandbox.requireVersion({});
});

test('versions: one that is too old to be linked gets a QR code and no pair-success', async () => {
  sandbox.sandbox.requireVersion({ link: '2.3000.1050000000' });
  const client = connect(sandbox, createAuth(), { version: versionOf('2.3000.1040000000') });
  await assert.rejects(sandbox.sandbox.scan({ qr: await qrOf(client), number: '5511999990303' }), /too old/);
  assert.equal(client.auth.creds.account, undefined);
  sandbox.sandbox.requireVersion({});
  await client.end();
});

for (const [kind, child] of [
  ['registrationRefresh', 'companion_reg_refresh'],
  ['rotateQr', 'pair-device-rotate-qr'],
] as const) {
  test(`QR code: after a scan the platform may ask for another one with ${child}, and the first one is void`, async () => {
    const client = connect(sandbox);
    const told = Promise.withResolvers<BinaryNode>();
    client.sock.ws.on('CB:notification,type:companion_reg_refresh', (node: BinaryNode) => told.resolve(node));
    const qr = await qrOf(client);
    const number = '5511999990304';
    await sandbox.sandbox.fault({ kind, number });
    await assert.rejects(sandbox.sandbox.scan({ qr, number }), /another QR code/);
    const { content } = await told.promise;
    assert.deepEqual(Array.isArray(content) && content.map(({ tag }) => tag), [child]);
    await assert.rejects(sandbox.sandbox.scan({ qr, number }), /void/);
    await client.end();
  });
}

test('pairing code: one that is older than 180 seconds is refused', async (context) => {
  const client = connect(sandbox);
  await qrOf(client);
  const number = '5511999990305';
  const code = await client.sock.requestPairingCode(number);
  await assert.rejects(sandbox.sandbox.enterCode({ number, code: 'WRONG234' }), /wrong code/);
  const now = Date.now();
  context.mock.method(Date, 'now', () => now + 180_001);
  await assert.rejects(sandbox.sandbox.enterCode({ number, code }), /too old/);
  context.mock.restoreAll();
  await client.end();
});
