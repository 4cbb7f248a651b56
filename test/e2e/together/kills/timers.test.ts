/** Tests disappearing messages of the API. The timer of the chat is in every kind of content that has a field for it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Account } from '#test/support/account.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

type Json = Readonly<Record<string, unknown>>;

const week = 604_800;
const day = 86_400;

let scene: Scene;
let account: Account;
let group = '';

before(async () => {
  scene = await Scene.open();
  account = await scene.paired();
  const { sandbox } = scene.platform;
  ({ jid: group } = await sandbox.createGroup({ subject: 'Room', creator: account.number, participants: [contact] }));
  for (const to of [account.number, group]) await sandbox.send(contact, to, { kind: 'text', text: 'hello' });
  for (const id of [`${contact}@s.whatsapp.net`, group])
    await until(async () => (await chat(id))['id'] !== undefined, 'the chats are stored');
});
after(() => scene.close());

const chat = async (id: string): Promise<Json> => (await account.chatOf(id)) ?? {};

/** Sends a message and returns its timer on the contact's phone, or undefined for a message that stays. */
const timerOf = async (path: string, number: string, body: Json): Promise<number | undefined> => {
  const sent = await account.call('POST', `/send/${path}`, { number, ...body });
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  const id = sent.body['messageid'];
  return (await until(() => scene.platform.sandbox.received(contact).find((one) => one.id === id), `${path} arrives`)).expiration;
};

const stored = (id: string, seconds: number): Promise<unknown> =>
  until(async () => (await chat(id))['wa_ephemeralExpiration'] === seconds, `the chat has a timer of ${seconds} s`);

const set = async (path: string, body: Json): Promise<void> => {
  const answered = await account.call('POST', path, body);
  assert.equal(answered.status, 200, JSON.stringify(answered.body));
};

const file = Buffer.from('%PDF-1.4 hello').toString('base64');
const start = Math.floor(Date.now() / 1000) + 86_400;

const kinds: readonly (readonly [title: string, path: string, body: Json])[] = [
  ['a text', 'text', { text: 'one' }],
  ['a text by the queue', 'text', { text: 'two', async: true }],
  ['a document', 'media', { type: 'document', file, docName: 'a.pdf' }],
  ['a document by the queue', 'media', { type: 'document', file, docName: 'b.pdf', async: true }],
  ['a contact', 'contact', { fullName: 'Ana', phoneNumber: '5511999999999' }],
  ['a place', 'location', { name: 'Here', latitude: -23.5616, longitude: -46.6562 }],
  ['buttons', 'menu', { type: 'button', text: 'Which?', choices: ['Yes|y', 'No|n'] }],
  ['a list', 'menu', { type: 'list', text: 'Which?', listButton: 'Open', choices: ['[All]', 'One|1|first'] }],
  ['a poll', 'menu', { type: 'poll', text: 'Which?', choices: ['One', 'Two'], selectableCount: 1 }],
  ['a carousel', 'carousel', { text: 'Look', carousel: [{ text: 'One', buttons: [{ id: '1', text: 'Take', type: 'REPLY' }] }] }],
  ['a request for the place', 'location-button', { text: 'Where?' }],
  ['an event', 'event', { name: 'Party', startTime: start }],
];

const places: readonly (readonly [what: string, number: () => string, path: string, body: (duration: string) => Json])[] = [
  ['a direct chat', () => contact, '/chat/ephemeral', (duration) => ({ number: contact, duration })],
  ['a group', () => group, '/group/ephemeral', (duration) => ({ groupjid: group, duration })],
];

for (const [what, number, path, body] of places) {
  test(`timers: every kind of message to ${what} carries the timer of the chat`, async () => {
    await set(path, body('7d'));
    for (const [title, kind, fields] of kinds) assert.equal(await timerOf(kind, number(), fields), week, title);
  });

  test(`timers: no message to ${what} carries a timer after the timer was removed`, async () => {
    await set(path, body('off'));
    for (const [title, kind, fields] of kinds) assert.equal(await timerOf(kind, number(), fields), undefined, title);
  });
}

test('timers: a timer that is set before the first message creates the chat, and the message carries it', async () => {
  const somebody = '5511900000077';
  const { status, body } = await account.call('POST', '/chat/ephemeral', { number: somebody, duration: '7d' });
  assert.equal(status, 200, JSON.stringify(body));
  const answered = body['chat'] as Json;
  assert.equal(answered['wa_chatid'], `${somebody}@s.whatsapp.net`);
  assert.equal(answered['wa_ephemeralExpiration'], week);
  assert.equal(answered['wa_isGroup'], false);
  const sent = await account.call('POST', '/send/text', { number: somebody, text: 'first' });
  const first = await until(
    () => scene.platform.sandbox.received(somebody).find((one) => one.id === sent.body['messageid']),
    'the first text arrives',
  );
  assert.equal(first.expiration, week);
});

const setting = (seconds: number) =>
  ({ kind: 'message', message: { protocolMessage: { type: 3, ephemeralExpiration: seconds } } }) as const;

for (const [who, of] of [
  ['the contact', () => [contact, account.number]],
  ['the own phone', () => [account.number, contact]],
] as const)
  test(`timers: a timer that ${who} sets applies until it is removed`, async () => {
    const [from = '', to = ''] = of();
    for (const seconds of [day, 0]) {
      await scene.platform.sandbox.send(from, to, setting(seconds));
      await stored(`${contact}@s.whatsapp.net`, seconds);
      assert.equal(await timerOf('text', contact, { text: 'after it' }), seconds === 0 ? undefined : seconds);
    }
  });

test('timers: a timer that an admin sets in a group applies until it is removed', async () => {
  for (const seconds of [day, 0]) {
    await scene.platform.sandbox.updateGroup(group, account.number, { action: 'ephemeral', seconds });
    await stored(group, seconds);
    assert.equal(await timerOf('text', group, { text: 'after it' }), seconds === 0 ? undefined : seconds);
  }
});

test('timers: after a restart messages carry the timer, even messages that were accepted without a connection', async () => {
  await set('/chat/ephemeral', { number: contact, duration: '7d' });
  await set('/group/ephemeral', { groupjid: group, duration: '7d' });
  await account.call('POST', '/instance/hibernate');
  await until(
    async () => ((await account.call('GET', '/instance/status')).body['instance'] as Json)['status'] === 'hibernated',
    'the session sleeps',
  );
  assert.equal(await timerOf('text', contact, { text: 'woken', async: true }), week);
  await scene.gateway.end('SIGTERM');
  await scene.gateway.start();
  await account.reaches('connected');
  assert.equal(await timerOf('text', contact, { text: 'restarted' }), week);
  assert.equal(await timerOf('text', group, { text: 'restarted' }), week);
  const { body } = await account.call('POST', '/message/find', { chatid: contact, limit: 1 });
  assert.match(JSON.stringify(body['messages']), /"expiration":604800/);
});
