/** Tests deletions of waiting messages, and changes of messages that Chatwoot does not have yet. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Account } from '#test/support/account.ts';
import { ChatwootStandIn } from '#test/support/chatwoot/stand-in.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
let desk: ChatwootStandIn;
let account: Account;
let sandbox: Scene['platform']['sandbox'];
let conversation = 0;
before(async () => {
  scene = await Scene.open({ WEBHOOK_QUICK_RETRIES_MS: '0,50,100', WEBHOOK_SLOW_RETRIES_MS: '200,400,800,1600,3200' });
  desk = await ChatwootStandIn.open();
  account = await scene.paired();
  await desk.connect(account);
  ({ sandbox } = scene.platform);
  await scene.write(account, 'hello');
  await until(() => desk.texts().includes('hello'), 'the conversation is there');
  conversation = desk.world.messages[0]?.conversationId ?? 0;
});
after(async () => {
  await scene?.close();
  await desk?.close();
});
type Written = ReturnType<ChatwootStandIn['write']>;

const remove = (written: Written): void => {
  written.attributes = { deleted: true };
  desk.world.changed('message_updated', written);
};
const came = (text: string): boolean => sandbox.received(contact).some((one) => one.text === text);
/** True if the phone of the contact shows the text. */
const isShown = (text: string): boolean => sandbox.shown(contact, account.number).some((one) => one.text === text);
const pace = async (seconds: number): Promise<void> => {
  const { status } = await account.call('POST', '/instance/updateDelaySettings', { msg_delay_min: seconds, msg_delay_max: seconds });
  assert.equal(status, 200);
};
const pending = async (): Promise<number> =>
  ((await account.call('GET', '/message/async')).body['queue'] as { readonly pending: number }).pending;

test('deletion: a queued message that an agent deletes is never sent, and is not shown as failed', async () => {
  await pace(60);
  const first = desk.write(conversation, 'paced');
  await until(() => first.status === 'delivered', 'the first one is delivered');
  const mistake = desk.write(conversation, 'to the wrong customer');
  await until(async () => (await pending()) === 1, 'it waits');
  remove(mistake);
  await until(async () => (await pending()) === 0, 'it is taken out');
  await pace(0);
  const last = desk.write(conversation, 'to the right customer');
  await until(() => last.status === 'delivered', 'the next one is delivered');
  assert.equal(came('to the wrong customer'), false);
  assert.notEqual(mistake.status, 'failed');
});

test('deletion: messages that an agent deletes right after writing are deleted on the phone, or never sent', async () => {
  const texts = Array.from({ length: 12 }, (_, at) => `quick ${at}`);
  await Promise.all(
    texts.map(async (text, at) => {
      const written = desk.write(conversation, text);
      await wait(at * 5);
      remove(written);
    }),
  );
  const last = desk.write(conversation, 'the last one');
  await until(() => last.status === 'delivered', 'the last one is delivered');
  await until(
    () => !texts.some(isShown),
    () => `all are gone; there are ${texts.filter(isShown).join(', ')}`,
  );
});

test('deletion: a deletion that Chatwoot posts before the message prevents the send', async () => {
  const told = desk.hookUrl;
  desk.hookUrl = '';
  const written = desk.write(conversation, 'never');
  desk.hookUrl = told;
  remove(written);
  await desk.told();
  written.attributes = {};
  desk.world.changed('message_created', written);
  const last = desk.write(conversation, 'behind it');
  await until(() => last.status === 'delivered', 'the next one is delivered');
  assert.equal(came('never'), false);
});

test('deletion: POST /message/delete of a queued text cancels the send, and needs no session', async () => {
  assert.equal((await account.call('POST', '/instance/hibernate')).status, 200);
  await account.reaches('hibernated');
  await pace(60);
  const texts = await Promise.all(
    ['one', 'two', 'three'].map((text) => account.call('POST', '/send/text', { number: contact, text: `queued ${text}`, async: true })),
  );
  const ids = texts.map(({ body }) => String(body['messageid']));
  const removed = await account.call('POST', '/message/delete', { id: ids[2] });
  assert.deepEqual([removed.status, removed.body['id']], [200, ids[2]], JSON.stringify(removed.body));
  const stored = async (id = '') => (await account.call('POST', '/message/find', { id })).body['messages'] as readonly { status: string }[];
  await until(async () => (await stored(ids[2]))[0]?.status === 'Canceled', 'it is cancelled');
  await pace(0);
  await until(async () => (await pending()) === 0, 'the others left');
  await until(() => came('queued two'), 'the second one came');
  assert.equal(came('queued three'), false);
});

test('revision: a change of a message that Chatwoot refused for a while follows as soon as Chatwoot has the message', async () => {
  let isIll = true;
  desk.refusesAll = () => isIll;
  const { id } = await sandbox.send(contact, account.number, { kind: 'text', text: 'while it is ill' });
  await sandbox.send(contact, account.number, { kind: 'reaction', messageId: id, emoji: '👍' });
  await sandbox.send(contact, account.number, { kind: 'delete', messageId: id });
  await scene.told([id]);
  // The outage is longer than the quick retries, so later changes overtake the message.
  await wait(1_000);
  isIll = false;
  const message = await until(() => desk.world.messages.find(({ content }) => content === 'while it is ill'), 'it is there');
  const notes = await until(
    () => {
      const found = desk.world.messages.filter(({ attributes }) => attributes['in_reply_to'] === message.id);
      return found.length === 2 && found;
    },
    () => `two notes; agents see ${desk.texts().join(' | ')}`,
  );
  assert.deepEqual(notes.map(({ content }) => /reacted with 👍$|deleted this message$/.exec(content)?.[0]).toSorted(), [
    'deleted this message',
    'reacted with 👍',
  ]);
});
