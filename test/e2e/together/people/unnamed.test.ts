/** Tests accounts and people with incomplete data of the platform: an account without a name, a number without a LID, a person without a number. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
before(async () => {
  scene = await Scene.open();
});
after(() => scene.close());

test('presence: the gateway sends presence even if the name of the account is unknown, and again after a reconnect', async () => {
  const account = await scene.create();
  const qrcode = async () => (await account.seen()).qrcode || undefined;
  await account.call('POST', '/instance/connect', {});
  await scene.platform.scan({ qrcode: await until(qrcode, 'a picture'), number: account.number });
  await account.reaches('connected');
  const { sandbox } = scene.platform;
  assert.equal(sandbox.people().find(({ number }) => number === account.number)?.name, '');
  for (const presence of ['available', 'unavailable']) {
    const { status, body } = await account.call('POST', '/instance/presence', { presence });
    assert.equal(status, 200, JSON.stringify(body));
    const isShown = (): boolean => sandbox.account(account.number).online === (presence === 'available');
    await until(isShown, `the account is ${presence}`);
    assert.equal((await account.call('POST', '/instance/reset')).status, 200);
    await account.reaches('connected');
    await until(isShown, `the account is ${presence} again`);
  }
});

test('a number without a LID: messages go to the number', async () => {
  const account = await scene.paired();
  const { sandbox } = scene.platform;
  const plain = '5511988870077';
  await sandbox.putPerson({ number: plain, withoutLid: true });
  for (const text of ['first', 'second']) {
    const { status, body } = await account.send(plain, text);
    assert.equal(status, 200, JSON.stringify(body));
  }
  await until(() => scene.readBy(plain).has('second'), 'the texts are read');
  assert.deepEqual([...scene.readBy(plain)], ['first', 'second']);
});

test('a person without a number: replies, reactions and receipts go to the LID, and the chat joins that of the number later', async () => {
  const account = await scene.paired();
  const { sandbox } = scene.platform;
  const number = '5511988870078';
  const { lid } = await sandbox.putPerson({ number, withoutNumber: true, name: 'Hidden' });
  const chat = `${lid}@lid`;
  const find = async (chatid: string) => {
    const { body } = await account.call('POST', '/message/find', { chatid, limit: 100 });
    return body['messages'] as readonly { readonly messageid: string; readonly text: string; readonly chatid: string }[];
  };
  const { id } = await sandbox.send(number, account.number, { kind: 'text', text: 'who am I?' });
  const message = await until(async () => (await find(chat)).find(({ messageid }) => messageid === id), 'the text is stored');
  assert.deepEqual([message.text, message.chatid], ['who am I?', chat]);

  const answered = await account.send(chat, 'a friend');
  assert.equal(answered.status, 200, JSON.stringify(answered.body));
  const reacted = await account.call('POST', '/message/react', { id, text: '👍' });
  assert.equal(reacted.status, 200, JSON.stringify(reacted.body));
  await until(() => scene.readBy(number).has('a friend') && scene.readBy(number).has('👍'), 'the person reads both');

  const read: string[] = [];
  const stop = sandbox.subscribe((event) => {
    if (event.type === 'receipt' && event.kind === 'read') read.push(event.id);
  });
  const marked = await account.call('POST', '/message/markread', { id: [id] });
  assert.equal(marked.status, 200, JSON.stringify(marked.body));
  await until(() => read.includes(id), 'the person is told that its text was read');
  stop();

  const blocked = await account.call('POST', '/chat/block', { number: chat, block: true });
  assert.equal(blocked.status, 400, JSON.stringify(blocked.body));
  assert.match(String(blocked.body['error']), /number of this person is not known/);

  await sandbox.putPerson({ number, withoutNumber: false });
  await sandbox.send(number, account.number, { kind: 'text', text: 'my number' });
  const phone = `${number}@s.whatsapp.net`;
  await until(async () => {
    const texts = (await find(phone)).map(({ text }) => text);
    return ['my number', 'who am I?', 'a friend'].every((text) => texts.includes(text));
  }, 'all texts are stored under the number');
  assert.equal((await account.call('POST', '/chat/block', { number: chat, block: true })).status, 200);
});

test('a person without a number: a client that knows the number reaches the person by it', async () => {
  const account = await scene.paired();
  const number = '5511988870079';
  await scene.platform.sandbox.putPerson({ number, withoutNumber: true });
  const { status, body } = await account.send(number, 'found you');
  assert.equal(status, 200, JSON.stringify(body));
  await until(() => scene.readBy(number).has('found you'), 'the text is read');
});
