/** Tests chats and messages that the owner clears, deletes and stars on the phone: deleted in the gateway too, or kept if the setting says so. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Account } from '#test/support/account.ts';
import type { Json } from '#test/support/operation-rows.ts';
import { Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

const friend = '5511988870001';
const friendId = `${friend}@s.whatsapp.net`;
const other = '5511988870002';

let scene: Scene;
let keeping: Scene;
before(async () => {
  [scene, keeping] = await Promise.all([Scene.open(), Scene.open({ PHONE_DELETIONS: 'ignore' })]);
});
after(async () => {
  await scene.close();
  await keeping.close();
});

/** Pairs an account, and stores two messages of a friend for it. */
const withMessages = async (in_: Scene) => {
  const account = await in_.paired();
  const { sandbox } = in_.platform;
  const ids: string[] = [];
  for (const text of ['one', 'two']) ids.push((await sandbox.send(friend, account.number, { kind: 'text', text })).id);
  await sandbox.send(other, account.number, { kind: 'text', text: 'another chat' });
  await until(async () => (await found(account)).length === 2 && (await found(account, other)).length === 1, 'the messages are stored');
  const [first = '', second = ''] = ids;
  return { account, sandbox, first, second };
};

const found = async (account: Account, number = friend): Promise<readonly Json[]> =>
  (await account.call('POST', '/message/find', { chatid: `${number}@s.whatsapp.net` })).body['messages'] as readonly Json[];

const stored = async (account: Account, id: string): Promise<Json | undefined> =>
  (await found(account)).find(({ messageid }) => messageid === id);

/** Sets a webhook for an account. Returns a function that returns its events of one type. */
const listen = async (in_: Scene, account: Account): Promise<(type: string) => readonly Json[]> => {
  const webhook = { url: in_.receiver.url, events: ['messages_update', 'chats'], enabled: true };
  assert.equal((await account.call('POST', '/webhook', webhook)).status, 200);
  return (type) =>
    in_.receiver.posted.map(({ body }) => body as Json).filter((body) => body['EventType'] === type && body['owner'] === account.number);
};

test('deletion: a message that the owner deletes for the account alone is reported as deleted', async () => {
  const { account, sandbox, first } = await withMessages(scene);
  const events = await listen(scene, account);
  await sandbox.change(account.number, { kind: 'deleteForMe', chat: friend, messageId: first });
  await until(async () => (await stored(account, first))?.['status'] === 'Deleted', 'the message is deleted');
  assert.equal((await stored(account, first))?.['text'], '');
  const told = await until(() => events('messages_update').find(({ state }) => state === 'Deleted'), 'the event');
  assert.deepEqual((told['event'] as Json)['MessageIDs'], [first]);
});

test('deletion: a cleared chat loses its messages, and no other chat does', async () => {
  const { account, sandbox } = await withMessages(scene);
  const events = await listen(scene, account);
  await sandbox.change(account.number, { kind: 'clear', chat: friend });
  await until(async () => (await found(account)).length === 0, 'the messages are gone');
  const told = await until(() => events('chats').find(({ chat }) => (chat as Json)['wa_chatid'] === friendId), 'the event');
  assert.deepEqual([(told['chat'] as Json)['wa_unreadCount'], (told['chat'] as Json)['wa_lastMessageTextVote']], [0, '']);
  assert.equal((await found(account, other)).length, 1);
  await sandbox.send(friend, account.number, { kind: 'text', text: 'three' });
  await until(async () => (await found(account)).length === 1, 'the next message is stored');
});

test('deletion: a chat that is deleted on the phone is deleted, and returns with its next message', async () => {
  const { account, sandbox } = await withMessages(scene);
  await sandbox.change(account.number, { kind: 'delete', chat: friend });
  await until(async () => (await account.chatOf(friendId)) === undefined, 'the chat is gone');
  assert.equal((await found(account)).length, 0);
  await sandbox.send(friend, account.number, { kind: 'text', text: 'three' });
  await until(async () => (await account.chatOf(friendId))?.['wa_unreadCount'] === 1, 'the chat is back');
});

test('star: a star from the phone is shown and reported, and keeps its message when the chat is cleared without stars', async () => {
  const { account, sandbox, first } = await withMessages(scene);
  const events = await listen(scene, account);
  await sandbox.change(account.number, { kind: 'star', chat: friend, messageId: first, on: true });
  await until(async () => (await stored(account, first))?.['starred'] === true, 'the message is starred');
  await until(() => events('messages_update').some(({ state }) => state === 'Starred'), 'the event');
  await sandbox.change(account.number, { kind: 'clear', chat: friend, keepStarred: true });
  await until(async () => (await found(account)).length === 1, 'the other message is gone');
  await sandbox.change(account.number, { kind: 'star', chat: friend, messageId: first, on: false });
  await until(async () => (await stored(account, first))?.['starred'] === false, 'the star is gone');
});

test('star: a request removes a star that was set on the phone', async () => {
  const { account, sandbox, first } = await withMessages(scene);
  await sandbox.change(account.number, { kind: 'star', chat: friend, messageId: first, on: true });
  await until(async () => (await stored(account, first))?.['starred'] === true, 'the message is starred');
  const { status, body } = await account.call('POST', '/message/star', { id: first, star: false });
  assert.deepEqual([status, body['starred']], [200, false], JSON.stringify(body));
  const { messages, ignored } = sandbox.settings(account.number);
  assert.deepEqual([messages.find(({ id }) => id === first)?.starred, ignored], [false, []]);
  assert.equal((await stored(account, first))?.['starred'], false);
});

test('deletion: a request that clears the chat on the phone deletes in the gateway only the parts that the request names', async () => {
  const { account, sandbox } = await withMessages(scene);
  const cleared = await account.call('POST', '/chat/delete', { number: friend, clearChatWhatsApp: true });
  assert.equal(cleared.status, 200, JSON.stringify(cleared.body));
  await until(() => sandbox.settings(account.number).chats.some(({ clearedUntil = 0 }) => clearedUntil > 0), 'the phone has it');
  assert.equal((await found(account)).length, 2);
});

test('deletion: with PHONE_DELETIONS=ignore the gateway deletes nothing, and still follows stars', async () => {
  const { account, sandbox, first, second } = await withMessages(keeping);
  await sandbox.change(account.number, { kind: 'deleteForMe', chat: friend, messageId: first });
  await sandbox.change(account.number, { kind: 'clear', chat: friend });
  await sandbox.change(account.number, { kind: 'delete', chat: friend });
  await sandbox.change(account.number, { kind: 'star', chat: friend, messageId: second, on: true });
  await until(async () => (await stored(account, second))?.['starred'] === true, 'the last change is stored');
  await wait(100);
  assert.deepEqual([(await found(account)).length, (await stored(account, first))?.['text']], [2, 'one']);
  assert.ok(await account.chatOf(friendId));
});
