/** Tests several real clients: messages between them, several devices of one account, the queue of an offline client, presence. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { WAMessage } from '@whiskeysockets/baileys';
import { closeCode, connect, createAuth, eventually, opened, openSandbox, pair, qrOf, type Client, type TestSandbox } from './client.ts';

const ana = '5511999990011';
const bia = '5511999990012';
const friend = '5511988880011';
const jid = (number: string): string => `${number}@s.whatsapp.net`;

let sandbox: TestSandbox;
let cleanUp: () => Promise<void>;
let first: Client;
let second: Client;

before(async () => {
  ({ sandbox, cleanUp } = await openSandbox());
  first = await pair(sandbox, { number: ana, name: 'Ana' });
  second = await pair(sandbox, { number: bia, name: 'Bia' });
});
after(() => cleanUp());

const heard = (client: Client, id: string | null | undefined): Promise<WAMessage> =>
  client.wait('messages.upsert', ({ messages }) => messages.find(({ key, message }) => key.id === id && message));

const textOf = ({ message }: WAMessage): string => message?.conversation || message?.extendedTextMessage?.text || '';

test('two clients: texts both ways, delivered and read', async () => {
  const sent = await first.sock.sendMessage(jid(bia), { text: 'hello Bia' });
  const message = await heard(second, sent?.key.id);
  assert.deepEqual([textOf(message), message.key.remoteJid, message.pushName], ['hello Bia', jid(ana), 'Ana']);
  await first.wait('messages.update', (updates) => updates.some(({ key, update }) => key.id === sent?.key.id && update.status === 3));
  await second.sock.readMessages([message.key]);
  await first.wait('messages.update', (updates) => updates.some(({ key, update }) => key.id === sent?.key.id && update.status === 4));
  const answer = await second.sock.sendMessage(jid(ana), { text: 'hello Ana' });
  assert.equal(textOf(await heard(first, answer?.key.id)), 'hello Ana');
});

test('two clients: a text to a LID is answered and read under the LID', async () => {
  const lidOf = (number: string): string => `${sandbox.sandbox.people().find((one) => one.number === number)?.lid}@lid`;
  const sent = await first.sock.sendMessage(lidOf(bia), { text: 'by lid' });
  const message = await heard(second, sent?.key.id);
  assert.deepEqual([message.key.remoteJid, message.key.remoteJidAlt], [lidOf(ana), jid(ana)]);
  await second.sock.readMessages([message.key]);
  await first.wait('messages.update', (updates) =>
    updates.some(({ key, update }) => key.remoteJid === lidOf(bia) && key.id === sent?.key.id && update.status === 4),
  );
  const answer = await second.sock.sendMessage(lidOf(ana), { text: 'lid too' });
  assert.equal(textOf(await heard(first, answer?.key.id)), 'lid too');
});

test('a client that lost its sessions: it requests the messages again from the other client', async () => {
  const asked: string[] = [];
  const getMessage = async (): Promise<{ conversation: string }> => {
    asked.push('asked');
    return { conversation: 'kept' };
  };
  await first.end();
  first = connect(sandbox, first.auth, { getMessage });
  await opened(first);
  for (const key of second.auth.values.keys()) if (key.startsWith('session ')) second.auth.values.delete(key);
  const sent = await first.sock.sendMessage(jid(bia), { text: 'kept' });
  assert.equal(textOf(await heard(second, sent?.key.id)), 'kept');
});

test('two devices of one account: each gets the messages of the other and of the phone', async () => {
  const other = connect(sandbox, createAuth());
  await sandbox.sandbox.scan({ qr: await qrOf(other), number: ana });
  assert.equal(await closeCode(other), 515);
  const twin = connect(sandbox, other.auth);
  await opened(twin);
  const sent = await first.sock.sendMessage(jid(friend), { text: 'from the first' });
  const copy = await heard(twin, sent?.key.id);
  assert.deepEqual([textOf(copy), copy.key.fromMe, copy.key.remoteJid], ['from the first', true, jid(friend)]);
  const { id } = await sandbox.sandbox.send(ana, friend, { kind: 'text', text: 'from the phone' });
  for (const device of [first, twin]) {
    const message = await heard(device, id);
    assert.deepEqual([textOf(message), message.key.fromMe, message.key.remoteJid], ['from the phone', true, jid(friend)]);
  }
  const inbound = await sandbox.sandbox.send(friend, ana, { kind: 'text', text: 'to both' });
  assert.equal(textOf(await heard(first, inbound.id)), 'to both');
  assert.equal(textOf(await heard(twin, inbound.id)), 'to both');
  const fromBia = await second.sock.sendMessage(jid(ana), { text: 'to both as well' });
  assert.equal(textOf(await heard(twin, fromBia?.key.id)), 'to both as well');
  await twin.sock.logout();
  await eventually(() => sandbox.sandbox.people().find(({ number }) => number === ana)?.devices.length === 1, 'the unlinking');
});

test('offline: messages wait in order, over a restart of the platform, and arrive as offline messages', async () => {
  await second.end();
  await eventually(() => sandbox.sandbox.people().find(({ number }) => number === bia)?.devices[0]?.connected === false, 'the end');
  const ids: string[] = [];
  for (const text of ['1', '2', '3']) ids.push((await sandbox.sandbox.send(friend, bia, { kind: 'text', text })).id);
  const sent = await first.sock.sendMessage(jid(bia), { text: '4' });
  ids.push(sent?.key.id ?? '');
  await eventually(() => (sandbox.sandbox.people().find(({ number }) => number === bia)?.devices[0]?.queued ?? 0) >= 4, 'the queue');
  await first.end();
  await sandbox.restart();
  second = connect(sandbox, second.auth);
  await opened(second);
  for (const id of ids) await heard(second, id);
  const order = second.seen('messages.upsert').flatMap(({ messages }) => messages.map(({ key }) => key.id));
  assert.deepEqual(
    order.filter((id) => ids.includes(id ?? '')),
    ids,
  );
  assert.equal(second.seen('messages.upsert')[0]?.type, 'append');
  await eventually(() => sandbox.sandbox.people().find(({ number }) => number === bia)?.devices[0]?.queued === 0, 'the confirmations');
  first = connect(sandbox, first.auth);
  await opened(first);
});

test('presence: typing both ways, online state for subscribers', async () => {
  const states: string[] = [];
  const stop = sandbox.sandbox.subscribe((event) => {
    if (event.type === 'presence' && event.of === ana) states.push(`${event.state} ${event.chat}`);
  });
  await first.sock.sendPresenceUpdate('composing', jid(friend));
  await first.sock.sendPresenceUpdate('recording', jid(bia));
  await eventually(() => states.includes(`composing ${jid(friend)}`) && states.includes(`recording ${jid(bia)}`), 'the states');
  await second.wait('presence.update', ({ id, presences }) => id === jid(ana) && presences[id]?.lastKnownPresence === 'recording');
  await sandbox.sandbox.presence(friend, { state: 'composing', to: ana });
  await first.wait('presence.update', ({ id, presences }) => id === jid(friend) && presences[id]?.lastKnownPresence === 'composing');
  await first.sock.presenceSubscribe(jid(friend));
  await first.sock.onWhatsApp(friend);
  await sandbox.sandbox.presence(friend, { state: 'available' });
  await first.wait('presence.update', ({ id, presences }) => id === jid(friend) && presences[id]?.lastKnownPresence === 'available');
  stop();
});

test('questions about numbers: the answer tells which numbers have an account', async () => {
  const answers = await first.sock.onWhatsApp(friend, '99912345678');
  // Baileys drops numbers without an account from its result.
  assert.deepEqual(answers, [{ jid: jid(friend), exists: true }]);
});

test('settings of the account: privacy, block list, about', async () => {
  await first.sock.updateReadReceiptsPrivacy('none');
  assert.equal((await first.sock.fetchPrivacySettings(true))['readreceipts'], 'none');
  await first.sock.updateBlockStatus(jid(friend), 'block');
  assert.equal((await first.sock.fetchBlocklist()).length, 1);
  await first.sock.updateBlockStatus(jid(friend), 'unblock');
  assert.equal((await first.sock.fetchBlocklist()).length, 0);
  await first.sock.updateProfileStatus('busy');
  assert.match(JSON.stringify(await first.sock.fetchStatus(jid(ana))), /busy/);
});

test('status posts: phones and clients of the chosen receivers read them', async () => {
  const lids = await Promise.all([bia, friend].map((one) => first.sock.signalRepository.lidMapping.getLIDForPN(jid(one))));
  const options = { statusJidList: lids.filter((lid) => lid !== null) };
  const sent = await first.sock.sendMessage('status@broadcast', { text: 'news' }, options);
  const got = await eventually(() => sandbox.sandbox.received(friend).find(({ id }) => id === sent?.key.id), 'the post');
  assert.deepEqual([got.text, got.chat], ['news', 'status@broadcast']);
  const message = await heard(second, sent?.key.id);
  assert.deepEqual([textOf(message), message.key.remoteJid], ['news', 'status@broadcast']);
  assert.equal(message.key.participant, await second.sock.signalRepository.lidMapping.getLIDForPN(jid(ana)));
});

test('a text that is sent again under its id: received once, confirmed again', async () => {
  const id = await first.sock.relayMessage(jid(friend), { conversation: 'again' }, {});
  const delivered = (): number =>
    first
      .seen('messages.update')
      .flat()
      .filter(({ key, update }) => key.id === id && update.status === 3).length;
  await eventually(() => delivered() === 1, 'the first receipt');
  await first.sock.relayMessage(jid(friend), { conversation: 'again' }, { messageId: id });
  await eventually(() => delivered() === 2, 'the second receipt');
  assert.equal(sandbox.sandbox.received(friend).filter((one) => one.id === id).length, 1);
});

test('pictures: of the account and of a group, seen by others', async () => {
  // Any bytes pass as a picture. Baileys would need a picture library to make a real one.
  const set = async (target?: string): Promise<void> => {
    const attrs = { to: 's.whatsapp.net', type: 'set', xmlns: 'w:profile:picture', ...(target === undefined ? {} : { target }) };
    await first.sock.query({ tag: 'iq', attrs, content: [{ tag: 'picture', attrs: { type: 'image' }, content: Buffer.from('picture') }] });
  };
  await assert.rejects(second.sock.profilePictureUrl(jid(ana)), /item-not-found/);
  await set();
  assert.match((await second.sock.profilePictureUrl(jid(ana))) ?? '', /^https:\/\/127\.0\.0\.1:/);
  const group = await first.sock.groupCreate('Pictures', [jid(bia)]);
  await set(group.id);
  await second.wait('contacts.update', (updates) => updates.some(({ id, imgUrl }) => id === group.id && imgUrl === 'changed'));
  await first.sock.removeProfilePicture(jid(ana));
  await assert.rejects(second.sock.profilePictureUrl(jid(ana)), /item-not-found/);
});

test('chat settings: the platform stores them as patches and sends them to other devices', async () => {
  await first.sock.chatModify({ archive: true, lastMessages: [] }, jid(friend));
  await first.sock.chatModify({ mute: 8 * 3600 * 1000 }, jid(friend));
  const fresh = await pair(sandbox, { number: ana });
  const synced = (name: string): unknown =>
    (fresh.auth.values.get(`app-state-sync-version ${name}`) as { version?: number } | undefined)?.version;
  await eventually(() => synced('regular_low') === 1 && synced('regular_high') === 1, 'both patches');
  await fresh.end();
});

test('counters: contacts could decrypt everything, there was no unknown request', () => {
  const { messages, unknown } = sandbox.sandbox.stats();
  assert.equal(messages.undecryptable, 0);
  assert.deepEqual(unknown, {});
});
