/** Tests that messages of the phone become messages of agents, with a real gateway between the simulated platform and a stand-in for Chatwoot. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import sharp from 'sharp';
import type { Account } from '#test/support/account.ts';
import { ChatwootStandIn } from '#test/support/chatwoot/stand-in.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
let desk: ChatwootStandIn;
let account: Account;
before(async () => {
  [scene, desk] = [await Scene.open(), await ChatwootStandIn.open()];
  account = await scene.paired();
  await desk.connect(account);
});
after(async () => {
  await scene?.close();
  await desk?.close();
});

const sees = (text: string) =>
  until(
    () => desk.world.messages.find(({ content }) => content === text),
    () => `agents see ${text}; they see ${desk.texts().join(' | ')}`,
  );

test('incoming: a message of a person becomes one of a contact with number and identifier, in a conversation', async () => {
  await scene.write(account, 'good *morning*');
  const message = await sees('good **morning**');
  assert.equal(message.type, 'incoming');
  const [found] = [...desk.world.contacts.values()];
  assert.partialDeepStrictEqual(found, { identifier: `${contact}@s.whatsapp.net`, phone_number: `+${contact}` });
  await scene.write(account, 'again');
  assert.equal((await sees('again')).conversationId, message.conversationId);
  assert.equal(desk.world.contacts.size, 1);
});

test('incoming: a picture has its file and caption, a reply has its quoted message, and a location has a link to a map', async () => {
  const png = await sharp({ create: { width: 40, height: 40, channels: 3, background: '#346' } })
    .png()
    .toBuffer();
  const { sandbox } = scene.platform;
  await sandbox.send(contact, account.number, { kind: 'image', data: png.toString('base64'), caption: 'see' });
  const picture = await sees('see');
  assert.deepEqual([picture.files[0]?.mimetype, picture.files[0]?.bytes.equals(png)], ['image/png', true]);
  const first = await scene.write(account, 'which one?');
  const asked = await sees('which one?');
  await sandbox.send(contact, account.number, { kind: 'text', text: 'that one', replyTo: first });
  assert.deepEqual((await sees('that one')).attributes, { in_reply_to: asked.id });
  await sandbox.send(contact, account.number, { kind: 'location', latitude: -23.5, longitude: -46.6, name: 'Shop' });
  await sees('Shop\nhttps://maps.google.com/?q=-23.5,-46.6');
});

test('incoming: reactions and deletions become notes about the message, and an edit becomes a reply to it', async () => {
  const { sandbox } = scene.platform;
  const id = await scene.write(account, 'wrnog');
  const message = await sees('wrnog');
  await sandbox.send(contact, account.number, { kind: 'edit', messageId: id, text: 'wrong' });
  assert.partialDeepStrictEqual(await sees('Edited: wrong'), { type: 'incoming', attributes: { in_reply_to: message.id } });
  await sandbox.send(contact, account.number, { kind: 'reaction', messageId: id, emoji: '👍' });
  await sandbox.send(contact, account.number, { kind: 'delete', messageId: id });
  const about = { private: true, type: 'outgoing', attributes: { in_reply_to: message.id } } as const;
  const notes = await until(
    () => {
      const found = desk.world.messages.filter((one) => one.private);
      return found.length >= 2 && found;
    },
    () => `two notes; agents see ${desk.texts().join(' | ')}`,
  );
  assert.match(notes[0]?.content ?? '', /reacted with 👍$/);
  assert.match(notes[1]?.content ?? '', /deleted this message$/);
  for (const one of notes) assert.partialDeepStrictEqual(one, about);
});

test('incoming: a group becomes one contact, and each message begins with its author', async () => {
  const group = await scene.platform.sandbox.createGroup({ subject: 'Team', creator: contact, participants: [account.number] });
  await scene.platform.sandbox.send(contact, group.jid, { kind: 'text', text: 'to all' });
  const message = await until(
    () => desk.world.messages.find(({ content }) => content.endsWith(':**\nto all')),
    () => desk.texts().join(' | '),
  );
  assert.match(message.content, new RegExp(`^\\*\\*.*\\+${contact}\\)?:\\*\\*\nto all$`));
  const found = [...desk.world.contacts.values()].find(({ identifier }) => identifier === group.jid);
  assert.partialDeepStrictEqual(found, { name: 'Team', phone_number: '' });
});

test('outgoing: a message of the API becomes an outgoing message that shows its delivery status', async () => {
  const sent = await account.send(contact, 'from the API');
  assert.equal(sent.status, 200);
  const message = await sees('from the API');
  assert.deepEqual([message.type, message.private], ['outgoing', false]);
  await until(
    () => message.status === 'delivered',
    () => `it is delivered; it is ${message.status}`,
  );
  await scene.platform.sandbox.receipt(contact, { type: 'read', ids: [String(sent.body['messageid'])] });
  await until(
    () => message.status === 'read',
    () => `it is read; it is ${message.status}`,
  );
});

test(`outgoing: a message from the owner's phone and a file of the API become outgoing messages`, async () => {
  await scene.platform.sandbox.send(account.number, contact, { kind: 'text', text: 'from my own phone' });
  assert.equal((await sees('from my own phone')).type, 'outgoing');
  const png = await sharp({ create: { width: 30, height: 30, channels: 3, background: '#184' } })
    .png()
    .toBuffer();
  const file = `data:image/png;base64,${png.toString('base64')}`;
  const sent = await account.call('POST', '/send/media', { number: contact, type: 'image', file, text: 'our offer' });
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  const message = await sees('our offer');
  assert.equal(message.type, 'outgoing');
  assert.match(message.files[0]?.mimetype ?? '', /^image\//);
});

test('names: a name that agents set in Chatwoot stays until the name changes on the platform', async () => {
  const person = [...desk.world.contacts.values()].find(({ identifier }) => identifier === `${contact}@s.whatsapp.net`);
  assert.ok(person);
  person.name = 'Ana of the agents';
  await scene.write(account, 'who am I?');
  await sees('who am I?');
  assert.equal(person.name, 'Ana of the agents');
  await scene.platform.sandbox.change(account.number, { kind: 'contact', number: contact, name: 'Ana Lima' });
  await until(async () => {
    await scene.write(account, 'and now?');
    return person.name === 'Ana Lima';
  }, 'Chatwoot has the name of the address book');
});

test('incoming: a file that Chatwoot refuses becomes a link', async () => {
  const picture = await sharp({ create: { width: 20, height: 20, channels: 3, background: '#777' } })
    .png()
    .toBuffer();
  const image = { kind: 'image', data: picture.toString('base64') } as const;
  desk.formBytes = 10;
  await scene.platform.sandbox.send(contact, account.number, { ...image, caption: 'too large' });
  const link = await until(
    () => desk.world.messages.find(({ content }) => content.startsWith('too large\n')),
    () => desk.texts().join(' | '),
  );
  desk.formBytes = Infinity;
  const [, address = ''] = /\[file of 1 MB: (\S+)\]$/.exec(link.content) ?? [];
  const file = await fetch(scene.gateway.address + new URL(address).pathname);
  assert.ok(picture.equals(Buffer.from(await file.arrayBuffer())));
});

/** Returns the id of the contact's conversation. */
const conversation = (): number => desk.world.messages.find(({ content }) => content === 'again')?.conversationId ?? 0;
const received = () => scene.platform.sandbox.received(contact);
const gets = (text: string) =>
  until(
    () => received().find((one) => one.text === text),
    () => `the contact gets ${text}`,
  );

test('agents: a message reaches the phone once, shows its delivery status, and is not copied back to Chatwoot', async () => {
  const written = desk.write(conversation(), 'hello **Ana**, _welcome_');
  const got = await gets('hello *Ana*, _welcome_');
  await until(
    () => written.status === 'delivered',
    () => `it is delivered; it is ${written.status}`,
  );
  await scene.platform.sandbox.receipt(contact, { type: 'read', ids: [got.id] });
  await until(
    () => written.status === 'read',
    () => `it is read; it is ${written.status}`,
  );
  desk.write(conversation(), 'only for agents', { private: true });
  desk.write(conversation(), 'the last one');
  await gets('the last one');
  await desk.told();
  assert.equal(received().filter(({ text }) => text.includes('welcome')).length, 1);
  assert.ok(!received().some(({ text }) => text.includes('only for agents')), 'notes stay between agents');
  assert.equal(desk.texts().filter((text) => text.includes('the last one')).length, 1, 'it does not come back');
  assert.deepEqual([...new Set(desk.hooked.map(({ status }) => status))], [200]);
});

test('agents: braces in a message are sent unchanged', async () => {
  const lead = await account.call('POST', '/chat/editLead', { id: contact, lead_notes: 'owes us money' });
  assert.equal(lead.status, 200, JSON.stringify(lead.body));
  desk.write(conversation(), 'see {{lead_notes}} and {{name}}');
  await until(() => received().some(({ text }) => text === 'see {{lead_notes}} and {{name}}'), 'the braces arrive');
  assert.ok(!received().some(({ text }) => text.includes('owes us money')));
});

test('agents: a file is sent with its text, and a reply quotes its message', async () => {
  const png = await sharp({ create: { width: 50, height: 30, channels: 3, background: '#a31' } })
    .png()
    .toBuffer();
  desk.write(conversation(), 'our menu', { files: [{ id: desk.world.nextId(), name: 'menu.png', mimetype: 'image/png', bytes: png }] });
  const picture = await gets('our menu');
  assert.equal(picture.kind, 'imageMessage');
  const pdf = Buffer.from('%PDF-1.4\n%%EOF');
  desk.write(conversation(), '', { files: [{ id: desk.world.nextId(), name: 'price list.pdf', mimetype: 'application/pdf', bytes: pdf }] });
  const document = await until(() => received().find(({ kind }) => /document/.test(kind)), 'the contact gets the document');
  assert.match(JSON.stringify(document.content), /price list\.pdf/);
  await scene.write(account, 'how much?');
  const asked = await sees('how much?');
  // The reply needs the stored id of the first message. The gateway has stored this id when Chatwoot shows the next message of the chat.
  await scene.write(account, 'tell me');
  await sees('tell me');
  desk.write(conversation(), 'ten', { attributes: { in_reply_to: asked.id } });
  assert.match(JSON.stringify((await gets('ten')).content), /how much\?/);
});

test('agents: a message is signed with the name of its author if the settings say so', async () => {
  await account.call('PUT', '/chatwoot/config', { ...desk.settings, sign_messages: true });
  desk.write(conversation(), 'at your service');
  await gets('*Bia Souza:*\nat your service');
  await account.call('PUT', '/chatwoot/config', desk.settings);
});

test('agents: a deleted message is deleted on the phone, without a note about it', async () => {
  const written = desk.write(conversation(), 'a mistake');
  const { id } = await gets('a mistake');
  await until(() => written.status === 'delivered', 'it is delivered');
  written.attributes = { deleted: true };
  desk.world.changed('message_updated', written);
  await until(() => scene.platform.sandbox.shown(contact, account.number).find((one) => one.id === id)?.deleted, 'it is deleted');
});

test('agents: a message that cannot be sent is shown as failed, with the reason', async () => {
  const stranger = desk.world.addContact({ name: 'Nobody' });
  assert.ok('sources' in stranger);
  const talk = desk.world.addConversation(stranger.id, `source-${stranger.id}`);
  assert.ok('sourceId' in talk);
  const lost = desk.write(talk.id, 'is anybody there?');
  await until(() => lost.status === 'failed', 'it is failed');
  assert.equal(lost.error, 'the contact has no telephone number');
  const broken = desk.write(conversation(), '', {
    files: [{ id: desk.world.nextId(), name: 'a.png', mimetype: 'image/png', bytes: Buffer.alloc(0) }],
  });
  await until(() => broken.status === 'failed', 'the empty file is failed');
  assert.match(broken.error, /empty/);
});

test('POST /chatwoot/webhook: an unknown address gets a 404, and irrelevant events are accepted', async () => {
  const post = async (url: string, body: unknown): Promise<number> => {
    const headers = { 'content-type': 'application/json' };
    return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).status;
  };
  assert.equal(await post(`${desk.hookUrl}x`, {}), 404);
  for (const body of [{}, { event: 'conversation_created', id: 1 }, { event: 'message_created', id: 'x' }, { event: 7, conversation: [] }])
    assert.equal(await post(desk.hookUrl, body), 200);
  assert.equal(await post(desk.hookUrl, []), 400);
});
