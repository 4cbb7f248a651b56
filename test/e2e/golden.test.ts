/** Tests every type of event and every kind of message, from the simulated platform through the real client and the whole gateway to a webhook. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventTypes } from '#actors/gateway.ts';
import type { Content, Setting } from '#src/sandbox/interface.ts';
import { Account } from '#test/support/account.ts';
import { aboutAnother, kinds } from '#test/support/contents.ts';
import { GatewayProcess } from '#test/support/gateway.ts';
import { readGolden, type Golden } from '#test/support/golden.ts';
import { openPlatform, type TestPlatform } from '#test/support/platform.ts';
import { openReceiver, type Posted, type Receiver } from '#test/support/receivers.ts';
import { postedObjections } from '#test/support/openapi.ts';
import { until } from '#test/support/until.ts';

const shop = '5511990000001';
const ana = '5511988880001';
const bruno = '5511988880002';
const carla = '5511988880003';

const connections = readGolden('connection');
const messages = readGolden('messages');
const updates = readGolden('messages_update');
const presences = readGolden('presence');

let platform: TestPlatform;
let receiver: Receiver;
let gateway: GatewayProcess;
let account: Account;
/** Events that were compared. The next event of the same kind is a different one. */
const used = new Set<Posted>();

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => (value ?? {}) as Fields;

/** Returns the next matching event of the type without its envelope, which is compared with the expected one. */
const next = async (type: string, what: string, fitting: (body: Fields) => boolean = () => true): Promise<Fields> => {
  const posted = await receiver.wait(
    (one) => one.type === type && one.token === account.token && !used.has(one) && fitting(one.body),
    what,
  );
  used.add(posted);
  const { BaseUrl, EventType, owner, token, instanceName, ...own } = posted.body;
  assert.match(String(BaseUrl), /^http/);
  assert.deepEqual([EventType, token, instanceName], [type, account.token, 'shop']);
  assert.ok(owner === shop || (type === 'connection' && owner === ''));
  return own;
};

const messageOf = (body: Fields): Fields => fieldsOf(body['message']);
const nextMessage = (id: string, what: string): Promise<Fields> => next('messages', what, (body) => messageOf(body)['messageid'] === id);
const write = async (content: Content, options: { readonly addressing?: 'pn' | 'lid' } = { addressing: 'lid' }): Promise<string> =>
  (await platform.sandbox.send(ana, shop, content, options)).id;
const change = (setting: Setting): Promise<void> => platform.sandbox.change(shop, setting);

before(async () => {
  platform = await openPlatform();
  receiver = await openReceiver();
  gateway = await new GatewayProcess({ platformUrl: platform.url }).start();
  const created = await gateway.call('POST', '/instance/create', { body: { name: 'shop' } });
  account = Account.of(gateway, shop, String(created.body['token']));
  const { status } = await account.call('POST', '/webhook', { url: receiver.url, enabled: true, events: ['All', 'newsletter_messages'] });
  assert.equal(status, 200);
  for (const [number, name] of [
    [ana, 'Ana'],
    [bruno, 'Bruno'],
    [carla, 'Carla'],
  ] as const)
    await platform.sandbox.putPerson({ number, name });
  // State that the phone shares with its devices from the first login.
  await change({ kind: 'label', labelId: '7', name: 'VIP', color: 1 });
  await change({ kind: 'chatLabel', labelId: '7', chat: '15550101001', on: true });
  await change({ kind: 'archive', chat: '15550101001', on: true });
  await account.scan(platform, { name: 'Shop', history: { chats: 3, messages: 100, calls: 1, statuses: 1 } });
  await account.reaches('connected');
  // The platform sends typing and the presence of others only to an account that is available.
  await account.call('POST', '/instance/presence', { presence: 'available' });
});

after(async () => {
  await gateway?.close();
  await receiver?.close();
  await platform?.close();
});

test('connection: the QR code is reported, then the connection', async () => {
  const golden = connections;
  const instance = (status: string) => (body: Fields) => fieldsOf(body['instance'])['status'] === status;
  golden.check('connecting', await next('connection', 'the picture', (body) => 'qrcode' in fieldsOf(body['instance'])));
  golden.check('connected', await next('connection', 'the connection', instance('connected')));
});

/** Returns the next batch of a kind of history. */
const nextPast = (kind: string, fitting: (items: readonly Fields[]) => boolean = () => true): Promise<Fields> =>
  next('history', `${kind} of the past`, (body) => body['event'] === kind && fitting(body[kind] as readonly Fields[]));

test('history: messages, chats, calls, status posts, labels and labelled chats come in batches', async () => {
  const golden = readGolden('history');
  const check = async (name: string, kind: string, item?: string, fitting?: (items: readonly Fields[]) => boolean): Promise<void> => {
    const body = await nextPast(kind, fitting);
    golden.check(name, body);
    const items = body[kind] as readonly Fields[];
    if (item !== undefined) golden.check(item, items[item === 'a message' ? 1 : 0], {}, 'part');
  };
  await check('messages', 'messages', 'a message');
  await check('messages, the last batch', 'messages');
  await check('chats', 'chats', 'a chat', (items) => items.length > 1);
  await check('marks of chats', 'chats', 'a mark', (items) => items.length === 1);
  await check('calls', 'calls');
  await check('status', 'status', 'a status post');
  await check('labels', 'labels');
  await check('chat_labels', 'chat_labels');
  golden.finish();
});

test('history: batches stay within their limits, over all chunks that a phone sends', async () => {
  const created = await gateway.call('POST', '/instance/create', { body: { name: 'large' } });
  const large = Account.of(gateway, '5511990000002', String(created.body['token']));
  await large.call('POST', '/webhook', { url: receiver.url, enabled: true, events: ['history'] });
  await large.scan(platform, { history: { chats: 8, messages: 200 } });
  const bodies = () =>
    receiver.posted.filter((one) => one.token === large.token && one.body['event'] === 'messages').map(({ body }) => body);
  const told = () => bodies().flatMap((body) => (body['messages'] as readonly Fields[]).map((message) => message['messageid']));
  await until(
    () => told().length >= 1_600,
    () => `1600 messages of the past are told; ${told().length} are`,
  );
  assert.equal(new Set(told()).size, 1_600);
  for (const body of bodies()) {
    assert.ok((body['messages'] as readonly Fields[]).length <= 200);
    assert.ok(Buffer.byteLength(JSON.stringify(body)) <= 256 * 1024);
    assert.ok(Number(body['batchNumber']) <= Number(body['batchTotal']));
  }
});

for (const [kind, content] of Object.entries(kinds)) {
  test(`messages: ${kind}`, async () => {
    const { chatSource, chat, message } = await nextMessage(await write(content), kind);
    messages.check(kind, message);
    assert.equal(chatSource, 'updated');
    assert.equal(fieldsOf(chat)['wa_chatid'], `${ana}@s.whatsapp.net`);
  });
}

for (const [kind, [name, first, second]] of Object.entries(aboutAnother)) {
  test(`messages: ${kind}`, async () => {
    const id = await write(first);
    messages.check(kind, messageOf(await nextMessage(await write(second(id)), kind)), { [name]: id });
  });
}

/** An API message to Ana that she has received. */
const sent = async (text: string, to = ana, more: object = {}): Promise<string> => {
  const { status, body } = await account.call('POST', '/send/text', { number: to, text, ...more });
  assert.equal(status, 200, JSON.stringify(body));
  const id = String(body['messageid']);
  await until(() => platform.sandbox.received(ana).some((one) => one.id === id), 'Ana has the text');
  return id;
};

test('messages: messages of the API, and a reaction to one, are reported', async () => {
  const id = await sent('Hello from the API', ana, { track_source: 'crm', track_id: 'order 7' });
  messages.check('a message of the API', messageOf(await nextMessage(id, 'the own text')));
  const reaction = await write({ kind: 'reaction', messageId: id, emoji: '👍' });
  messages.check('ReactionMessage', messageOf(await nextMessage(reaction, 'the reaction')), { target: id });
});

test('messages: messages that the owner writes on the phone are reported', async () => {
  const { id } = await platform.sandbox.send(shop, ana, { kind: 'text', text: 'from my phone' }, { addressing: 'pn' });
  messages.check("a message of the account's phone", messageOf(await nextMessage(id, 'the text of the phone')));
});

const nextUpdate = (state: string, id: string, by = ana): Promise<Fields> =>
  next('messages_update', `${state} by ${by}`, (body) => {
    const event = fieldsOf(body['event']);
    const person = event['sender_pn'] === `${by}@s.whatsapp.net`;
    return body['state'] === state && person && (event['MessageIDs'] as readonly string[]).includes(id);
  });

test('messages_update: delivered, read and played in a direct chat are reported, and deletions', async () => {
  const golden = updates;
  const own = await sent('for receipts');
  golden.check('delivered', await nextUpdate('Delivered', own), { own });
  await platform.sandbox.receipt(ana, { type: 'read', ids: [own] });
  golden.check('read', await nextUpdate('Read', own), { own });
  await platform.sandbox.receipt(ana, { type: 'played', ids: [own] });
  golden.check('played', await nextUpdate('Played', own), { own });

  const deleted = await write({ kind: 'text', text: 'a slip' });
  await nextMessage(deleted, 'the slip');
  await write({ kind: 'delete', messageId: deleted });
  golden.check('deleted', await nextUpdate('Deleted', deleted), { deleted });
});

/** Records the events of changes of the groups of Ana. */
const groupCases = async (golden: Golden, jid: string): Promise<void> => {
  const { sandbox } = platform;
  type Change = Parameters<typeof sandbox.updateGroup>[2];
  const changes: readonly (readonly [string, Change])[] = [
    ['Name', { action: 'subject', text: 'Crew' }],
    ['Topic', { action: 'description', text: 'What we do' }],
    ['Topic removed', { action: 'description', text: '' }],
    ['Locked', { action: 'locked', on: true }],
    ['Announce', { action: 'announce', on: true }],
    ['Ephemeral', { action: 'ephemeral', seconds: 86_400 }],
    ['Ephemeral off', { action: 'ephemeral', seconds: 0 }],
    ['MembershipApprovalMode', { action: 'approval', on: true }],
    ['NewInviteLink', { action: 'invite' }],
    ['UnknownChanges', { action: 'adminAdd', on: true }],
    ['Join', { action: 'add', participants: [carla] }],
    ['Promote', { action: 'promote', participants: [bruno] }],
    ['Demote', { action: 'demote', participants: [bruno] }],
    ['Leave', { action: 'remove', participants: [carla] }],
  ];
  for (const [name, wanted] of changes) {
    await sandbox.updateGroup(jid, ana, wanted);
    golden.check(name, await next('groups', name, (body) => fieldsOf(body['event'])['JID'] === jid));
  }
};

test('groups: the addition of the account and every possible change are reported, with messages and receipts in a group', async () => {
  const golden = readGolden('groups');
  const { jid } = await platform.sandbox.createGroup({ subject: 'Team', creator: ana, participants: [shop, bruno], addressing: 'pn' });
  golden.check('joined', await next('groups', 'the new group'));
  const { id } = await platform.sandbox.send(ana, jid, { kind: 'text', text: 'Hello all' });
  messages.check('a message of a group', messageOf(await nextMessage(id, 'the text in the group')));
  const own = await sent('Hi group', jid);
  updates.check('delivered to a member', await nextUpdate('Delivered', own), { own });
  for (const [number, name] of [
    [ana, 'read by a member'],
    [bruno, 'read by the other member'],
  ] as const) {
    await until(() => platform.sandbox.received(number).some((one) => one.id === own), 'the member has the text');
    await platform.sandbox.receipt(number, { type: 'read', ids: [own] });
    updates.check(name, await nextUpdate('Read', own, number), { own });
  }
  await platform.sandbox.presence(ana, { state: 'composing', to: jid });
  presences.check('composing in a group', await next('presence', 'typing in the group'));
  await groupCases(golden, jid);
  golden.finish();
});

test('presence: typing, recording, stopping, coming online and going offline are reported', async () => {
  const golden = presences;
  for (const state of ['composing', 'recording', 'paused', 'available', 'unavailable'] as const) {
    await platform.sandbox.presence(ana, { state, to: shop });
    golden.check(state, await next('presence', state));
  }
});

test('call: an unanswered call and one that is rejected on the phone are reported', async () => {
  const golden = readGolden('call');
  const { id: call } = await platform.sandbox.call(ana, shop, { step: 'offer', video: true });
  golden.check('offer', await next('call', 'the call'), { call });
  await platform.sandbox.call(ana, shop, { step: 'timeout', id: call });
  golden.check('timeout', await next('call', 'its end'), { call });
  const { id: second } = await platform.sandbox.call(ana, shop, { step: 'offer' });
  await next('call', 'the second call');
  await platform.sandbox.call(ana, shop, { step: 'reject', id: second });
  golden.check('reject', await next('call', 'the refusal'), { call: second });
  golden.finish();
});

test('newsletter_messages: a post of a channel is reported', async () => {
  const golden = readGolden('newsletter_messages');
  const { jid: channel } = await platform.sandbox.createChannel({ name: 'Daily', owner: ana });
  await platform.sandbox.changeChannel(channel, shop, { action: 'follow' });
  await platform.sandbox.post(channel, { content: { kind: 'text', text: 'News' } });
  golden.check('a post', await next('newsletter_messages', 'the post'));
  const picture = { kind: 'image', data: Buffer.from('photo').toString('base64'), caption: 'look' } as const;
  await platform.sandbox.post(channel, { content: picture });
  golden.check('a picture', await next('newsletter_messages', 'the picture'));
  golden.finish();
});

test('labels and chat_labels: creating, assigning, removing and deleting a label are reported', async () => {
  const labels = readGolden('labels');
  const golden = readGolden('chat_labels');
  await change({ kind: 'label', labelId: '8', name: 'New customer', color: 3 });
  labels.check('made', await next('labels', 'the label'));
  for (const [name, labelId, on] of [
    ['put on', '8', true],
    ['a second one', '9', true],
    ['taken off', '8', false],
  ] as const) {
    await change({ kind: 'chatLabel', labelId, chat: ana, on });
    golden.check(name, await next('chat_labels', name));
  }
  await change({ kind: 'chatLabel', labelId: '9', chat: ana, on: false });
  await next('chat_labels', 'no label');
  await change({ kind: 'label', labelId: '8', name: 'New customer', color: 3, deleted: true });
  labels.check('deleted', await next('labels', 'the deletion'));
  labels.finish();
  golden.finish();
});

test('chats: archiving, pinning, muting and reading on the phone are reported', async () => {
  const golden = readGolden('chats');
  await change({ kind: 'read', chat: ana, on: true });
  const ofAna = (body: Fields) => fieldsOf(body['chat'])['wa_chatid'] === `${ana}@s.whatsapp.net`;
  await next('chats', 'the chat is read', ofAna);
  await nextMessage(await write({ kind: 'text', text: 'Oi' }), 'something unread');
  const steps: readonly (readonly [string, Setting])[] = [
    ['archived', { kind: 'archive', chat: ana, on: true }],
    ['pinned', { kind: 'pin', chat: ana, on: true }],
    ['muted', { kind: 'mute', chat: ana, until: 4_102_444_800_000 }],
    ['read on the phone', { kind: 'read', chat: ana, on: true }],
  ];
  for (const [name, setting] of steps) {
    await change(setting);
    golden.check(name, await next('chats', name, ofAna));
  }
  golden.finish();
});

test('contacts: adding and removing a name in the address book are reported', async () => {
  const golden = readGolden('contacts');
  await change({ kind: 'contact', number: ana, name: 'Ana Silva' });
  golden.check('saved', await next('contacts', 'the name'));
  await change({ kind: 'contact', number: '5511988880009', name: 'Nobody Yet' });
  golden.check('saved without a chat', await next('contacts', 'the name of a stranger'));
  await change({ kind: 'contact', number: ana });
  golden.check('taken out of the address book', await next('contacts', 'the name is gone'));
  golden.finish();
});

test('connection: a logout by the phone is reported, and every kind of message was covered', async () => {
  await platform.sandbox.logout(shop);
  connections.check('logged out', await next('connection', 'the logout', (body) => body['type'] === 'LoggedOut'));
  for (const golden of [connections, messages, updates, presences]) golden.finish();
  assert.deepEqual(platform.sandbox.stats().unknown, {});
});

test('events: every delivery matches the schema of its type in the OpenAPI document', async () => {
  assert.deepEqual(await postedObjections(gateway.address, receiver.posted), []);
  const seen = new Set(receiver.posted.map(({ type }) => type));
  assert.deepEqual(
    eventTypes.filter((type) => !seen.has(type)),
    ['sender'],
  );
});
