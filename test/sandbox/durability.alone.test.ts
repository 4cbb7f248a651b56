/** Kills the process during traffic and starts it again. Phones stay linked, and contacts can decrypt. */
import assert from 'node:assert/strict';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import type { ReceivedMessage, Stats } from '#src/sandbox/interface.ts';
import { closeCode, connect, eventuallyAsync, opened, qrOf, type Auth, type Client } from './client.ts';
import { freePort } from '#test/support/ports.ts';
import { endAfterTests } from '#test/support/together.ts';

const me = '5511999990051';
const friend = '5511988880051';
const main = new URL('../../src/sandbox/main.ts', import.meta.url);

let dataDir = '';
let child: ChildProcess;
let port = 0;
let auth: Auth;

async function start(): Promise<void> {
  child = fork(main, ['--port', String(port), '--data', dataDir, '--level', 'silent'], { silent: true });
  const [message] = (await once(child, 'message')) as [{ type: string; port: number }];
  assert.equal(message.type, 'ready');
  ({ port } = message);
}

async function end(signal: NodeJS.Signals): Promise<number | null> {
  const exited = once(child, 'exit') as Promise<[number | null]>;
  child.kill(signal);
  return (await exited)[0];
}

const call = async <T>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<T> => {
  const sent = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  // Each request opens a new connection, because a pooled one could lead to the killed process.
  const response = await request(`http://127.0.0.1:${port}${path}`, { method, reset: true, ...sent });
  const answer = (await response.body.json()) as T;
  assert.ok(response.statusCode < 300, `${method} ${path}: ${response.statusCode} ${JSON.stringify(answer)}`);
  return answer;
};

const received = async (): Promise<ReceivedMessage[]> => {
  const answer = await call<ReceivedMessage[] | { messages: ReceivedMessage[] }>('GET', `/contacts/${friend}/messages`);
  return Array.isArray(answer) ? answer : answer.messages;
};

const heard = (client: Client, id: string): boolean =>
  client.seen('messages.upsert').some(({ messages }) => messages.some(({ key, message }) => key.id === id && message));

async function online(): Promise<Client> {
  const trust = await call<{ noiseRoot: string; mediaAuthority: string }>('GET', '/trust');
  const client = connect({ port, sandbox: { trust: () => trust } }, auth);
  await opened(client);
  return client;
}

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'sandbox-kill-'));
  // No port of an outgoing connection, which could take it while the process is down.
  port = await freePort();
  await start();
  const trust = await call<{ noiseRoot: string; mediaAuthority: string }>('GET', '/trust');
  const client = connect({ port, sandbox: { trust: () => trust } });
  ({ auth } = client);
  await call('POST', '/phones/scan', { qr: await qrOf(client), number: me });
  assert.equal(await closeCode(client), 515);
});
after(async () => {
  await end('SIGKILL');
  await rm(dataDir, { recursive: true, force: true });
  endAfterTests();
});

test('kill -9 between texts: acknowledged texts are stored, and the next texts decrypt both ways', async () => {
  const acked: string[] = [];
  for (let round = 0; round < 2; round += 1) {
    const client = await online();
    client.sock.ws.on('CB:ack,class:message', ({ attrs }: { attrs: Record<string, string> }) => acked.push(attrs['id'] ?? ''));
    const closed = closeCode(client);
    const say = async (): Promise<void> => {
      for (let index = 0; index < 200; index += 1) await client.sock.sendMessage(`${friend}@s.whatsapp.net`, { text: `${round} ${index}` });
    };
    // The promise rejects when the process is killed.
    const burst = say().catch(() => undefined);
    const { id } = await call<{ id: string }>('POST', `/contacts/${friend}/messages`, { to: me, kind: 'text', text: `hear ${round}` });
    await eventuallyAsync(() => acked.length >= 5 * (round + 1), 'some acks');
    await end('SIGKILL');
    await Promise.all([closed, burst]);
    await start();
    const again = await online();
    // The message is confirmed before the kill, or delivered after it.
    await eventuallyAsync(() => heard(client, id) || heard(again, id), 'the message of the contact');
    await again.end();
  }
  const texts = await received();
  assert.equal(texts.filter(({ error }) => error !== undefined).length, 0);
  const ids = new Set(texts.map(({ id }) => id));
  assert.deepEqual(
    acked.filter((id) => !ids.has(id)),
    [],
  );
  assert.equal(texts.length, ids.size);
  const stats = await call<Stats>('GET', '/stats');
  assert.equal(stats.messages.undecryptable, 0);
  assert.deepEqual(stats.unknown, {});
});

test('SIGTERM: the process ends in time, with clients connected', async () => {
  const client = await online();
  const ended = await Promise.race([end('SIGTERM'), wait(60_000, 'it goes on', { ref: false })]);
  assert.equal(ended, 0);
  await closeCode(client);
  await start();
});

test('the channel to the parent closes: the process ends', async () => {
  const exited = once(child, 'exit');
  child.disconnect();
  await exited;
  await start();
});

test('a second process on the same data: it refuses to start', async () => {
  const second = fork(main, ['--port', '0', '--data', dataDir, '--level', 'silent'], { silent: true });
  const [code] = (await once(second, 'exit')) as [number];
  assert.notEqual(code, 0);
});
