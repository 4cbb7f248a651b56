/** Accounts and people of whom the platform tells less than usual: an account without a name, a number without a LID. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
before(async () => {
  scene = await Scene.open();
});
after(() => scene.close());

test('presence: it is sent while the own name is not known', async () => {
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
    await until(() => sandbox.account(account.number).online === (presence === 'available'), `the account is ${presence}`, 5_000);
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
