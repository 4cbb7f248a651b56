/** Tests linking and unlinking of real clients: QR code, pairing code, valid and invalid logins, the history of a phone. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { initAuthCreds, WA_CERT_DETAILS } from '@whiskeysockets/baileys';
import { closeCode, connect, createAuth, eventually, opened, openSandbox, pair, qrOf, type TestSandbox } from './client.ts';

let sandbox: TestSandbox;
let cleanUp: () => Promise<void>;

before(async () => {
  ({ sandbox, cleanUp } = await openSandbox());
});
after(() => cleanUp());

const devicesOf = (number: string): number => sandbox.sandbox.people().find((one) => one.number === number)?.devices.length ?? 0;

test('QR code: a new phone gets a number, the client its name, number and LID', async () => {
  const client = connect(sandbox);
  const person = await sandbox.sandbox.scan({ qr: await qrOf(client), name: 'Ana' });
  assert.equal(await closeCode(client), 515);
  assert.equal(client.auth.creds.me?.id, `${person.number}:1@s.whatsapp.net`);
  assert.equal(client.auth.creds.me?.lid, `${person.lid}:1@lid`);
  assert.equal(client.auth.creds.me?.name, 'Ana');
  assert.match(person.lid, /^\d{15}$/);
  assert.notEqual(person.lid, person.number);
  const second = connect(sandbox, client.auth);
  await opened(second);
  await second.wait('messaging-history.set', () => true);
  await second.end();
});

test('QR code: an invalid text, a code of a stranger and a foreign key are refused', async () => {
  await assert.rejects(sandbox.sandbox.scan({ qr: 'hello' }), /no client waits/);
  const client = connect(sandbox);
  const qr = await qrOf(client);
  const [ref = '', ...rest] = qr.split(',');
  const stranger = Buffer.from(initAuthCreds().signedIdentityKey.public).toString('base64');
  await assert.rejects(sandbox.sandbox.scan({ qr: [ref, rest[0], stranger, ...rest.slice(2)].join(',') }), /other keys/);
  await assert.rejects(sandbox.sandbox.scan({ qr, number: '12' }), /number/);
  await client.end();
  await eventually(() => sandbox.sandbox.stats().connections.open === 0, 'the end');
  await assert.rejects(sandbox.sandbox.scan({ qr }), /no client waits/);
});

test('QR code: the next code of the same client works as well, and a second scan is refused', async () => {
  // The client has six codes and then ends, so that the scans have four times as long.
  const client = connect(sandbox, createAuth(), { qrTimeout: 2_000 });
  const first = await qrOf(client);
  const qr = await client.wait('connection.update', (update) => update.qr !== first && update.qr);
  const scans = await Promise.allSettled([
    sandbox.sandbox.scan({ qr, number: '5511999990021' }),
    sandbox.sandbox.scan({ qr, number: '5511999990021' }),
  ]);
  assert.deepEqual(scans.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
  assert.equal(devicesOf('5511999990021'), 1);
});

test('pairing code: random and custom, the wrong one is refused', async () => {
  for (const custom of [undefined, 'ABCD2345']) {
    const client = connect(sandbox);
    await qrOf(client);
    const code = await client.sock.requestPairingCode('5511999990022', custom);
    await assert.rejects(sandbox.sandbox.enterCode({ number: '5511999990099', code }), /no client waits/);
    const person = await sandbox.sandbox.enterCode({ number: '5511999990022', code: `${code.slice(0, 4)}-${code.slice(4)}`, name: 'Cid' });
    assert.equal(await closeCode(client), 515);
    assert.equal(person.name, 'Cid');
    const second = connect(sandbox, client.auth);
    await opened(second);
    await second.end();
  }
  const client = connect(sandbox);
  await qrOf(client);
  await client.sock.requestPairingCode('5511999990023');
  await assert.rejects(sandbox.sandbox.enterCode({ number: '5511999990023', code: 'WRONG234' }), /wrong code/);
  await client.end();
});

test('login: an unknown device and a foreign noise key get 401', async () => {
  const known = await pair(sandbox, { number: '5511999990024' });
  await known.end();
  const foreign = createAuth();
  foreign.creds.me = { ...known.auth.creds.me, id: known.auth.creds.me?.id ?? '' };
  assert.equal(await closeCode(connect(sandbox, foreign)), 401);
  const unknown = createAuth();
  unknown.creds.me = { id: '5511999990098:1@s.whatsapp.net' };
  assert.equal(await closeCode(connect(sandbox, unknown)), 401);
  assert.ok(sandbox.sandbox.stats().logins.failed >= 2);
});

test('login: the latest one wins, the older connection is told that it was replaced', async () => {
  const older = await pair(sandbox, { number: '5511999990025' });
  const newer = connect(sandbox, older.auth);
  assert.equal(await closeCode(older), 440);
  await opened(newer);
  assert.equal(sandbox.sandbox.stats().logins.double, 1);
  assert.equal(sandbox.sandbox.people().find(({ number }) => number === '5511999990025')?.devices[0]?.connected, true);
  await newer.end();
});

test('logout: from the phone online and offline, and from the client', async () => {
  const online = await pair(sandbox, { number: '5511999990026' });
  await sandbox.sandbox.logout('5511999990026');
  assert.equal(await closeCode(online), 401);
  assert.equal(devicesOf('5511999990026'), 0);
  const offline = await pair(sandbox, { number: '5511999990026' });
  assert.match(offline.auth.creds.me?.id ?? '', /:2@/);
  await offline.end();
  await sandbox.sandbox.logout('5511999990026');
  assert.equal(await closeCode(connect(sandbox, offline.auth)), 401);
  const client = await pair(sandbox, { number: '5511999990027' });
  await client.sock.logout();
  await eventually(() => devicesOf('5511999990027') === 0, 'the unlinking');
});

test('certificate: it is signed by the sandbox root only', async () => {
  const client = connect(sandbox);
  // The key is changed after the start of the client, before the client checks the certificate.
  WA_CERT_DETAILS.PUBLIC_KEY = Buffer.alloc(32, 7);
  assert.equal(await closeCode(client), 400);
});

test('history: an invented one on request, with names; the phone’s own messages after the next pairing', async () => {
  const client = await pair(sandbox, { number: '5511999990028', history: { chats: 2, messages: 3 } });
  const past = await client.wait('messaging-history.set', ({ messages, chats }) => messages.length > 0 && { messages, chats });
  assert.deepEqual([past.messages.length, past.chats.length], [6, 2]);
  await client.wait('messaging-history.set', ({ contacts }) => contacts.some(({ notify }) => notify !== undefined));
  await client.sock.sendMessage('5511988880028@s.whatsapp.net', { text: 'mine' });
  await eventually(() => sandbox.sandbox.received('5511988880028')[0], 'the text');
  await sandbox.sandbox.send('5511988880028', '5511999990028', { kind: 'text', text: 'theirs' });
  const again = await pair(sandbox, { number: '5511999990028' });
  const own = await again.wait('messaging-history.set', ({ messages }) => messages.length > 0 && messages);
  assert.deepEqual(own.map(({ key }) => key.fromMe).toSorted(), [false, true]);
});

test('counters: signatures were verified, there was no unknown request', () => {
  const { unknown, signatures, pairings } = sandbox.sandbox.stats();
  assert.deepEqual(unknown, {});
  assert.equal(signatures.rejected, 0);
  assert.ok(signatures.verified >= 2 * pairings);
});
