/** Tests `Idempotency-Key`. For any repetition by a client, and any kill, the phone gets one message. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Account } from '#test/support/account.ts';
import type { Answer } from '#test/support/gateway.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
let account: Account;
before(async () => {
  scene = await Scene.open();
  account = await scene.paired();
  await scene.works(account);
});
after(() => scene.close());

const send = (key: string, body: object, of = account): Promise<Answer> =>
  scene.gateway.call('POST', '/send/text', {
    token: of.token,
    body: { number: contact, ...body },
    headers: { 'idempotency-key': key },
  });

/** Returns how many times the contact read the text. */
const read = (text: string): number => scene.platform.sandbox.received(contact).filter((message) => message.text === text).length;

/** Waits until a later text has arrived, so that no earlier one is on its way. */
const settled = async (): Promise<void> => {
  const last = `last ${Math.random()}`;
  assert.equal((await account.send(contact, last)).status, 200);
  await until(() => read(last) === 1, 'the last text arrives');
};

test('Idempotency-Key: twenty simultaneous requests send one message, and all get the same answer', async () => {
  const body = { text: 'twenty', track_id: 'order 7', delay: 50 };
  const answers = await Promise.all(Array.from({ length: 20 }, () => send('twenty', body)));
  await settled();
  assert.equal(read('twenty'), 1);
  assert.equal(answers[0]?.status, 200, JSON.stringify(answers[0]?.body));
  // The order of the fields in a body does not matter.
  const later = await send('twenty', { delay: 50, track_id: 'order 7', text: 'twenty' });
  for (const { status, body: answer } of [...answers, later]) assert.deepEqual([status, answer], [200, answers[0]?.body]);
});

test('Idempotency-Key: another body with the same key gets a 409, before a restart and after it', async () => {
  assert.equal((await send('taken', { text: 'first' })).status, 200);
  for (let run = 0; run < 2; run += 1) {
    const other = await send('taken', { text: 'second' });
    assert.deepEqual([other.status, other.body], [409, { error: 'the Idempotency-Key was used with another request' }]);
    await scene.gateway.end('SIGKILL');
    await scene.gateway.start();
    await account.reaches('connected');
  }
  await settled();
  assert.deepEqual([read('first'), read('second')], [1, 0]);
});

test('Idempotency-Key: each instance has keys of its own', async () => {
  const other = await scene.paired();
  for (const one of [account, other, account, other]) assert.equal((await send('shared', { text: 'of two' }, one)).status, 200);
  await settled();
  assert.equal(read('of two'), 2);
});

test('Idempotency-Key: a request without a connected session does not use up the key', async () => {
  const other = await scene.create();
  assert.equal((await send('free', { text: 'too early' }, other)).status, 409);
  await other.pair(scene.platform);
  assert.equal((await send('free', { text: 'in time' }, other)).status, 200);
});

test('Idempotency-Key: after a kill between sending and answering, the same key sends nothing more and returns the message', async () => {
  await scene.platform.sandbox.fault({ kind: 'noAck', number: account.number });
  const lost = send('killed', { text: 'killed' }).catch(() => null);
  await until(() => read('killed') === 1, 'the text arrives');
  await scene.gateway.end('SIGKILL');
  assert.equal(await lost, null);
  await scene.gateway.start();
  await account.reaches('connected');
  const again = await send('killed', { text: 'killed' });
  const [arrived] = scene.platform.sandbox.received(contact).filter(({ text }) => text === 'killed');
  assert.equal(again.body['messageid'], arrived?.id, JSON.stringify(again.body));
  assert.ok([200, 504].includes(again.status), `status ${again.status}`);
  // The platform repeats the contact's receipt, which shows that the message arrived.
  await until(async () => (await send('killed', { text: 'killed' })).status === 200, 'the receipt makes a success of it');
  await settled();
  assert.equal(read('killed'), 1);
});

test('Idempotency-Key: a message in the asynchronous queue is sent once after a kill', async () => {
  const first = await send('queued', { text: 'queued', async: true });
  await scene.gateway.end('SIGKILL');
  await scene.gateway.start();
  const again = await send('queued', { text: 'queued', async: true });
  assert.deepEqual([first.status, again.status, again.body], [200, 200, first.body]);
  await account.reaches('connected');
  await until(() => read('queued') === 1, 'the text arrives');
  await settled();
  assert.equal(read('queued'), 1);
});

const bad: readonly (readonly [title: string, key: string])[] = [
  ['empty', ''],
  ['of 256 characters', 'k'.repeat(256)],
  ['with letters outside of ASCII', 'chave-é'],
];
for (const [title, key] of bad)
  test(`Idempotency-Key: a key ${title} gets a 400 that names the header`, async () => {
    const { status, body } = await send(key, { text: 'never' });
    assert.equal(status, 400);
    assert.match(String(body['error']), /^idempotency-key /);
    assert.equal(read('never'), 0);
  });
