/**
 * Tests settings that phones share with their devices, calls, channels, and a history of several chunks. The real client checks every authentication code.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Client, closeCode, connect, createAuth, openSandbox, opened, pair, qrOf } from './client.ts';

const { sandbox, cleanUp } = await openSandbox();
after(cleanUp);

const number = '5511977770001';
const friend = '5511977770002';
const friendJid = `${friend}@s.whatsapp.net`;
const strict = { appStateMacVerification: { patch: true, snapshot: true } };

test('settings: earlier changes are sent at the first login, later ones at once', async () => {
  const world = sandbox.sandbox;
  await world.change(number, { kind: 'label', labelId: '1', name: 'VIP', color: 4 });
  await world.change(number, { kind: 'chatLabel', labelId: '1', chat: friend, on: true });
  const client = await pair(sandbox, { number }, strict);
  assert.deepEqual(await client.wait('labels.edit', (label) => label), {
    id: '1',
    name: 'VIP',
    color: 4,
    deleted: false,
    predefinedId: undefined,
  });
  const { association, type } = await client.wait('labels.association', (event) => event);
  const friendLid = `${world.people().find((person) => person.number === friend)?.lid}@lid`;
  assert.deepEqual([association.chatId, association.labelId, type], [friendLid, '1', 'add']);
  await world.change(number, { kind: 'pin', chat: friend, on: true });
  await client.wait('chats.update', (chats) => chats.some(({ id, pinned }) => id === friendLid && Number(pinned) > 0));
  await world.change(number, { kind: 'contact', number: friend, name: 'Best Friend' });
  await client.wait('contacts.upsert', (contacts) => contacts.some(({ id, name }) => id === friendJid && name === 'Best Friend'));
  await client.end();
});

test('settings: phone and device change the same settings in turn, and a later device sees the result', async () => {
  const owner = '5511977770003';
  const world = sandbox.sandbox;
  const label = (labelId: string, name: string) => world.change(owner, { kind: 'label', labelId, name, color: 1 });
  const named = (client: Client, name: string) => client.wait('labels.edit', (edit) => edit.name === name);
  await label('1', 'of the phone');
  const first = await pair(sandbox, { number: owner }, strict);
  await named(first, 'of the phone');
  await first.sock.addLabel('', { id: '2', name: 'of the device', color: 2 });
  await label('1', 'of the phone again');
  await named(first, 'of the phone again');
  await first.sock.addLabel('', { id: '2', name: 'of the device again', color: 2 });

  const auth = createAuth();
  const pairing = connect(sandbox, auth, strict);
  await world.scan({ qr: await qrOf(pairing), number: owner });
  assert.equal(await closeCode(pairing), 515);
  await pairing.end();
  const second = connect(sandbox, auth, strict);
  await opened(second);
  await named(second, 'of the phone again');
  await named(second, 'of the device again');
  assert.equal(second.seen('labels.edit').length, 2);
  await second.end();
  await first.end();
});

test('settings: chats that are neither numbers nor groups are refused', async () => {
  await assert.rejects(sandbox.sandbox.change(number, { kind: 'pin', chat: 'somebody', on: true }), /chat: a number or a group/);
});

test('calls: offers and ends reach the client, also after it was offline, and the phone logs them', async () => {
  const owner = '5511977770004';
  const client = await pair(sandbox, { number: owner });
  const { id } = await sandbox.sandbox.call(friend, owner, { step: 'offer', video: true });
  const call = await client.wait('call', ([one]) => one);
  assert.deepEqual([call.id, call.status, call.isVideo, call.callerPn, call.offline], [id, 'offer', true, friendJid, false]);
  await client.end();
  await sandbox.sandbox.call(friend, owner, { step: 'timeout', id });
  const again = connect(sandbox, client.auth);
  const end = await again.wait('call', ([one]) => one);
  assert.deepEqual([end.id, end.status, end.offline], [id, 'timeout', true]);
  await again.end();

  const other = await pair(sandbox, { number: owner });
  const past = await other.wait('messaging-history.set', ({ messages }) => messages.find(({ message }) => message?.callLogMesssage));
  assert.equal(past.key.remoteJid, friendJid);
  await other.end();
});

test('messages: bytes that are no message of the protocol are refused', async () => {
  const owner = '5511977770005';
  const client = await pair(sandbox, { number: owner });
  await assert.rejects(
    sandbox.sandbox.send(friend, owner, { kind: 'message', message: { imageMessage: 7 } }),
    /not a message of the protocol/,
  );
  await client.end();
});

test('history: a long one comes in chunks, with calls and status posts', async () => {
  const history = { chats: 7, messages: 200, calls: 2, statuses: 1 };
  const client = await pair(sandbox, { number: '5511977770006', history });
  const sets = () => client.seen('messaging-history.set');
  const all = () => sets().flatMap(({ messages }) => messages);
  await client.wait('messaging-history.set', () => all().length >= 1_403);
  assert.equal(new Set(all().map(({ key }) => key.id)).size, 1_403);
  const chunks = sets().filter(({ messages }) => messages.length > 0);
  assert.ok(chunks.length >= 2, `${chunks.length} chunks`);
  assert.equal(all().filter(({ key }) => key.remoteJid === 'status@broadcast').length, 1);
  await client.end();
});
