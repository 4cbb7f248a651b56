/** Tests one person under two addresses, a number and a LID whose relation the platform reports late, or changes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Account } from '#test/support/account.ts';
import type { Json } from '#test/support/operation-rows.ts';
import { Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
let account: Account;
before(async () => {
  scene = await Scene.open();
  account = await scene.paired();
});
after(() => scene.close());

const chatsOf = async (...ids: readonly string[]): Promise<readonly Json[]> => {
  const { body } = await account.call('POST', '/chat/find', { limit: 1_000 });
  const named = (chat: Json, field: string): boolean => ids.includes(String(chat[field]));
  return (body['chats'] as readonly Json[]).filter((chat) => named(chat, 'wa_chatid') || named(chat, 'wa_chatlid'));
};
const textsOf = async (chatid: string): Promise<readonly string[]> => {
  const { body } = await account.call('POST', '/message/find', { chatid, limit: 100 });
  const messages = body['messages'] as readonly { readonly text: string; readonly chatid: string }[];
  return messages
    .filter((message) => message.chatid === chatid)
    .map(({ text }) => text)
    .toSorted();
};
const sends = async (to: string, text: string): Promise<void> => {
  const { status, body } = await account.send(to, text);
  assert.equal(status, 200, JSON.stringify(body));
};
const hears = async (number: string, text: string, chat: string): Promise<void> => {
  await scene.platform.sandbox.send(number, account.number, { kind: 'text', text });
  await until(async () => (await textsOf(chat)).includes(text), `${text} is stored`);
};

test('chats: two chats of a person become one when a message names the number and the LID', async () => {
  const { sandbox } = scene.platform;
  const number = '5511988870091';
  const phone = `${number}@s.whatsapp.net`;
  const { lid } = await sandbox.putPerson({ number, withoutLid: true, name: 'Twice' });
  const hidden = `${lid}@lid`;
  await sends(number, 'to the number');
  await sandbox.putPerson({ number, withoutLid: false, withoutNumber: true });
  await hears(number, 'from the LID', hidden);
  await hears(number, 'once more', hidden);
  assert.equal((await chatsOf(phone, hidden)).length, 2, 'the test begins with two chats');
  for (const [path, body] of [
    ['/chat/editLead', { id: phone, lead_name: 'Ana' }],
    ['/chat/editLead', { id: hidden, lead_email: 'ana@example.com' }],
  ] as const)
    assert.equal((await account.call('POST', path, body)).status, 200);

  await sandbox.putPerson({ number, withoutNumber: false });
  await hears(number, 'with the number', phone);
  const [chat] = await until(async () => {
    const chats = await chatsOf(phone, hidden);
    return chats.length === 1 && chats;
  }, 'there is one chat');
  const { wa_chatid, wa_chatlid, wa_unreadCount, wa_lastMessageTextVote, lead_name, lead_email } = chat ?? {};
  assert.deepEqual(
    [wa_chatid, wa_chatlid, wa_unreadCount, wa_lastMessageTextVote, lead_name, lead_email],
    [phone, hidden, 3, 'with the number', 'Ana', 'ana@example.com'],
  );
  assert.deepEqual(await textsOf(phone), ['from the LID', 'once more', 'to the number', 'with the number']);
  assert.deepEqual(await textsOf(hidden), []);

  await sends(hidden, 'to the LID again');
  await hears(number, 'and back', phone);
  assert.equal((await chatsOf(phone, hidden)).length, 1);
  assert.equal((await textsOf(phone)).length, 6);
});

test('chats: a number with a new LID and new keys stays one chat, and only the new account can read repeated messages', async () => {
  const { sandbox } = scene.platform;
  const number = '5511988870092';
  const phone = `${number}@s.whatsapp.net`;
  const { lid: old } = await sandbox.putPerson({ number, name: 'Before' });
  await sends(number, 'to the first account');
  await hears(number, 'from the first account', phone);
  await until(() => scene.readBy(number).has('to the first account'), 'the first account reads');

  const { lid } = await sandbox.putPerson({ number, registeredAnew: true });
  assert.notEqual(lid, old);
  const refused = await account.send(number, 'to nobody');
  assert.equal(refused.status, 500, JSON.stringify(refused.body));
  assert.match(String(refused.body['error']), /new WhatsApp account/);
  await sends(number, 'to the second account');
  await until(() => scene.readBy(number).has('to the second account'), 'the second account reads');
  assert.ok(!scene.readBy(number).has('to nobody'), 'nobody reads what was meant for the first account');

  await hears(number, 'from the second account', phone);
  await sends(number, 'and back');
  await until(() => scene.readBy(number).has('and back'), 'the second account reads again');
  const [chat, ...others] = await chatsOf(phone, `${old}@lid`, `${lid}@lid`);
  assert.deepEqual([others, chat?.['wa_chatid'], chat?.['wa_chatlid']], [[], phone, `${lid}@lid`]);
});

test('chats: a message from the new account of a number connects the new LID with the number', async () => {
  const { sandbox } = scene.platform;
  const number = '5511988870093';
  const phone = `${number}@s.whatsapp.net`;
  await sandbox.putPerson({ number });
  await sends(number, 'before');
  const { lid } = await sandbox.putPerson({ number, registeredAnew: true });
  await hears(number, 'I am new', phone);
  await sends(number, 'welcome');
  await until(() => scene.readBy(number).has('welcome'), 'the new account reads');
  assert.equal((await chatsOf(phone, `${lid}@lid`)).length, 1);
});
