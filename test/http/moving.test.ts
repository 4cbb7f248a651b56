/** Tests imports and exports over HTTP: permissions, the upload as a stream, and the archive as a stream. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createSources } from '#src/moving/sources.ts';
import { readers } from '#src/moving/readers.ts';
import { asAdmin, asInstance, bodyLimit, setUp, until } from './setup.ts';

const url = '/admin/import?from=folder';

test('import: the body reaches the gateway unchanged, whatever its type and above the usual body limit', async (t) => {
  const { app } = await setUp(t);
  for (const type of ['application/octet-stream', 'application/json', 'application/x-tar', 'text/plain']) {
    const payload = Buffer.alloc(bodyLimit + 1, 'x');
    const reply = await app.inject({ method: 'POST', url, payload, headers: { ...asAdmin, 'content-type': type } });
    assert.equal(reply.statusCode, 200, reply.body);
    assert.deepEqual([reply.json().dryRun, reply.json().sessions[0].keys], [false, payload.length]);
  }
});

test('import: it is refused without the admin token, without a body and with unknown options', async (t) => {
  const { app } = await setUp(t);
  const payload = Buffer.from('x');
  const bytes = { 'content-type': 'application/octet-stream' };
  const replies = [
    await app.inject({ method: 'POST', url, payload, headers: bytes }),
    await app.inject({ method: 'POST', url, payload, headers: { ...asInstance, ...bytes } }),
    await app.inject({ method: 'POST', url, headers: asAdmin }),
    await app.inject({ method: 'POST', url: '/admin/import', payload, headers: { ...asAdmin, ...bytes } }),
    await app.inject({ method: 'POST', url: '/admin/import?from=elsewhere', payload, headers: { ...asAdmin, ...bytes } }),
    await app.inject({ method: 'POST', url: `${url}&dryRun=perhaps`, payload, headers: { ...asAdmin, ...bytes } }),
  ];
  assert.deepEqual(
    replies.map(({ statusCode }) => statusCode),
    [401, 401, 400, 400, 400, 400],
  );
  assert.equal(replies[2]?.json().error, 'the body is empty: it is the store of the other gateway');
});

test('import: an upload above the size limit is refused while it is sent, and its connection is closed', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'dormouse-upload-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const { gateway, address } = await setUp(t);
  const sources = createSources({ newPath: () => join(folder, 'upload'), maxBytes: 1_000 });
  gateway.importSessions = async (upload, { from, secret, signal }) => {
    const received = await sources.receive(upload, { from, secret, signal });
    assert.ok(!received.ok);
    return received;
  };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { ...asAdmin, 'content-type': 'application/octet-stream', 'content-length': 50_000_000 };
    void address().then((at) => {
      const sent = request(`${at}${url}`, { method: 'POST', headers }, resolve).once('error', reject);
      sent.write(Buffer.alloc(40_000_000));
      t.after(() => sent.destroy());
    });
  });
  assert.deepEqual([answer.statusCode, answer.headers.connection], [413, 'close']);
  const body = (await answer.toArray()).join('');
  assert.deepEqual(JSON.parse(body), { error: 'the upload is larger than 1000 bytes (see IMPORT_MAX_BYTES)' });
});

test('import: an upload whose credential becomes invalid during the upload imports nothing', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'dormouse-upload-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const { gateway, address } = await setUp(t);
  const sources = createSources({ newPath: () => join(folder, 'upload'), maxBytes: 1_000 });
  const { promise: begun, resolve: begin } = Promise.withResolvers<null>();
  let isImported = false;
  gateway.importSessions = async (upload, { from, secret, signal }) => {
    begin(null);
    const received = await sources.receive(upload, { from, secret, signal });
    isImported = true;
    return received.ok ? { ok: true, value: [] } : received;
  };
  const headers = { ...asAdmin, 'content-type': 'application/octet-stream', 'content-length': 20 };
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = request(`${await address()}${url}`, { method: 'POST', headers }, resolve).once('error', reject);
  t.after(() => sent.destroy());
  sent.write('x'.repeat(10));
  await begun;
  gateway.isAdmin = () => false;
  sent.end('x'.repeat(10));
  const answer = await promise;
  assert.deepEqual([answer.statusCode, JSON.parse((await answer.toArray()).join(''))], [403, { error: 'Invalid AdminToken Header' }]);
  assert.ok(!isImported);
});

test('import: the page offers every source', async () => {
  const page = await readFile(new URL('../../src/web/page/views/moving.js', import.meta.url), 'utf8');
  const offered = [...(/const sources = [^[]*\[([^\]]*)\]/.exec(page)?.[1] ?? '').matchAll(/'([^']+)'/g)].map(([, name]) => name);
  assert.deepEqual(offered, Object.keys(readers));
});

test('export: the archive is sent as bytes, and a refusal as JSON', async (t) => {
  const { app } = await setUp(t);
  const ask = (payload: object) => app.inject({ method: 'POST', url: '/admin/export', payload, headers: asAdmin });
  const passphrase = 'correct horse battery staple';
  const archive = await ask({ passphrase });
  assert.deepEqual([archive.statusCode, archive.headers['content-type'], archive.body], [200, 'application/octet-stream', 'an archive']);
  const unknown = await ask({ passphrase, instances: ['unknown'] });
  assert.deepEqual([unknown.statusCode, unknown.json()], [404, { error: 'there is no instance unknown' }]);
  assert.equal((await ask({ passphrase: 'short' })).statusCode, 400);
});

/** Sends pieces of a body with pauses between them. Returns the first line of the answer; '' if the connection was closed without one. */
const sendSlowly = async (address: string, path: string, pieces: number, pauseMs: number): Promise<string> => {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.on('data', (chunk) => void (text += chunk.toString()));
  socket.on('error', () => undefined);
  const closed = once(socket, 'close');
  const headers = [`admintoken: ${asAdmin.admintoken}`, 'content-type: application/json', `content-length: ${pieces}`, 'connection: close'];
  socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\n${headers.join('\r\n')}\r\n\r\n`);
  for (let sent = 0; sent < pieces && !socket.closed; sent += 1) {
    await Promise.race([wait(pauseMs), closed]);
    socket.write('x');
  }
  await closed;
  return text.split('\r\n', 1)[0] ?? '';
};

test('import: an upload may take longer than other bodies, but not pause for as long', async (t) => {
  const { app, gateway, address } = await setUp(t);
  app.server.requestTimeout = 1_000;
  app.server.headersTimeout = 1_000;
  Object.assign(app.server, { connectionsCheckingInterval: 50 });
  const at = await address();
  const { importSessions } = gateway;
  let cut = false;
  gateway.importSessions = (upload, input) => {
    input.signal.addEventListener('abort', () => (cut = true));
    return importSessions.call(gateway, upload, input);
  };
  const answers = await Promise.all([
    sendSlowly(at, url, 25, 100),
    sendSlowly(at, '/instance/create', 25, 100),
    sendSlowly(at, '/admin/export', 25, 100),
  ]);
  assert.deepEqual(answers, ['HTTP/1.1 200 OK', 'HTTP/1.1 408 Request Timeout', 'HTTP/1.1 408 Request Timeout']);
  cut = false;
  assert.equal(await sendSlowly(at, url, 2, 3_000), '');
  await until(() => cut);
});
