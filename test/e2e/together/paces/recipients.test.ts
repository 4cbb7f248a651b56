/** Tests first messages to unknown numbers. A number is looked up before, in the form of its account, at a limited pace, and a known one is not. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Account } from '#test/support/account.ts';
import type { Answer } from '#test/support/gateway.ts';
import { Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let scene: Scene;
let account: Account;
before(async () => {
  scene = await Scene.open({ LOOKUPS_AT_ONCE: '8', LOOKUP_EVERY_MS: '60000' });
  account = await scene.paired();
});
after(() => scene.close());

const asked = (): number => scene.platform.sandbox.stats().lookups.requests;
const read = (number: string): readonly string[] => scene.platform.sandbox.received(number).map(({ text }) => text);
const put = (number: string, change: object) => scene.platform.sandbox.putPerson({ number, ...change });
const jid = (number: string): string => `${number}@s.whatsapp.net`;
const sent = ({ status, body }: Answer): readonly unknown[] => [status, body['chatid'] ?? body['error']];

/** Waits for a message of the asynchronous queue. Returns its status and error. */
const outcomeOf = async ({ body }: Answer): Promise<readonly unknown[]> =>
  until(async () => {
    const found = await account.call('POST', '/message/find', { id: body['messageid'] });
    const [message] = found.body['messages'] as readonly Readonly<Record<string, unknown>>[];
    return message?.['status'] !== 'Queued' && [message?.['status'], message?.['error']];
  }, 'the message leaves the queue');

test('recipients: an account without the ninth digit is reached by the number with it, and has one chat', async () => {
  await put('551188880201', {});
  const before = asked();
  assert.deepEqual(sent(await account.send('5511988880201', 'first')), [200, jid('551188880201')]);
  assert.deepEqual(sent(await account.send('551188880201', 'second')), [200, jid('551188880201')]);
  assert.deepEqual(sent(await account.send('5511988880201', 'third')), [200, jid('551188880201')]);
  await until(() => read('551188880201').length === 3, 'all texts arrive');
  assert.deepEqual(read('551188880201'), ['first', 'second', 'third']);
  assert.ok(asked() - before <= 1, `${asked() - before} lookups`);
});

test('recipients: a number without an account gets a 404 with the reason, and no message is stored', async () => {
  await put('5511988880202', { absent: true });
  const before = asked();
  for (let n = 0; n < 3; n += 1)
    assert.deepEqual(sent(await account.send('5511988880202', 'nobody')), [404, `the number ${jid('5511988880202')} is not on WhatsApp`]);
  assert.equal(asked() - before, 1);
  assert.deepEqual(await account.messages('5511988880202'), []);
  // The owner of the number joins and writes, so no lookup is needed.
  await put('5511988880202', { absent: false });
  await scene.platform.sandbox.send('5511988880202', account.number, { kind: 'text', text: 'here I am' });
  await until(async () => (await account.messages('5511988880202')).length === 1, 'the text is stored');
  assert.deepEqual(sent(await account.send('5511988880202', 'welcome')), [200, jid('5511988880202')]);
  assert.equal(asked() - before, 1);
});

test('recipients: a queued message to a number without an account becomes Failed, and the other form of a number is used', async () => {
  await put('5511988880203', { absent: true });
  await put('551188880204', {});
  const nobody = await account.call('POST', '/send/text', { number: '5511988880203', text: 'nobody', async: true });
  const other = await account.call('POST', '/send/text', { number: '5511988880204', text: 'other form', async: true });
  assert.deepEqual([nobody.status, other.status], [200, 200]);
  assert.deepEqual(await outcomeOf(nobody), ['Failed', `the number ${jid('5511988880203')} is not on WhatsApp`]);
  await until(() => read('551188880204').includes('other form'), 'the text arrives');
});

test('recipients: an account that has migrated is reached by the LID of the lookup, also after a restart', async () => {
  await put('5511988880205', { migrated: true });
  const before = asked();
  assert.deepEqual(sent(await account.send('5511988880205', 'to the LID')), [200, jid('5511988880205')]);
  await until(() => read('5511988880205').length === 1, 'the text arrives');
  await scene.gateway.end('SIGKILL');
  await scene.gateway.start();
  await account.reaches('connected');
  const queued = await account.call('POST', '/send/text', { number: '5511988880205', text: 'again', async: true });
  await outcomeOf(queued);
  await until(() => read('5511988880205').length === 2, 'the second text arrives');
  assert.equal(asked() - before, 1);
});

test('recipients: a person who wrote first, a group and a LID are not looked up', async () => {
  const friend = '5511988880206';
  await scene.platform.sandbox.send(friend, account.number, { kind: 'text', text: 'hello' });
  await until(async () => (await account.messages(friend)).length === 1, 'the text is stored');
  const { jid: group } = await scene.platform.sandbox.createGroup({ subject: 'All', creator: friend, participants: [account.number] });
  const { lid } = await put(friend, {});
  const before = asked();
  for (const number of [friend, `${lid}@lid`, group]) assert.equal((await account.send(number, `to ${number}`)).status, 200);
  await until(() => read(friend).includes(`to ${group}`), 'the texts arrive');
  assert.equal(asked(), before);
});

test('recipients: a 429 of the platform is returned with its time for the next attempt, and lookups above the rate limit get a 429', async () => {
  await scene.platform.sandbox.fault({ kind: 'refuseLookups', number: account.number });
  const refused = await account.send('5511988880207', 'too many');
  assert.deepEqual(
    [refused.status, refused.body['provider_code'], refused.body['error_source'], refused.headers.get('retry-after')],
    [429, 429, 'whatsapp_server', '60'],
    JSON.stringify(refused.body),
  );
  const other = await scene.paired();
  const answers = [];
  for (let n = 0; n < 9; n += 1) answers.push(await other.send(`551198888030${n}`, 'new'));
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200, 200, 200, 200, 200, 429],
  );
  assert.ok(Number(answers.at(-1)?.headers.get('retry-after')) > 30);
  assert.equal(answers.at(-1)?.body['error'], 'too many new numbers were looked up: try again later');
});
