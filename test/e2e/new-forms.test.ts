/** Tests requests in the forms of the summer of 2026, on a platform that refuses the older forms. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Account } from '#test/support/account.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
let account: Account;
before(async () => {
  scene = await Scene.strict();
  account = await scene.paired();
  scene.platform.sandbox.requireVersion({ newForms: true });
});
after(() => scene.close());

test('new forms: a lookup tells numbers with an account from numbers without one', async () => {
  const absent = '5511988887001';
  await scene.platform.sandbox.putPerson({ number: absent, absent: true });
  const { status, body } = await account.call('POST', '/chat/check', { numbers: ['5511988887002', absent] });
  assert.equal(status, 200, JSON.stringify(body));
  const found = (body as unknown as readonly { query: string; isInWhatsapp: boolean }[]).map(({ isInWhatsapp }) => isInWhatsapp);
  assert.deepEqual(found, [true, false]);
  assert.equal((await account.send('5511988887003', 'hello')).status, 200);
});

test('new forms: a text to a contact or to a stranger goes to the LID and names the number', async () => {
  for (const number of [contact, '5511988887004']) {
    assert.equal((await account.send(number, `to ${number}`)).status, 200);
    await until(() => scene.readBy(number).has(`to ${number}`), 'it is read');
  }
});

test('new forms: strangers are named by number when a group is created, and when they are added to it', async () => {
  const [stranger, second] = ['5511988887005', '5511988887006'];
  const created = await account.call('POST', '/group/create', { name: 'team', participants: [contact, stranger] });
  assert.equal(created.status, 200, JSON.stringify(created.body));
  const [group] = scene.platform.sandbox.groups();
  const change = { groupjid: group?.jid, action: 'add', participants: [second] };
  const added = await account.call('POST', '/group/updateParticipants', change);
  assert.equal(added.status, 200, JSON.stringify(added.body));
  const members = scene.platform.sandbox.groups()[0]?.participants.map(({ number }) => number);
  assert.deepEqual(members, [account.number, contact, stranger, second]);
});

test('new forms: a person who is given twice, by number and by LID, is added to a group once', async () => {
  const lid = scene.platform.sandbox.people().find(({ number }) => number === contact)?.lid ?? '';
  const { status, body } = await account.call('POST', '/group/create', { name: 'pair', participants: [contact, `${lid}@lid`] });
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(scene.platform.sandbox.groups().find(({ subject }) => subject === 'pair')?.participants.length, 2);
});

test('new forms: a number without a LID is added to a group by the number', async () => {
  const plain = '5511988887007';
  await scene.platform.sandbox.putPerson({ number: plain, withoutLid: true });
  const { status, body } = await account.call('POST', '/group/create', { name: 'plain', participants: [plain] });
  assert.equal(status, 200, JSON.stringify(body));
});

test('new forms: a community is created', async () => {
  const { status, body } = await account.call('POST', '/community/create', { name: 'neighbours' });
  assert.equal(status, 200, JSON.stringify(body));
});

test('new forms: a second community is created', async () => {
  const { status, body } = await account.call('POST', '/community/create', { name: 'town' });
  assert.equal(status, 200, JSON.stringify(body));
});

test('new forms: a contact sees that the account is typing', async () => {
  const seen: string[] = [];
  const stop = scene.platform.sandbox.subscribe((event) => {
    if (event.type === 'presence') seen.push(event.state);
  });
  assert.equal((await account.call('POST', '/message/presence', { number: contact, presence: 'composing', delay: 500 })).status, 200);
  await until(() => seen.includes('composing'), 'the contact sees it');
  stop();
});

test('new forms: messages, retries and receipts of a group name their member by LID', async () => {
  const { sandbox } = scene.platform;
  const { jid } = await sandbox.createGroup({ subject: 'by LID', creator: contact, participants: [account.number, '5511988887008'] });
  const { id } = await sandbox.send(contact, jid, { kind: 'text', text: 'to all' });
  const find = async () => (await account.call('POST', '/message/find', { id })).body['messages'] as readonly unknown[];
  await until(async () => (await find()).length === 1, 'the text of the member is stored');
  const read: string[] = [];
  const stop = sandbox.subscribe((event) => void (event.type === 'receipt' && event.kind === 'read' && read.push(event.id)));
  assert.equal((await account.call('POST', '/message/markread', { id: [id] })).status, 200);
  await until(() => read.includes(id), 'the member is told that its text was read');
  stop();
  sandbox.fault({ kind: 'garble', number: account.number });
  assert.equal((await account.send(jid, 'answer')).status, 200);
  await until(() => scene.readBy(contact).has('answer') && scene.readBy('5511988887008').has('answer'), 'members read the repetition');
  await sandbox.receipt(contact, { type: 'read', chat: jid });
});
