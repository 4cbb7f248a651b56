/** Tests the address book: stored from the data of the phone, listed in pages, and changed on the phone. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Account } from '#test/support/account.ts';
import { type Json, same } from '#test/support/operation-rows.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
let account: Account;
const friend = '5511988880011';
const early = '5511988880012';
const nobody = '5511900009998';
const jid = (number: string): string => `${number}@s.whatsapp.net`;

before(async () => {
  scene = await Scene.open();
  account = await scene.create();
  const { sandbox } = scene.platform;
  await sandbox.putPerson({ number: account.number });
  await sandbox.putPerson({ number: nobody, absent: true });
  await sandbox.change(account.number, { kind: 'contact', number: early, name: 'Bia Early' });
  // The phone has a history. Otherwise the library waits for one before it reads the shared state of the phone.
  await account.scan(scene.platform, { history: { chats: 1, messages: 1 } });
  await account.reaches('connected');
  const webhook = { url: scene.receiver.url, enabled: true, events: ['contacts'] };
  assert.equal((await account.call('POST', '/webhook', webhook)).status, 200);
});
after(() => scene.close());

const onPhone = (): readonly string[] =>
  scene.platform.sandbox
    .settings(account.number)
    .contacts.map(({ number, name }) => `${number} ${name}`)
    .toSorted();

const listed = async (scope = 'address_book'): Promise<readonly string[]> => {
  const { status, body } = await account.call('GET', `/contacts?contactScope=${scope}`);
  assert.equal(status, 200, JSON.stringify(body));
  return (body as unknown as readonly Json[]).map((one) => `${String(one['jid'])} ${String(one['contact_name'])}`);
};

const told = (from: number, fields: Json): Promise<unknown> =>
  until(
    () =>
      scene.receiver.posted
        .slice(from)
        .some(({ body }) => body['EventType'] === 'contacts' && same(body['contact'] as Json | undefined, fields)),
    `the event contacts ${JSON.stringify(fields)}`,
  );

test('contacts: contacts from before the first login are listed, without a chat', async () => {
  await until(async () => (await listed()).length === 1, 'the contact is stored');
  assert.deepEqual(await listed(), [`${jid(early)} Bia Early`]);
});

test('contacts: a contact that is saved before the first message has the name in the chat, and gets status posts', async () => {
  const saved = '5511988880031';
  await scene.platform.sandbox.putPerson({ number: saved });
  const added = await account.call('POST', '/contact/add', { number: saved, name: 'Lia Saved' });
  assert.equal(added.status, 200, JSON.stringify(added.body));
  await until(async () => (await listed()).includes(`${jid(saved)} Lia Saved`), 'the contact is stored');
  const post = await account.call('POST', '/send/status', { type: 'text', text: 'for those in the address book' });
  assert.equal(post.status, 200, JSON.stringify(post.body));
  await until(() => scene.readBy(saved).has('for those in the address book'), 'the contact reads the post');
  assert.equal((await account.call('POST', '/send/text', { number: saved, text: 'hello' })).status, 200);
  const chat = await account.chatOf(jid(saved));
  assert.deepEqual([chat?.['wa_contactName'], chat?.['name']], ['Lia Saved', 'Lia Saved']);
  assert.equal((await account.call('POST', '/contact/remove', { number: saved })).status, 200);
  assert.equal((await account.call('POST', '/chat/delete', { number: saved, deleteChatDB: true })).status, 200);
});

test('contacts: a request can give the number as phone, and a chat by its id from /chat/find', async () => {
  const other = '5511988880032';
  await scene.platform.sandbox.putPerson({ number: other });
  const added = await account.call('POST', '/contact/add', { phone: other, name: 'Ivo Phone' });
  assert.equal(added.status, 200, JSON.stringify(added.body));
  assert.equal((await account.call('POST', '/send/text', { number: other, text: 'one' })).status, 200);
  const id = (await account.chatOf(jid(other)))?.['id'];
  const sent = await account.call('POST', '/send/text', { number: id, text: 'two' });
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  await until(() => scene.readBy(other).has('two'), 'the contact reads the text');
  const lead = await account.call('POST', '/chat/editLead', { id, lead_name: 'Ivo' });
  assert.deepEqual([lead.status, lead.body['wa_chatid'], lead.body['lead_name']], [200, jid(other), 'Ivo'], JSON.stringify(lead.body));
  const found = await account.call('POST', '/message/find', { chatid: id });
  assert.equal(found.body['returnedMessages'], 2);
  assert.equal((await account.call('POST', '/contact/remove', { phone: other })).status, 200);
  assert.equal((await account.call('POST', '/chat/delete', { number: id, deleteChatDB: true })).status, 200);
});

test('contacts: a contact that the phone saves, renames or removes changes in the list and causes an event, without a chat', async () => {
  const { sandbox } = scene.platform;
  for (const name of ['Rui', 'Rui Costa']) {
    const from = scene.receiver.posted.length;
    await sandbox.change(account.number, { kind: 'contact', number: friend, name });
    await told(from, { jid: jid(friend), contact_name: name });
    assert.deepEqual(await listed(), [`${jid(early)} Bia Early`, `${jid(friend)} ${name}`]);
  }
  const from = scene.receiver.posted.length;
  await sandbox.change(account.number, { kind: 'contact', number: friend });
  await told(from, { jid: jid(friend), contact_name: '' });
  assert.deepEqual(await listed(), [`${jid(early)} Bia Early`]);
});

test('contacts: people outside of the address book are listed if their names are known', async () => {
  await scene.write(account, 'hello');
  await until(async () => (await listed('outside_address_book')).some((one) => one.startsWith(jid(contact))), 'the person is known');
  const [outside, all] = [await listed('outside_address_book'), await listed('all')];
  assert.ok(!outside.some((one) => one.startsWith(jid(early))));
  assert.equal(all.length, outside.length + 1);
});

test('contact: a request adds, renames and removes a contact on the phone, in the gateway and in events', async () => {
  for (const name of ['Ana Lima', 'Ana Souza']) {
    const from = scene.receiver.posted.length;
    const { status, body } = await account.call('POST', '/contact/add', { number: contact, name });
    const saved = { jid: jid(contact), name, phone: contact };
    assert.deepEqual([status, body], [200, { success: true, message: 'Contact added successfully', contact: saved }]);
    assert.deepEqual(onPhone(), [`${contact} ${name}`, `${early} Bia Early`]);
    assert.deepEqual(await listed(), [`${jid(contact)} ${name}`, `${jid(early)} Bia Early`]);
    await told(from, { jid: jid(contact), contact_name: name });
  }
  assert.equal((await account.chatOf(jid(contact)))?.['wa_contactName'], 'Ana Souza');
  const from = scene.receiver.posted.length;
  const { status, body } = await account.call('POST', '/contact/remove', { number: jid(contact) });
  const removed = { jid: jid(contact), phone: contact };
  assert.deepEqual([status, body], [200, { success: true, message: 'Contact removed successfully', removed_contact: removed }]);
  assert.deepEqual([onPhone(), await listed()], [[`${early} Bia Early`], [`${jid(early)} Bia Early`]]);
  await told(from, { jid: jid(contact), contact_name: '' });
  // A further change shows that the hash of the collection is still right.
  assert.equal((await account.call('POST', '/contact/add', { number: contact, name: 'Ana' })).status, 200);
  assert.deepEqual(onPhone(), [`${contact} Ana`, `${early} Bia Early`]);
});

test('contacts: pages have counts, and list contacts in the order of names', async () => {
  const page = async (body: Json): Promise<Json> => (await account.call('POST', '/contacts/list', body)).body;
  const first = await page({ limit: 1 });
  assert.deepEqual(first['pagination'], { totalRecords: 2, limit: 1, offset: 0, nextOffset: 1, hasMore: true });
  assert.deepEqual(first['contacts'], [{ jid: jid(contact), contact_name: 'Ana', contact_FirstName: 'Ana' }]);
  const second = await page({ limit: 1, offset: 1 });
  assert.deepEqual(second['contacts'], [{ jid: jid(early), contact_name: 'Bia Early', contact_FirstName: 'Bia' }]);
  assert.deepEqual([second['totalDeviceContacts'], (second['pagination'] as Json)['hasMore']], [2, false]);
  assert.deepEqual((await page({ contactScope: 'all', offset: 90 }))['contacts'], []);
});

const bad: readonly (readonly [path: string, body: Json, status: number, error: RegExp])[] = [
  ['/contact/add', { name: 'Ana' }, 400, /^number is required$/],
  ['/contact/add', { number: contact }, 400, /^name is required$/],
  ['/contact/add', { number: contact, name: ' ' }, 400, /^name must not be empty$/],
  ['/contact/add', { number: 'nobody', name: 'Ana' }, 400, /digits with the country code/],
  ['/contact/add', { number: nobody, name: 'Ana' }, 404, /is not on WhatsApp$/],
  ['/contact/add', { number: '1@g.us', name: 'Ana' }, 400, /^a contact is saved by its number$/],
  ['/contact/remove', {}, 400, /^number is required$/],
  ['/contact/remove', { number: friend }, 404, /^contact not found$/],
  ['/contacts/list', { contactScope: 'some' }, 400, /^contactScope must be one of/],
  ['/contacts/list', { offset: -1 }, 400, /^offset must be at least 0$/],
];

for (const [path, body, status, error] of bad)
  test(`contacts: ${path} with ${JSON.stringify(body)} is refused with ${status}`, async () => {
    const answered = await account.call('POST', path, body);
    assert.equal(answered.status, status, JSON.stringify(answered.body));
    assert.match(String(answered.body['error']), error);
  });

for (const [path, body] of [
  ['/contact/add', { number: contact, name: 'Other' }],
  ['/contact/remove', { number: contact }],
] as const)
  test(`contacts: a call of ${path} that the platform refuses changes nothing`, async () => {
    const [before, phone] = [await listed(), onPhone()];
    await scene.platform.sandbox.fault({ kind: 'refuseQuery', number: account.number, query: 'w:sync:app:state', code: 403 });
    const answered = await account.call('POST', path, body);
    assert.deepEqual([answered.status, answered.body['provider_code']], [500, 403], JSON.stringify(answered.body));
    assert.deepEqual([await listed(), onPhone()], [before, phone]);
  });

test('contacts: the list needs no session but a change does, and the platform gets no unknown request', async () => {
  const { settings, unknown } = scene.platform.sandbox.stats();
  assert.deepEqual([settings.refused, unknown], [{}, {}]);
  await account.call('POST', '/instance/disconnect', {});
  assert.equal((await listed()).length, 2);
  assert.equal((await account.call('POST', '/contact/add', { number: contact, name: 'Ana' })).status, 409);
  assert.equal((await account.gateway.call('GET', '/contacts', { token: 'wrong' })).status, 401);
});
