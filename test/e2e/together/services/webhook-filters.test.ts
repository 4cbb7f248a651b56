/** Tests several webhooks of one instance, each with its own filter, with everyday messages of a contact, a group, the API and the phone. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { messageFilters } from '#actors/model.ts';
import type { Account } from '#test/support/account.ts';
import { Receivers, type Heard } from '#test/support/hostile-receivers.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
let account: Account;
const receivers = new Receivers();
const heard: Heard[] = [];

before(async () => {
  scene = await Scene.open({ SEND_TIMEOUT_MS: '60000' });
  account = await scene.paired();
});
after(async () => {
  await receivers.close();
  await scene?.close();
});

/** The messages that pass each filter. `wasSentByApi` and `fromMeYes` differ in messages that the account writes on its phone. */
const left: Readonly<Record<string, readonly string[]>> = {
  none: ['api', 'contact', 'group', 'phone'],
  wasSentByApi: ['contact', 'group', 'phone'],
  wasNotSentByApi: ['api'],
  fromMeYes: ['contact', 'group'],
  fromMeNo: ['api', 'phone'],
  isGroupYes: ['api', 'contact', 'phone'],
  isGroupNo: ['group'],
  'wasSentByApi,isGroupYes': ['contact', 'phone'],
  'retired,toString': ['api', 'contact', 'group', 'phone'],
};

interface Page {
  readonly deliveries: readonly unknown[];
}

test('webhooks: each of nine webhooks gets the messages that pass its filter, at its own address with the event in the path', async () => {
  const url = await receivers.friendly(heard);
  const ids = new Map<string, string>();
  for (const name of Object.keys(left)) {
    const { status, body } = await account.call('POST', '/webhook', {
      action: 'add',
      enabled: true,
      url: `${url}/${name}?key=a/b`,
      events: ['messages'],
      addUrlEvents: true,
      addUrlTypesMessages: true,
      ...(name === 'none' ? {} : { excludeMessages: name.split(',') }),
    });
    assert.equal(status, 200, JSON.stringify(body));
    ids.set(name, (body as unknown as readonly { readonly id: string }[]).at(-1)?.id ?? '');
  }
  assert.deepEqual(
    messageFilters.filter((name) => !ids.has(name)),
    [],
  );

  const { sandbox } = scene.platform;
  const { jid } = await sandbox.createGroup({ subject: 'Team', creator: contact, participants: [account.number] });
  const texts = new Map<string, string>();
  texts.set((await sandbox.send(contact, account.number, { kind: 'text', text: 'contact' })).id, 'contact');
  texts.set((await sandbox.send(contact, jid, { kind: 'text', text: 'group' })).id, 'group');
  texts.set((await sandbox.send(account.number, contact, { kind: 'text', text: 'phone' })).id, 'phone');
  const sent = await account.send(contact, 'api');
  texts.set(String(sent.body['messageid']), 'api');

  const nameOf = (one: Heard): string => decodeURIComponent(one.url.split('/')[2] ?? '');
  const toldTo = (name: string): string[] =>
    heard
      .filter((one) => nameOf(one) === name)
      .map(({ body }) => texts.get((body['message'] as { readonly messageid: string }).messageid) ?? '')
      .toSorted();
  await until(
    () => Object.entries(left).every(([name, wanted]) => wanted.every((text) => toldTo(name).includes(text))),
    () => `every webhook hears its part; they heard ${[...ids.keys()].map((name) => `${name}: ${toldTo(name).join(' ')}`).join('; ')}`,
    120_000,
  );
  for (const [name, wanted] of Object.entries(left)) {
    assert.deepEqual(toldTo(name), wanted, name);
    // A delivery is stored together with its event, so no further delivery can follow.
    const { deliveries } = (await account.call('GET', `/webhook/deliveries?webhook=${ids.get(name) ?? ''}`)).body as unknown as Page;
    assert.equal(deliveries.length, wanted.length, name);
  }
  for (const one of heard) {
    const { messageType } = one.body['message'] as { readonly messageType: string };
    assert.equal(one.url, `/hook/${nameOf(one)}/messages/${messageType}?key=a/b`);
  }
});
