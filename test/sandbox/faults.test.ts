/** Tests every fault with the reaction of a real client. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Fault } from '#src/sandbox/interface.ts';
import { closeCode, connect, eventually, opened, openSandbox, pair, type Auth, type Client, type TestSandbox } from './client.ts';

const me = '5511999990031';
const friend = '5511988880031';
const friendJid = `${friend}@s.whatsapp.net`;

let sandbox: TestSandbox;
let cleanUp: () => Promise<void>;
let auth: Auth;

before(async () => {
  ({ sandbox, cleanUp } = await openSandbox());
  const client = await pair(sandbox, { number: me });
  ({ auth } = client);
  await client.end();
});
after(() => cleanUp());

const ping = { tag: 'iq', attrs: { to: 's.whatsapp.net', type: 'get', xmlns: 'w:p' }, content: [{ tag: 'ping', attrs: {} }] };

/** Waits until the platform knows that the client before is gone. */
const offline = (): Promise<true> => eventually(() => sandbox.sandbox.stats().connections.open === 0, 'the end of all connections');

async function online(): Promise<Client> {
  const client = connect(sandbox, auth);
  await opened(client);
  return client;
}

const live: [Fault['kind'], Omit<Fault, 'kind'>, number][] = [
  ['close', {}, 428],
  ['close', { code: 1011 }, 428],
  ['reset', {}, 428],
  ['streamEnd', {}, 428],
  ['streamError', { code: 503 }, 503],
  ['streamError', { code: 516 }, 516],
  ['streamError', {}, 500],
  ['conflict', {}, 440],
  ['deviceRemoved', {}, 401],
];

for (const [kind, more, code] of live) {
  test(`${kind}${more.code === undefined ? '' : ` ${more.code}`}: the client closes with ${code}`, async () => {
    const client = await online();
    assert.deepEqual(await sandbox.sandbox.fault({ kind, number: me, ...more }), { hit: 1 });
    assert.equal(await closeCode(client), code);
  });
}

const atLogin: [Fault['kind'], Omit<Fault, 'kind'>, number][] = [
  ['loginFailure', { code: 403, number: me }, 403],
  ['loginFailure', { code: 402, number: me, ms: 60_000 }, 402],
  ['closeAfterLogin', { number: me }, 428],
  ['badCertificate', {}, 400],
  ['garbageHandshake', {}, -1],
];

for (const [kind, more, code] of atLogin) {
  test(`${kind}${more.code === undefined ? '' : ` ${more.code}`}: the next connection ends with ${code}, the one after it is fine`, async () => {
    await offline();
    assert.deepEqual(await sandbox.sandbox.fault({ kind, ...more }), { hit: 0 });
    assert.equal(await closeCode(connect(sandbox, auth)), code);
    await (await online()).end();
  });
}

test('refuseUpgrade: the next upgrade gets the HTTP status', async () => {
  await sandbox.sandbox.fault({ kind: 'refuseUpgrade', code: 429 });
  const client = connect(sandbox, auth);
  const status = await new Promise((resolve) => {
    client.sock.ws.on('unexpected-response', (_request: unknown, response: { statusCode: number }) => resolve(response.statusCode));
  });
  assert.equal(status, 429);
  await assert.rejects(sandbox.sandbox.fault({ kind: 'refuseUpgrade', number: me }), /before anybody/);
});

test('silentHandshake: the client gives up at its time-out', async () => {
  await sandbox.sandbox.fault({ kind: 'silentHandshake' });
  assert.equal(await closeCode(connect(sandbox, auth, { connectTimeoutMs: 2_000 })), 408);
});

test('silence: the socket stays open, and nothing is answered', async () => {
  const client = await online();
  assert.ok(await client.sock.query(ping));
  await sandbox.sandbox.fault({ kind: 'silence', number: me });
  // Baileys rejects or returns nothing, depending on which of its two timers fires first.
  const answer: unknown = await client.sock.query({ ...ping, attrs: { ...ping.attrs, id: 'silent' } }, 300).catch(() => undefined);
  assert.equal(answer, undefined);
  assert.equal(client.sock.ws.isOpen, true);
  await client.end();
});

test('noLogin: only pings are answered', async () => {
  await sandbox.sandbox.fault({ kind: 'noLogin', number: me });
  const client = connect(sandbox, auth, { keepAliveIntervalMs: 100 });
  const pong = await new Promise((resolve) => {
    client.sock.ws.on('CB:iq,type:result', resolve);
  });
  assert.ok(pong);
  assert.equal(
    client.seen('connection.update').some(({ connection }) => connection === 'open'),
    false,
  );
  await client.end();
});

test('corruptFrame: reaches the client as a frame that does not decrypt', async () => {
  const client = await online();
  const [listener] = client.sock.ws.listeners('message') as ((data: Buffer) => Promise<void>)[];
  assert.ok(listener);
  client.sock.ws.removeAllListeners('message');
  const failed = new Promise((resolve) => {
    client.sock.ws.on('message', (data: Buffer) => {
      listener(data).catch(resolve);
    });
  });
  await sandbox.sandbox.fault({ kind: 'corruptFrame', number: me });
  assert.ok((await failed) instanceof Error);
  await client.end();
});

test('delay: every stanza waits until the fault is cleared', async () => {
  const client = await online();
  await sandbox.sandbox.fault({ kind: 'delay', number: me, ms: 5_000 });
  const started = Date.now();
  await client.sock.fetchBlocklist();
  assert.ok(Date.now() - started >= 4_990);
  // Longer than the client waits for an answer.
  await sandbox.sandbox.fault({ kind: 'delay', number: me, ms: 120_000 });
  await sandbox.sandbox.fault({ kind: 'delay', number: me, times: 0 });
  assert.ok(await client.sock.query(ping));
  await client.end();
});

const acks = (client: Client): { id: string; error: string | undefined }[] => {
  const all: { id: string; error: string | undefined }[] = [];
  client.sock.ws.on('CB:ack,class:message', ({ attrs }: { attrs: Record<string, string> }) => {
    all.push({ id: attrs['id'] ?? '', error: attrs['error'] });
  });
  return all;
};

test('noAck and ackError: the next message is delivered without an ack, or refused', async () => {
  const client = await online();
  const seen = acks(client);
  await sandbox.sandbox.fault({ kind: 'noAck', number: me });
  const silent = await client.sock.sendMessage(friendJid, { text: 'no ack' });
  await eventually(() => sandbox.sandbox.received(friend).some(({ id }) => id === silent?.key.id), 'the first text');
  await sandbox.sandbox.fault({ kind: 'ackError', number: me, code: 479 });
  const refused = await client.sock.sendMessage(friendJid, { text: 'refused' });
  const fine = await client.sock.sendMessage(friendJid, { text: 'fine' });
  await eventually(() => seen.length === 2, 'two acks');
  assert.deepEqual(seen, [
    { id: refused?.key.id, error: '479' },
    { id: fine?.key.id, error: undefined },
  ]);
  const ids = sandbox.sandbox.received(friend).map(({ id }) => id);
  assert.ok(ids.includes(silent?.key.id ?? '') && !ids.includes(refused?.key.id ?? ''));
  await client.end();
});

test('duplicate: the next message to the account is delivered twice', async () => {
  const client = await online();
  const ids: string[] = [];
  client.sock.ws.on('CB:message', ({ attrs }: { attrs: Record<string, string> }) => ids.push(attrs['id'] ?? ''));
  await sandbox.sandbox.fault({ kind: 'duplicate', number: me });
  const { id } = await sandbox.sandbox.send(friend, me, { kind: 'text', text: 'twice' });
  await eventually(() => ids.length >= 2, `both copies of ${id}, seen ${ids.join()}`);
  // The client may request the second copy again, which leads to a third one.
  assert.deepEqual(ids.slice(0, 2), [id, id]);
  await client.end();
});

test('times: a fault for several connections hits the next ones as they come, and can be cleared', async () => {
  await offline();
  assert.deepEqual(await sandbox.sandbox.fault({ kind: 'close', number: me, times: 2 }), { hit: 0 });
  for (let round = 0; round < 2; round += 1) assert.equal(await closeCode(connect(sandbox, auth)), 428);
  await (await online()).end();
  await sandbox.sandbox.fault({ kind: 'loginFailure', number: me, code: 500, times: 9 });
  await sandbox.sandbox.fault({ kind: 'loginFailure', number: me, times: 0 });
  await (await online()).end();
});

test('faults: another account is not affected', async () => {
  const other = await pair(sandbox, { number: '5511999990032' });
  const client = await online();
  await sandbox.sandbox.fault({ kind: 'close', number: me });
  await closeCode(client);
  await other.sock.fetchBlocklist();
  await other.end();
});
