/** Tests another account on an instance that had one. It is refused, or starts without any data of the former account. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Account } from '#test/support/account.ts';
import { ChatwootStandIn } from '#test/support/chatwoot/stand-in.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '#test/support/until.ts';

let scene: Scene;
before(async () => {
  scene = await Scene.open();
});
after(() => scene.close());

const refusal = /another account than before was refused/;

const pace = async (account: Account, seconds: number): Promise<void> => {
  const { status } = await account.call('POST', '/instance/updateDelaySettings', { msg_delay_min: seconds, msg_delay_max: seconds });
  assert.equal(status, 200);
};

/** Makes an instance with a chat, a contact, a campaign and a queued text of its account, and logs the account out. */
const left = async (): Promise<Account> => {
  const account = await scene.paired();
  await scene.works(account);
  await pace(account, 3600);
  for (const text of ['first', `queued by ${account.number}`]) {
    const queued = await account.call('POST', '/send/text', { number: contact, text, async: true });
    assert.equal(queued.status, 200, JSON.stringify(queued.body));
  }
  const campaign = { numbers: [contact], type: 'text', text: `campaign of ${account.number}`, delayMin: 1, delayMax: 1 };
  const made = await account.call('POST', '/sender/simple', { ...campaign, folder: 'x', scheduled_for: Date.now() + 10_000 });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  assert.equal((await account.call('POST', '/instance/disconnect')).status, 200);
  await account.reaches('disconnected');
  return account;
};

const otherPhone = (account: Account): string => account.number.replace('5511', '5521');

const scanned = async (account: Account, number: string, body: object): Promise<void> => {
  const { status } = await account.call('POST', '/instance/connect', body);
  assert.equal(status, 200);
  const qrcode = await until(async () => (await account.seen()).qrcode || undefined, 'a picture');
  await scene.platform.scan({ qrcode, number, name: 'Another' });
};

const textsOf = async (account: Account): Promise<readonly string[]> => (await account.messages(contact)).map(({ text }) => text);

test('account: another account on the instance is refused and changes nothing, and the former account can link again', async () => {
  const account = await left();
  const before = await textsOf(account);
  await assert.rejects(scanned(account, otherPhone(account), {}), /the client refused to be linked/);
  await until(async () => refusal.test((await account.seen()).lastDisconnectReason), 'it is refused');
  await account.reaches('disconnected');
  assert.equal((await account.seen()).owner, account.number);
  assert.deepEqual(await textsOf(account), before);
  assert.equal(scene.platform.sandbox.stats().logins.byNumber[otherPhone(account)] ?? 0, 0, 'nothing logged in');
  const devices = (number: string) => scene.platform.sandbox.people().find((one) => one.number === number)?.devices ?? [];
  assert.deepEqual(devices(otherPhone(account)), [], 'its phone lists no device');
  await account.pair(scene.platform);
  await pace(account, 0);
  await until(() => scene.readBy(contact).has(`queued by ${account.number}`), 'what waited goes from the account that it was meant for');
  await until(() => scene.readBy(contact).has(`campaign of ${account.number}`), 'the campaign goes on');
});

test('account: a pairing code for another number is refused at once, without a connection', async () => {
  const account = await left();
  const { status, body } = await account.call('POST', '/instance/connect', {
    phone: otherPhone(account).replace(/.$/, '9').replace(/\d\d$/, '77'),
  });
  assert.equal(status, 409, JSON.stringify(body));
  assert.match(String(body['error']), /allowAccountChange/);
});

test('account: with allowAccountChange the instance starts empty, reports the change, and sends nothing of the former account', async () => {
  const account = await left();
  const { id } = await account.seen();
  const other = otherPhone(account);
  await scanned(account, other, { allowAccountChange: true });
  await account.reaches('connected');
  const seen = await account.seen();
  assert.deepEqual([seen.id, seen.owner], [id, other]);
  assert.deepEqual(await textsOf(account), []);
  const { body } = await account.call('POST', '/chat/find', {});
  assert.deepEqual(body['chats'], []);
  assert.deepEqual((await account.call('GET', '/sender/listfolders')).body, []);
  const told = await until(
    () => scene.receiver.posted.find(({ body: event }) => event['type'] === 'AccountChanged' && event['token'] === account.token),
    'an event tells it',
  );
  assert.deepEqual([told.body['EventType'], told.body['formerOwner'], told.body['owner']], ['connection', account.number, other]);
  const now = Account.of(scene.gateway, other, account.token);
  await pace(now, 0);
  await scene.works(now);
  const read = scene.readBy(contact);
  assert.ok(!read.has(`queued by ${account.number}`) && !read.has(`campaign of ${account.number}`));
  assert.equal((await textsOf(now)).length, 2);
});

test('account: a waiting Chatwoot message for the former account is shown as failed, and the new account never sends it', async (t) => {
  const desk = await ChatwootStandIn.open();
  t.after(() => desk.close());
  const account = await scene.paired();
  await desk.connect(account);
  await scene.write(account, 'hello from a customer');
  await until(() => desk.texts().includes('hello from a customer'), 'the conversation is there');
  assert.equal((await account.call('POST', '/instance/disconnect')).status, 200);
  await account.reaches('disconnected');
  const answer = `for the customer of ${account.number}`;
  const written = desk.write(desk.world.messages[0]?.conversationId ?? 0, answer);
  await desk.told();
  // The message waits for the session.
  await wait(500);
  assert.notEqual(written.status, 'failed');
  const other = otherPhone(account);
  await scanned(account, other, { allowAccountChange: true });
  await account.reaches('connected');
  await until(() => written.status === 'failed', 'the agent sees that it was not sent');
  await scene.works(Account.of(scene.gateway, other, account.token));
  assert.equal(scene.readBy(contact).has(answer), false);
});

test('account: undelivered events of the former account, also those in quick retries, are not delivered after the change', async (t) => {
  let takes = false;
  const posted: { readonly owner: string; readonly told: string }[] = [];
  const receiver = createServer((request, response) => {
    void text(request).then((body) => {
      const { owner } = JSON.parse(body) as { readonly owner: string };
      if (takes) posted.push({ owner, told: body });
      response.writeHead(takes ? 200 : 503).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  t.after(() => receiver.close());
  const account = await scene.paired();
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  assert.equal((await account.call('POST', '/webhook', { url, enabled: true, events: ['messages'] })).status, 200);
  const people = Array.from({ length: 12 }, (_, at) => `55119777700${10 + at}`);
  const write = (of: string) =>
    Promise.all(people.map((one) => scene.platform.sandbox.send(one, account.number, { kind: 'text', text: `for ${of} alone` })));
  await write(account.number);
  const waiting = async (): Promise<string> => JSON.stringify((await account.call('GET', '/webhook/deliveries')).body);
  await until(async () => (await waiting()).includes('messages'), 'the event waits');
  const failures = async (): Promise<string> => JSON.stringify((await account.call('GET', '/webhook/errors')).body);
  await until(async () => (await failures()).includes('alone'), 'its failures are told');
  await write(account.number);
  assert.equal((await account.call('POST', '/instance/disconnect')).status, 200);
  await account.reaches('disconnected');
  const other = otherPhone(account);
  await scanned(account, other, { allowAccountChange: true });
  await account.reaches('connected');
  takes = true;
  assert.ok(!(await failures()).includes('alone'), 'failures of the account before are forgotten');
  await scene.platform.sandbox.send(contact, other, { kind: 'text', text: 'for the new one' });
  await until(() => posted.some(({ told }) => told.includes('for the new one')), 'events of the new account arrive');
  // The quick retries take some seconds.
  await wait(6_000);
  assert.ok(!(await failures()).includes('alone'));
  assert.deepEqual([...new Set(posted.map(({ owner }) => owner))], [other]);
  assert.deepEqual(
    posted.filter(({ told }) => told.includes('alone')),
    [],
  );
});
