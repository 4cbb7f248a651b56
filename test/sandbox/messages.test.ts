/** Tests every kind of message in both directions between a real client and a simulated person, with receipts and retries. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { proto, type AnyMessageContent, type WAMessage } from '@whiskeysockets/baileys';
import type { Content, ReceivedMessage } from '#src/sandbox/interface.ts';
import { eventually, openSandbox, pair, type Client, type TestSandbox } from './client.ts';

const me = '5511999990001';
const friend = '5511988880001';
const friendJid = `${friend}@s.whatsapp.net`;

let sandbox: TestSandbox;
let cleanUp: () => Promise<void>;
let client: Client;

before(async () => {
  ({ sandbox, cleanUp } = await openSandbox());
  await sandbox.sandbox.putPerson({ number: friend, name: 'Bruno' });
  client = await pair(sandbox, { number: me, name: 'Ana' });
});
after(() => cleanUp());

const received = (id: string): Promise<ReceivedMessage> =>
  eventually(() => sandbox.sandbox.received(friend).find((one) => one.id === id), `message ${id}`);

async function say(content: AnyMessageContent): Promise<ReceivedMessage> {
  const sent = await client.sock.sendMessage(friendJid, content);
  return received(sent?.key.id ?? '');
}

async function hear(content: Content, options?: { readonly addressing: 'pn' | 'lid' }): Promise<WAMessage> {
  const { id } = await sandbox.sandbox.send(friend, me, content, options);
  return client.wait('messages.upsert', ({ messages }) => messages.find(({ key }) => key.id === id));
}

test('text to a contact: carries the push name of its author, and is confirmed by the phone', async () => {
  const got = await say({ text: 'hello' });
  assert.equal(got.text, 'hello');
  assert.equal(got.from, me);
  assert.equal(got.chat, `${me}@s.whatsapp.net`);
  assert.equal(got.pushName, 'Ana');
  await client.wait('messages.update', (updates) =>
    updates.some(({ key, update }) => key.id === got.id && update.status === proto.WebMessageInfo.Status.DELIVERY_ACK),
  );
});

test('order: the ack comes before the receipt of the contact', async () => {
  const order: string[] = [];
  client.sock.ws.on('CB:ack,class:message', () => order.push('ack'));
  client.sock.ws.on('CB:receipt', () => order.push('receipt'));
  await say({ text: 'in order' });
  await eventually(() => order.length === 2, 'both');
  assert.deepEqual(order, ['ack', 'receipt']);
});

test('text from a contact: carries the push name and both identifiers', async () => {
  const message = await hear({ kind: 'text', text: 'hi' });
  const lid = sandbox.sandbox.people().find(({ number }) => number === friend)?.lid;
  assert.equal(message.pushName, 'Bruno');
  assert.equal(message.key.remoteJid, friendJid);
  assert.equal(message.key.remoteJidAlt, `${lid}@lid`);
  assert.equal(message.message?.conversation, 'hi');
});

test('text from a contact by LID: the chat is the LID, and the number is included', async () => {
  const message = await hear({ kind: 'text', text: 'by lid' }, { addressing: 'lid' });
  assert.match(message.key.remoteJid ?? '', /@lid$/);
  assert.equal(message.key.remoteJidAlt, friendJid);
  assert.equal(message.message?.conversation, 'by lid');
});

test('text from a contact without a given address: it uses the address of the last message to the contact', async () => {
  const lid = `${sandbox.sandbox.people().find(({ number }) => number === friend)?.lid}@lid`;
  for (const address of [lid, friendJid]) {
    const sent = await client.sock.sendMessage(address, { text: `to ${address}` });
    await received(sent?.key.id ?? '');
    assert.equal((await hear({ kind: 'text', text: 'back' })).key.remoteJid, address);
  }
});

test('text to a LID: the contact decrypts it and confirms under the LID', async () => {
  const lid = `${sandbox.sandbox.people().find(({ number }) => number === friend)?.lid}@lid`;
  const sent = await client.sock.sendMessage(lid, { text: 'to the lid' });
  assert.equal((await received(sent?.key.id ?? '')).text, 'to the lid');
  await client.wait('messages.update', (updates) =>
    updates.some(({ key, update }) => key.id === sent?.key.id && key.remoteJid === lid && update.status === 3),
  );
});

test('receipts of a contact: read and played reach the client', async () => {
  const { id } = await say({ text: 'read me' });
  await sandbox.sandbox.receipt(friend, { type: 'read', ids: [id] });
  await client.wait('messages.update', (updates) =>
    updates.some(({ key, update }) => key.id === id && update.status === proto.WebMessageInfo.Status.READ),
  );
  await sandbox.sandbox.receipt(friend, { type: 'played', chat: `${me}@s.whatsapp.net` });
  await client.wait('messages.update', (updates) =>
    updates.some(({ key, update }) => key.id === id && update.status === proto.WebMessageInfo.Status.PLAYED),
  );
});

test('a contact without automatic receipts: the delivery receipt is sent on demand', async () => {
  await sandbox.sandbox.putPerson({ number: '5511988880009', autoDeliver: false });
  const sent = await client.sock.sendMessage('5511988880009@s.whatsapp.net', { text: 'are you there' });
  const id = sent?.key.id ?? '';
  await eventually(() => sandbox.sandbox.received('5511988880009').find((one) => one.id === id), 'the text');
  assert.equal(
    client
      .seen('messages.update')
      .flat()
      .some(({ key }) => key.id === id),
    false,
  );
  await sandbox.sandbox.receipt('5511988880009', { type: 'delivered', ids: [id] });
  await client.wait('messages.update', (updates) => updates.some(({ key }) => key.id === id));
});

test('receipts of a client: it sends delivery receipts by itself, read receipts on demand', async () => {
  const kinds: string[] = [];
  const stop = sandbox.sandbox.subscribe((event) => {
    if (event.type === 'receipt' && event.to === friend) kinds.push(`${event.kind} ${event.by} ${event.id}`);
  });
  const message = await hear({ kind: 'text', text: 'confirm me' });
  await client.sock.readMessages([message.key]);
  await eventually(() => kinds.includes(`read ${me} ${message.key.id}`), 'the read receipt');
  assert.ok(kinds.includes(`delivered ${me} ${message.key.id}`));
  stop();
});

const spoken: [string, (heard: WAMessage) => AnyMessageContent, string, (text: string, content: Record<string, unknown>) => void][] = [
  [
    'a reply',
    (heard) => ({ text: 'answer', quoted: heard }) as AnyMessageContent,
    'extendedTextMessage',
    (text) => assert.equal(text, 'answer'),
  ],
  [
    'a mention',
    () => ({ text: '@x', mentions: [friendJid] }),
    'extendedTextMessage',
    (_text, content) => assert.match(JSON.stringify(content), /mentionedJid/),
  ],
  [
    'a forward',
    (heard) => ({ forward: heard }),
    'extendedTextMessage',
    (_text, content) => assert.match(JSON.stringify(content), /isForwarded/),
  ],
  ['a reaction', (heard) => ({ react: { text: '👍', key: heard.key } }), 'reactionMessage', (text) => assert.equal(text, '👍')],
  [
    'a contact',
    () => ({ contacts: { displayName: 'Eva', contacts: [{ displayName: 'Eva', vcard: 'BEGIN:VCARD\nEND:VCARD' }] } }),
    'contactMessage',
    (text) => assert.equal(text, 'Eva'),
  ],
  [
    'a location',
    () => ({ location: { degreesLatitude: 1.5, degreesLongitude: -2, name: 'Here' } }),
    'locationMessage',
    (text) => assert.equal(text, 'Here'),
  ],
  [
    'a poll',
    () => ({ poll: { name: 'Tea?', values: ['yes', 'no'], selectableCount: 1 } }),
    'pollCreationMessageV3',
    (text) => assert.equal(text, 'Tea?'),
  ],
];

for (const [title, make, kind, check] of spoken) {
  test(`to a contact: ${title}`, async () => {
    const heard = await hear({ kind: 'text', text: 'about this' });
    const got = await say(make(heard));
    assert.equal(got.kind, kind);
    check(got.text, got.content as Record<string, unknown>);
  });
}

test('to a contact: an edit and a deletion', async () => {
  const sent = await client.sock.sendMessage(friendJid, { text: 'first' });
  const key = structuredClone(sent?.key);
  assert.ok(key);
  assert.equal((await say({ text: 'second', edit: key })).text, 'second');
  assert.equal((await say({ delete: key })).kind, 'protocolMessage');
});

const heardKinds: [string, Content, (message: proto.IMessage) => unknown, unknown][] = [
  ['mentions', { kind: 'text', text: '@you', mentions: [me] }, (m) => m.extendedTextMessage?.contextInfo?.mentionedJid?.length, 1],
  ['a forward', { kind: 'text', text: 'fwd', forwarded: true }, (m) => m.extendedTextMessage?.contextInfo?.isForwarded, true],
  ['a poll', { kind: 'poll', name: 'Go?', options: ['a', 'b'] }, (m) => m.pollCreationMessageV3?.options?.length, 2],
  ['a contact', { kind: 'contact', displayName: 'Eva', vcard: 'BEGIN:VCARD\nEND:VCARD' }, (m) => m.contactMessage?.displayName, 'Eva'],
  ['a location', { kind: 'location', latitude: 3, longitude: 4, name: 'There' }, (m) => m.locationMessage?.name, 'There'],
];

for (const [title, content, pick, expected] of heardKinds) {
  test(`from a contact: ${title}`, async () => {
    const { message } = await hear(content);
    assert.deepEqual(pick(message ?? {}), expected);
  });
}

test('from a contact: reaction, reply, edit and deletion name the right message', async () => {
  const mine = await say({ text: 'mine' });
  await sandbox.sandbox.send(friend, me, { kind: 'reaction', messageId: mine.id, emoji: '❤️' });
  const reaction = await client.wait('messages.reaction', (all) => all.find(({ key }) => key.id === mine.id));
  assert.equal(reaction.key.fromMe, true);
  assert.equal(reaction.reaction.text, '❤️');
  const reply = await hear({ kind: 'text', text: 'reply', replyTo: mine.id });
  assert.equal(reply.message?.extendedTextMessage?.contextInfo?.stanzaId, mine.id);
  const theirs = await hear({ kind: 'text', text: 'frist' });
  const id = theirs.key.id ?? '';
  await sandbox.sandbox.send(friend, me, { kind: 'edit', messageId: id, text: 'first' });
  const edited = await client.wait('messages.update', (all) =>
    all.find(({ key, update }) => key.id === id && update.message?.editedMessage),
  );
  assert.equal(edited.update.message?.editedMessage?.message?.conversation, 'first');
  await sandbox.sandbox.send(friend, me, { kind: 'delete', messageId: id });
  await client.wait('messages.update', (all) => all.find(({ key, update }) => key.id === id && update.message === null));
});

test('polls: votes are encrypted and decrypted, both ways', async () => {
  const poll = await hear({ kind: 'poll', name: 'Lunch?', options: ['pizza', 'soup'] });
  const { encryptVote } = await import('#src/sandbox/messages/polls-and-events.ts');
  const context = {
    pollId: poll.key.id ?? '',
    creator: friendJid,
    voter: `${me}@s.whatsapp.net`,
    secret: poll.message?.messageContextInfo?.messageSecret ?? Buffer.alloc(0),
  };
  const vote = encryptVote(['soup'], context, Buffer.alloc(12, 7));
  const id = await client.sock.relayMessage(
    friendJid,
    { pollUpdateMessage: { pollCreationMessageKey: poll.key, vote, senderTimestampMs: Date.now() } },
    {},
  );
  assert.equal((await received(id)).text, 'soup');
  const mine = await client.sock.sendMessage(friendJid, { poll: { name: 'When?', values: ['now', 'later'], selectableCount: 1 } });
  await received(mine?.key.id ?? '');
  const answer = await hear({ kind: 'pollVote', messageId: mine?.key.id ?? '', options: ['later'] });
  const { decryptPollVote } = await import('@whiskeysockets/baileys');
  const opened = decryptPollVote(answer.message?.pollUpdateMessage?.vote ?? {}, {
    pollCreatorJid: `${me}@s.whatsapp.net`,
    pollMsgId: mine?.key.id ?? '',
    pollEncKey: mine?.message?.messageContextInfo?.messageSecret ?? Buffer.alloc(0),
    voterJid: friendJid,
  });
  assert.equal(opened.selectedOptions?.length, 1);
});

test('a client that lost its session: it requests the message again and gets it in a new session', async () => {
  for (const key of client.auth.values.keys()) if (key.startsWith('session ')) client.auth.values.delete(key);
  const { id } = await sandbox.sandbox.send(friend, me, { kind: 'text', text: 'once more' });
  const message = await client.wait('messages.upsert', ({ messages }) =>
    messages.find((one) => one.key.id === id && one.message?.conversation),
  );
  assert.equal(message.message?.conversation, 'once more');
  assert.ok(sandbox.sandbox.stats().messages.retryReceipts >= 1);
});

test('counters: every message was verified, decrypted and confirmed, and there was no unknown request', async () => {
  const stats = await eventually(() => {
    const now = sandbox.sandbox.stats();
    return now.messages.acknowledged === now.messages.toClients && now;
  }, 'the last confirmation');
  assert.deepEqual(stats.unknown, {});
  assert.equal(stats.messages.undecryptable, 0);
  assert.equal(stats.signatures.rejected, 0);
  assert.ok(stats.signatures.verified > 2);
  assert.equal(sandbox.sandbox.people().find(({ number }) => number === me)?.devices[0]?.queued, 0);
});
