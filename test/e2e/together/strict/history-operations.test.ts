/** Tests older messages, which only the phone has: the request to the phone, its answer, and the stored result. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Json, tryRows } from '#test/support/operation-rows.ts';
import { contact } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

const bench = tryRows([
  {
    title: 'refuses a request without a number',
    call: 'POST /message/history-sync',
    body: () => ({}),
    status: 400,
    answer: () => ({ error: 'number is required' }),
  },
  {
    title: 'refuses an unknown message',
    call: 'POST /message/history-sync',
    body: () => ({ number: contact, mode: 'exact', messageid: 'NOTHING' }),
    status: 404,
    answer: () => ({ error: 'message not found' }),
  },
  {
    title: 'refuses a wait above 25 seconds',
    call: 'POST /message/history-sync',
    body: () => ({ number: contact, sync: true, timeoutMs: 25_001 }),
    status: 400,
    answer: () => ({ error: 'timeoutMs must be at most 25000' }),
  },
]);

const friend = '5511988880007';

const ask = async (body: Json, status = 200): Promise<Json> => {
  const answered = await bench.account.call('POST', '/message/history-sync', { number: friend, ...body });
  assert.equal(answered.status, status, JSON.stringify(answered.body));
  return answered.body;
};

const texts = async (): Promise<readonly string[]> => (await bench.account.messages(friend)).map(({ text }) => text).toReversed();

test('history: the phone sends the requested number of messages from before the link, and the answer says if there are more', async () => {
  const { sandbox } = bench.scene.platform;
  const late = await bench.scene.create();
  for (let n = 1; n <= 5; n += 1) await sandbox.send(friend, late.number, { kind: 'text', text: `old ${n}` });
  bench.account = late;
  await late.pair(bench.scene.platform);
  await until(async () => (await texts()).length === 5, 'what the phone hands over by itself');
  const all = await bench.account.messages(friend);
  // All messages have the same second, so the test knows their order from their texts.
  const newest = all.find(({ text }) => text === 'old 5')?.messageid ?? '';
  const answer = await ask({ messageid: newest, count: 2, sync: true, requestId: 'first' });
  assert.deepEqual(answer['details'], { chatid: `${friend}@s.whatsapp.net`, state: 'answered', messages: 2, more: true });
  assert.deepEqual(answer['next_request'], { number: `${friend}@s.whatsapp.net`, mode: 'history', count: 2 });
  assert.equal((await texts()).length, 5, 'what is known is not stored again');
  await ask({ requestId: 'first' }, 409);
  const rest = await ask({ messageid: newest, mode: 'exact', count: 50, sync: true });
  assert.deepEqual(rest['details'], { chatid: `${friend}@s.whatsapp.net`, state: 'answered', messages: 4, more: false });
});

test('history: a request waits for a phone that is off as long as the caller says, and stays listed', async () => {
  const { sandbox } = bench.scene.platform;
  await sandbox.putPerson({ number: bench.account.number, asleep: true });
  const begun = Date.now();
  const answer = await ask({ sync: true, timeoutMs: 300, requestId: 'silent', fallbackMode: 'exact' });
  // Without `timeoutMs` the caller waits 25 s.
  assert.ok(Date.now() - begun < 20_000);
  assert.equal((answer['details'] as Json)['state'], 'pending');
  const { body } = await bench.account.call('GET', '/instance/history-sync/status');
  const requests = body['requests'] as readonly Json[];
  assert.deepEqual(
    requests.filter(({ request_id: id }) => id === 'first' || id === 'silent').map(({ request_id: id, state }) => [id, state]),
    [
      ['first', 'answered'],
      ['silent', 'pending'],
    ],
  );
  assert.ok(Number((body['initial'] as Json)['messages']) >= 5);
});

test('history: messages whose download first fails are downloaded again, and stored once', async () => {
  const { sandbox } = bench.scene.platform;
  const late = await bench.scene.create();
  await sandbox.fault({ kind: 'mediaGone', code: 503, times: 2 });
  await late.scan(bench.scene.platform, { history: { chats: 18, messages: 50 } });
  const past = async (): Promise<number> => {
    const { body } = await late.call('POST', '/message/find', { limit: 1_000 });
    return (body['messages'] as readonly unknown[]).length;
  };
  await until(async () => (await past()) === 900, 'the whole past, though its files were refused at first');
  assert.equal((await sandbox.fault({ kind: 'mediaGone', times: 0 })).hit, 0, 'both refusals happened');
});

test('history: the gateway sends the platform no unknown request', () =>
  assert.deepEqual(bench.scene.platform.sandbox.stats().unknown, {}));
