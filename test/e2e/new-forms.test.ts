/** Requests in the forms of the summer of 2026, on a platform that refuses the older ones. */
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

test('new forms: numbers are looked up, those with an account and those without', async () => {
  const absent = '5511988887001';
  await scene.platform.sandbox.putPerson({ number: absent, absent: true });
  const { status, body } = await account.call('POST', '/chat/check', { numbers: ['5511988887002', absent] });
  assert.equal(status, 200, JSON.stringify(body));
  const found = (body as unknown as readonly { query: string; isInWhatsapp: boolean }[]).map(({ isInWhatsapp }) => isInWhatsapp);
  assert.deepEqual(found, [true, false]);
  assert.equal((await account.send('5511988887003', 'hello')).status, 200);
});

test('new forms: a text goes to the LID and names the number, to a contact and to a stranger', async () => {
  for (const number of [contact, '5511988887004']) {
    assert.equal((await account.send(number, `to ${number}`)).status, 200);
    await until(() => scene.readBy(number).has(`to ${number}`), 'it is read');
  }
});

test('new forms: a group is created', async () => {
  const { status, body } = await account.call('POST', '/group/create', { name: 'team', participants: [contact] });
  assert.equal(status, 200, JSON.stringify(body));
});

test('new forms: a community is created', async () => {
  const { status, body } = await account.call('POST', '/community/create', { name: 'town' });
  assert.equal(status, 200, JSON.stringify(body));
});

test('new forms: typing is seen', async () => {
  const seen: string[] = [];
  const stop = scene.platform.sandbox.subscribe((event) => {
    if (event.type === 'presence') seen.push(event.state);
  });
  assert.equal((await account.call('POST', '/message/presence', { number: contact, presence: 'composing', delay: 500 })).status, 200);
  await until(() => seen.includes('composing'), 'the contact sees it');
  stop();
});
