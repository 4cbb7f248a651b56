/** Tests the event stream as `curl -N` shows it, byte by byte: the head, the frames, the comments, the end. */
import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import type { Account } from '#test/support/account.ts';
import { curl, hasCurl, type Curl } from '#test/support/curl.ts';
import { Scene } from '#test/support/scene.ts';

const reason = hasCurl ? '' : ' (left out: this machine has no curl)';
const withCurl = (name: string, run: (t: TestContext) => Promise<void>): void => {
  test(`curl -N: ${name}${reason}`, { skip: reason !== '' }, run);
};

let scene: Scene;
let account: Account;

before(async () => {
  if (!hasCurl) return;
  scene = await Scene.open({ STREAM_HEARTBEAT_MS: '300', LOG_LEVEL: 'trace', SEND_TIMEOUT_MS: '60000' });
  account = await scene.paired();
});
after(() => scene?.close());

const listen = (t: TestContext, query: string, ...args: readonly string[]): Curl =>
  curl(t, ...args, `${scene.gateway.address}/sse${query}`);
const stream = (t: TestContext, query: string, ...args: readonly string[]): Curl =>
  listen(t, `?token=${account.token}&events=${query}`, ...args);
/** Returns the head and the body of a printed response. */
const parts = (printed: string): readonly [string, string] => {
  const at = printed.indexOf('\r\n\r\n');
  return [printed.slice(0, at), printed.slice(at + 4)];
};
const frame = /^event: messages\ndata: (\{"type":"messages","data":\{.*\}\})\nid: (\S+)\n\n/m;

withCurl('a refused request gets JSON with its status, and no stream begins', async (t) => {
  const own = `?token=${account.token}`;
  const cases: readonly (readonly [string, string, string])[] = [
    ['', '401 Unauthorized', 'Unauthorized'],
    ['?events=messages', '401 Unauthorized', 'Unauthorized'],
    ['?token=nobody&events=nonsense', '401 Unauthorized', 'Unauthorized'],
    [own, '400 Bad Request', 'events is required'],
    [`${own}&events=,`, '400 Bad Request', 'events is required'],
    [`${own}&events=messages,sender`, '400 Bad Request', 'sender is not'],
  ];
  for (const [query, status, error] of cases) {
    const refused = listen(t, query);
    assert.equal(await refused.ended, 0);
    const [head, body] = parts(refused.printed());
    assert.match(head, new RegExp(`^HTTP/1\\.1 ${status}\r\n`));
    assert.match(head, /^content-type: application\/json/im);
    const answer = JSON.parse(body) as { readonly error: string };
    assert.deepEqual(Object.keys(answer), ['error']);
    assert.ok(answer.error.endsWith(error), answer.error);
  }
});

withCurl('the head comes at once, comments follow while nothing happens, and events come as named frames', async (t) => {
  const open = stream(t, 'messages');
  const [head] = parts(await open.prints(/^: keep-alive$/, 2));
  assert.match(head, /^HTTP\/1\.1 200 OK\r\n/);
  for (const line of [/^content-type: text\/event-stream/im, /^cache-control: no-cache\r$/im, /^access-control-allow-origin: \*\r$/im])
    assert.match(head, line);
  assert.ok(!open.printed().includes('event:'));
  const id = await scene.write(account, 'Oi');
  const [, data = '', event] = frame.exec(await open.prints(frame)) ?? [];
  const message = (JSON.parse(data) as { readonly data: Readonly<Record<string, unknown>> }).data;
  assert.deepEqual([message['messageid'], message['text'], typeof message['chat']], [id, 'Oi', 'object']);

  const missed = await scene.write(account, 'missed');
  await open.prints(new RegExp(missed));
  const again = stream(t, 'messages', '-H', `Last-Event-ID: ${event ?? ''}`);
  const resumed = await again.prints(frame);
  assert.ok(resumed.includes(missed) && !resumed.includes(id) && !resumed.includes('gap'), resumed);
  const late = stream(t, 'messages', '-H', 'Last-Event-ID: unknown');
  await late.prints(/^: gap: the events after the given Last-Event-ID are not kept any more$/);
});

withCurl('excluded events are left out, by the names of filters and by kinds of messages', async (t) => {
  const open = stream(t, 'messages', '-G', '-d', 'excludeMessages=poll,isGroupYes', '-d', 'excludeMessages=wasSentByApi');
  await open.prints(/^: stream open$/);
  await account.send('5511988880001', 'of the API');
  await scene.platform.sandbox.send('5511988880001', account.number, { kind: 'poll', name: 'Which?', options: ['a', 'b'] });
  const id = await scene.write(account, 'last');
  const printed = await open.prints(new RegExp(id));
  assert.equal(printed.match(/^event: /gm)?.length, 1, printed);
});

withCurl('the stream ends in order when its token is replaced or its instance deleted, and no log names a token', async (t) => {
  const other = await scene.create();
  const [first, second] = [stream(t, 'chats'), listen(t, `?token=${other.token}&events=chats`)];
  await Promise.all([first.prints(/^: stream open$/), second.prints(/^: stream open$/)]);
  const { body } = await account.call('POST', '/instance/token/rotate');
  assert.equal(await first.ended, 0);
  const refused = stream(t, 'chats');
  assert.equal(await refused.ended, 0);
  assert.match(refused.printed(), /^HTTP\/1\.1 401 /);
  assert.equal((await other.call('DELETE', '/instance')).status, 200);
  assert.equal(await second.ended, 0);
  for (const token of [account.token, other.token, String(body['token'])]) assert.ok(!scene.gateway.printed.includes(token));
  await scene.gateway.prints(/stream\.closed/);
});
