/** Tests status posts: their receivers, their display on the phones of the readers, and the receipts. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { proto } from '@whiskeysockets/baileys';
import sharp from 'sharp';
import type { ReceivedMessage } from '#src/sandbox/interface.ts';
import type { Account } from '#test/support/account.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

type Json = Readonly<Record<string, unknown>>;

let scene: Scene;
let account: Account;
/** A person in the address book, like `contact`. */
const other = '5511988880002';
/** A person who has written, but is not in the address book. */
const passer = '5511988880003';
const missing = '99912345678';

const lidOf = (number: string): string => {
  const lid = scene.platform.sandbox.people().find((person) => person.number === number)?.lid;
  return `${lid}@lid`;
};

before(async () => {
  scene = await Scene.open({ STATUS_RECIPIENTS: '2' });
  account = await scene.paired();
  const { sandbox } = scene.platform;
  const webhook = { url: scene.receiver.url, enabled: true, events: ['messages', 'messages_update'] };
  assert.equal((await account.call('POST', '/webhook', webhook)).status, 200);
  await sandbox.putPerson({ number: passer, name: 'Passer' });
  for (const number of [contact, other, passer]) await sandbox.send(number, account.number, { kind: 'text', text: 'hello' });
  const chats = async () => (await account.call('POST', '/chat/find', {})).body['chats'] as readonly Json[];
  await until(async () => (await chats()).length === 3, 'three chats');
  for (const number of [contact, other]) await sandbox.change(account.number, { kind: 'contact', number, name: `Friend ${number}` });
  await until(async () => (await chats()).filter((chat) => chat['wa_contactName'] !== '').length === 2, 'two names in the address book');
});
after(() => scene.close());

const post = (body: Json) => account.call('POST', '/send/status', { type: 'text', text: 'news', ...body });

const postOn = (number: string, id: unknown): ReceivedMessage | undefined =>
  scene.platform.sandbox.received(number).find((one) => one.id === id);

/** Returns the text content of a post as the phone decrypted it. */
const textOn = (received: ReceivedMessage | undefined): Json =>
  (received?.content as Readonly<Record<string, Json>> | undefined)?.['extendedTextMessage'] ?? {};

/** Returns the persons of the three who can see the post. Waits for at least one reader. */
const readersOf = async (id: unknown): Promise<readonly string[]> => {
  const people = [contact, other, passer];
  await until(() => people.some((number) => postOn(number, id)), 'the arrival of the post');
  return people.filter((number) => postOn(number, id) !== undefined);
};

test('status: a text without recipients goes to the contacts of the address book, in the default colour and font', async () => {
  const { status, body } = await post({ text: 'news of {{lead_name}}' });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(await readersOf(body['Id']), [contact, other]);
  const received = postOn(contact, body['Id']);
  assert.deepEqual([received?.chat, received?.hidden, received?.kind], ['status@broadcast', undefined, 'extendedTextMessage']);
  const { backgroundArgb, textArgb } = textOn(received);
  assert.deepEqual([backgroundArgb, textArgb], [0xff243640, 0xffffffff]);
  const { debug } = body as { readonly debug: Json };
  const expected = {
    status_privacy_type: 'contacts',
    used_default_privacy_fallback: true,
    explicit_recipients: false,
    audience_recipient_count: 2,
    total_contacts_in_store: 3,
    contacts_with_full_name: 2,
    contacts_with_push_name_only: 1,
    discarded_recipient_count: 0,
    max_recipients: 2,
    selected_recipient_count: 2,
    partial_send: false,
  };
  assert.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, debug[name]])), expected);
  assert.deepEqual([body['status'], body['chatid'], body['fromMe']], ['Sent', 'status@broadcast', true]);
});

const colours = [
  'F0B330 C1A03F B6B327 54C265 90A841 7ACBA5 5696FF 26C4DC 57C9FF',
  'C69FCC 8B6990 6E257E A62C71 FF8A8C FF7B6B AE8774 7E90A3 74676A 243640',
].flatMap((line) => line.split(' '));

test('status: the nineteen colours and all fonts arrive as requested', async () => {
  const fonts = [0, 1, 2, 6, 7, 8, 9, 10];
  const { FontType } = proto.Message.ExtendedTextMessage;
  for (const [index, colour] of colours.entries()) {
    const font = fonts[index % fonts.length];
    const { body } = await post({ recipients: [contact], background_color: index + 1, font });
    await readersOf(body['Id']);
    const content = textOn(postOn(contact, body['Id']));
    assert.equal(Number(content['backgroundArgb']).toString(16), `ff${colour.toLowerCase()}`);
    assert.equal(content['font'], FontType[font ?? 0]);
  }
});

test('status: recipients of a list are found by number and LID, and all others are left out with a reason', async () => {
  const recipients = [contact, lidOf(passer), `${contact}@s.whatsapp.net`, 'nobody', account.number, missing, '123456789012345@lid'];
  const { status, body } = await post({ recipients });
  assert.equal(status, 200, JSON.stringify(body));
  const { debug } = body as { readonly debug: Json };
  const discarded = debug['discarded_recipients'] as readonly Json[];
  assert.deepEqual(
    discarded.map(({ input, reason }) => [input, reason]),
    [
      [`${contact}@s.whatsapp.net`, 'duplicate'],
      ['nobody', 'invalid'],
      [account.number, 'own_number'],
      [missing, 'lid_unresolved'],
    ],
  );
  assert.deepEqual([debug['explicit_recipients'], debug['requested_recipient_count'], debug['resolved_recipient_count']], [true, 7, 3]);
  assert.deepEqual([debug['selected_recipient_count'], debug['partial_send']], [2, true]);
  assert.deepEqual(await readersOf(body['Id']), [contact, passer]);
});

test('status: a maximum limits the recipients, and a post without any recipient is an error', async () => {
  const one = await post({ max_recipients: 1 });
  assert.equal((await readersOf(one.body['Id'])).length, 1);
  assert.deepEqual((one.body['debug'] as Json)['partial_send'], true);
  const none = await post({ recipients: [missing] });
  assert.equal(none.status, 400);
  assert.match(String(none.body['error']), /^nobody would see the post: no recipient has an account, or /);
});

test('status: the privacy setting of the account selects the recipients, and nothing is posted while it is unknown', async () => {
  const { sandbox } = scene.platform;
  const { number } = account;
  for (const [type, numbers, readers, setting] of [
    ['whitelist', [passer], [passer], 'allowlist'],
    ['blacklist', [contact], [other], 'denylist'],
    ['contacts', [], [contact, other], 'contacts'],
  ] as const) {
    await sandbox.putPerson({ number, statusPrivacy: { type, numbers } });
    const { body } = await post({});
    assert.deepEqual(await readersOf(body['Id']), readers);
    const { status_privacy_type, used_default_privacy_fallback } = body['debug'] as Json;
    assert.deepEqual([status_privacy_type, used_default_privacy_fallback], [setting, false]);
  }
  await sandbox.putPerson({ number, statusPrivacy: 'unavailable' });
  const { status, body } = await post({});
  assert.equal(status, 500);
  assert.match(String(body['error']), /^failed to determine status audience: /);
  await sandbox.putPerson({ number, statusPrivacy: { type: 'contacts', numbers: [] } });
});

test('status: views become receipts of the message, for each reader', async () => {
  const { body } = await post({});
  const id = String(body['Id']);
  await readersOf(id);
  for (const reader of [contact, other]) {
    await until(() => postOn(reader, id) !== undefined, 'the post');
    await scene.platform.sandbox.receipt(reader, { type: 'read', ids: [id] });
    await until(
      () =>
        scene.receiver.posted.some(({ body: { event } }) => {
          const { MessageIDs, sender_pn, Chat } = (event ?? {}) as {
            readonly MessageIDs?: readonly string[];
            sender_pn?: string;
            Chat?: string;
          };
          return MessageIDs?.includes(id) && sender_pn === `${reader}@s.whatsapp.net` && Chat === 'status@broadcast';
        }),
      `the view of ${reader}`,
    );
  }
  const found = await account.call('POST', '/message/find', { id });
  assert.equal((found.body['messages'] as readonly Json[])[0]?.['status'], 'Read');
});

test('status: replies and reactions come from the reader and name the post', async () => {
  const { sandbox } = scene.platform;
  const { body } = await post({});
  const id = String(body['Id']);
  await until(() => postOn(contact, id), 'the post');
  const answer = await sandbox.send(contact, account.number, { kind: 'text', text: 'nice', replyTo: id });
  const reaction = await sandbox.send(contact, account.number, { kind: 'reaction', messageId: id, emoji: '👍' });
  await scene.stored(account, [answer.id, reaction.id]);
  const all = (await account.call('POST', '/message/find', { chatid: contact })).body['messages'] as readonly Json[];
  const of = (messageid: string) => all.find((one) => one['messageid'] === messageid);
  assert.equal(of(answer.id)?.['quoted'], id);
  assert.equal(of(reaction.id)?.['reaction'], id);
});

test('status: a post is stored, appears in no list of chats, and causes no event of a chat', async () => {
  const { body } = await post({ track_id: 'story 1' });
  const found = await account.call('POST', '/message/find', { track_id: 'story 1' });
  const [stored] = found.body['messages'] as readonly Json[];
  assert.deepEqual([stored?.['messageid'], stored?.['text'], stored?.['sendFunction']], [body['Id'], 'news', '/send/status']);
  const chats = (await account.call('POST', '/chat/find', {})).body['chats'] as readonly Json[];
  assert.equal(
    chats.some((chat) => chat['wa_chatid'] === 'status@broadcast'),
    false,
  );
  const { body: text } = await account.send('status@broadcast', 'by the text route');
  assert.deepEqual(await readersOf(text['messageid']), [contact, other]);
  const told = scene.receiver.posted.map(({ body: event }) => event['message'] as Json | undefined);
  assert.equal(
    told.some((one) => one?.['chatid'] === 'status@broadcast'),
    false,
  );
});

const picture = await sharp({ create: { width: 300, height: 200, channels: 3, background: '#3366aa' } })
  .jpeg()
  .toBuffer();

test('status: a picture with its caption is decrypted by its readers', async () => {
  const { status, body } = await post({ type: 'image', text: 'look', file: picture.toString('base64'), recipients: [contact] });
  assert.equal(status, 200, JSON.stringify(body));
  await readersOf(body['Id']);
  const received = postOn(contact, body['Id']);
  assert.deepEqual([received?.kind, received?.text, received?.chat], ['imageMessage', 'look', 'status@broadcast']);
  assert.equal(received?.media?.sha256, createHash('sha256').update(picture).digest('hex'));
  assert.equal((body['sendPayload'] as Json)['file'], undefined);
});

test('status: a deleted post is deleted on the phones of its readers', async () => {
  const { body } = await post({ recipients: [contact] });
  await readersOf(body['Id']);
  const deleted = await account.call('POST', '/message/delete', { id: body['Id'] });
  assert.equal(deleted.status, 200, JSON.stringify(deleted.body));
  const revokes = () =>
    scene.platform.sandbox
      .received(contact)
      .filter(({ kind, content }) => kind === 'protocolMessage' && JSON.stringify(content).includes(String(body['Id'])));
  await until(() => revokes()[0]?.chat === 'status@broadcast', 'the deletion');
});

test('status: only a reader who could not decrypt a post gets it again', async () => {
  const { sandbox } = scene.platform;
  const failed = sandbox.stats().messages.undecryptable;
  await sandbox.fault({ kind: 'garble', number: account.number, times: 1 });
  const { body } = await post({ recipients: [contact] });
  await until(() => postOn(contact, body['Id'])?.text === 'news', 'the post, sent again');
  assert.ok(sandbox.stats().messages.undecryptable > failed, 'the first copy was broken');
  assert.deepEqual([postOn(contact, body['Id'])?.chat, postOn(contact, body['Id'])?.hidden], ['status@broadcast', undefined]);
  await sandbox.askAgain(passer, account.number, String(body['Id']));
  await account.send(passer, 'after the request');
  await until(() => sandbox.received(passer).some(({ text }) => text === 'after the request'), 'the next text');
  assert.equal(postOn(passer, body['Id']), undefined);
});

test('status: a queued post goes to its recipients after a restart', async () => {
  const { gateway } = scene;
  await scene.platform.sandbox.fault({ kind: 'noLogin', number: account.number, times: 1000 });
  await scene.platform.sandbox.fault({ kind: 'close', number: account.number });
  await until(async () => (await account.seen()).status !== 'connected', 'the end of the connection');
  const { status, body } = await post({ async: true, recipients: [passer, contact] });
  assert.deepEqual([status, body['status'], body['debug']], [200, 'Queued', undefined]);
  await gateway.end();
  await scene.platform.sandbox.fault({ kind: 'noLogin', number: account.number, times: 0 });
  await gateway.start();
  await until(() => postOn(passer, body['Id']) && postOn(contact, body['Id']), 'the post');
  assert.equal(postOn(other, body['Id']), undefined);
});

for (const [title, body, error] of [
  ['a type that does not exist', { type: 'poll' }, /type must be one of/],
  ['a colour beyond the last', { background_color: 20 }, /background_color must be at most 19/],
  ['a font that does not exist', { font: 3 }, /^Invalid font$/],
  ['no text', { text: '' }, /text is required/],
  ['no file', { type: 'image' }, /file is required/],
] as const) {
  test(`status: ${title} is refused`, async () => {
    const answer = await post(body);
    assert.equal(answer.status, 400);
    assert.match(String(answer.body['error']), error);
  });
}

test('status: the gateway sends the platform no unknown request', () => assert.deepEqual(scene.platform.sandbox.stats().unknown, {}));
