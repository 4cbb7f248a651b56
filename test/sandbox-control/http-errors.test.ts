/** Tests the simulated platform as a whole on its port: errors before the router, and the log of sent messages over a restart. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { SentMessage } from '#src/sandbox/store/queue.ts';
import { startSandbox, type RunningSandbox } from '#src/sandbox/server.ts';
import { Database } from '#src/sandbox/store/database.ts';
import { SentStore } from '#src/sandbox/store/queue.ts';
import { removeFolder, temporaryFolder } from '#test/support/processes.ts';
import { sendRaw } from '#test/support/raw-http.ts';

const dataDir = temporaryFolder();
let running: RunningSandbox = await startSandbox({ port: 0, dataDir });
after(async () => {
  await running.stop();
  await removeFolder(dataDir);
});
const address = (): string => `http://127.0.0.1:${running.port}`;

const head = 'Host: 127.0.0.1\r\nConnection: close\r\n';
const upgrade = 'Host: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n';
const key = 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
const broken: readonly (readonly [title: string, bytes: string, status: number, error: string])[] = [
  ['no HTTP at all', 'hello\r\n\r\n', 400, 'this is not a valid HTTP request'],
  ['a method that does not exist', `NOPE / HTTP/1.1\r\n${head}\r\n`, 400, 'this is not a valid HTTP request'],
  ['headers without end', `GET / HTTP/1.1\r\n${head}x: ${'y'.repeat(40_000)}\r\n\r\n`, 431, 'the headers are too large'],
  ['an expectation', `POST /faults HTTP/1.1\r\n${head}Content-Length: 2\r\nExpect: foo\r\n\r\n{}`, 417, 'the expectation cannot be met'],
  ['no host', 'GET /stats HTTP/1.1\r\nConnection: close\r\n\r\n', 403, 'this interface answers requests to loopback names only'],
  ['an upgrade elsewhere', `GET /events HTTP/1.1\r\n${upgrade}${key}\r\n`, 404, 'only /ws/chat can be upgraded'],
  ['an upgrade without a key', `GET /ws/chat HTTP/1.1\r\n${upgrade}\r\n`, 400, 'Missing or invalid Sec-WebSocket-Key header'],
  ['an upgrade by POST', `POST /ws/chat HTTP/1.1\r\n${upgrade}${key}\r\n`, 400, 'Invalid HTTP method'],
];
for (const [title, bytes, status, error] of broken)
  test(`control: ${title} is answered with ${status} in the usual format`, async () => {
    const answer = await sendRaw(address(), bytes);
    assert.deepEqual([answer.status, JSON.parse(answer.body)], [status, { error }], answer.text);
    assert.match(answer.text, /^content-type: application\/json/im);
  });

const [ana, bruno] = ['5511988880001', '5511988880002'];
const call = async <T>(path: string, body?: object): Promise<T> => {
  const sent = body === undefined ? {} : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(address() + path, sent);
  assert.equal(response.status, 200);
  return (await response.json()) as T;
};
const sentBy = (number: string): Promise<readonly SentMessage[]> => call(`/contacts/${number}/sent`);
const confirm = (type: string) => call(`/contacts/${bruno}/receipts`, { type, chat: ana });

test('sent log: messages and their status survive a restart, and later receipts count', async () => {
  const { id } = await call<{ id: string }>(`/contacts/${ana}/messages`, { to: bruno, text: 'hello' });
  await call(`/contacts/${ana}/messages`, { to: bruno, type: 'reaction', messageId: id, emoji: '👍' });
  await confirm('read');
  const before = await sentBy(ana);
  assert.deepEqual(
    before.map(({ kind, text, status, about }) => [kind, text, status, about]),
    [
      ['text', 'hello', 'read', undefined],
      ['reaction', '👍', 'read', id],
    ],
  );
  await running.stop();
  running = await startSandbox({ port: 0, dataDir });
  assert.deepEqual(await sentBy(ana), before);
  await call(`/contacts/${bruno}/receipts`, { type: 'played', ids: [id] });
  await call(`/contacts/${ana}/messages`, { to: bruno, text: 'again' });
  await confirm('delivered');
  const now = await sentBy(ana);
  assert.deepEqual(
    now.map(({ text, status }) => [text, status]),
    [
      ['hello', 'played'],
      ['👍', 'read'],
      ['again', 'delivered'],
    ],
  );
  await running.stop();
  running = await startSandbox({ port: 0, dataDir });
  assert.deepEqual(await sentBy(ana), now);
});

test('sent log: the file keeps the newest messages only', async () => {
  const folder = temporaryFolder();
  const database = new Database(folder);
  const store = new SentStore(database);
  for (let n = 0; n < 30; n += 1) store.put({ id: `M${n}`, from: ana, to: bruno, at: n, kind: 'text', text: 'hi', status: 'sent' }, 20);
  store.confirm('M12', 'read');
  const all = store.all();
  assert.deepEqual([all.length, all[0]?.id, all[2]?.status, all.at(-1)?.id], [20, 'M10', 'read', 'M29']);
  database.close();
  await removeFolder(folder);
});
