/** Tests people whose names look like a part of an address. Their messages arrive, and a killed gateway reads them again. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
before(async () => {
  scene = await Scene.open();
});
after(() => scene.close());

test('names: messages of people with the names Shop@ and Meet 5:30@Bar keep these names over three kills', async () => {
  const account = await scene.paired();
  const logins = scene.logins(account);
  const ids: string[] = [];
  for (const name of ['Shop@', 'Meet 5:30@Bar', '@']) {
    await scene.platform.sandbox.putPerson({ number: contact, name });
    const id = await scene.write(account, `written by ${name}`);
    ids.push(id);
    const found = await until(
      async () =>
        (await account.messages(contact)).find(({ messageid }) => messageid === id) as { readonly senderName?: string } | undefined,
      `the text of ${name} is stored`,
    );
    assert.equal(found.senderName, name);
  }
  assert.equal(scene.logins(account), logins);
  for (let kill = 0; kill < 3; kill += 1) {
    const written = await Promise.all(Array.from({ length: 100 }, (_, n) => scene.write(account, `${n} before the kill ${kill}`)));
    ids.push(...written);
    // The kill comes when some messages are in the log of arrivals, but not yet stored.
    await until(
      async () => (await account.messages(contact)).some(({ messageid }) => written.includes(messageid)),
      'the first one is stored',
    );
    await scene.gateway.end('SIGKILL');
    await scene.gateway.start();
    await account.reaches('connected');
  }
  await scene.stored(account, ids);
  await scene.told(ids);
});
