/** Tests posts to well-behaved and to misbehaving receivers. */
import assert from 'node:assert/strict';
import { createServer as createHttp, type RequestListener, type Server } from 'node:http';
import { createServer as createTcp, type AddressInfo, type Server as TcpServer } from 'node:net';
import { after, test } from 'node:test';
import { AddressGuard } from '#src/webhooks/address-guard.ts';
import { WebhookReceiver } from '#src/webhooks/receiver.ts';

const guard = new AddressGuard({ allow: ['loopback'] });
const noon = Date.parse('2026-01-01T12:00:00Z');
const options = { guard, timeoutMs: 30_000, userAgent: 'Dormouse/test', now: () => noon };
const receiver = new WebhookReceiver(options);
const impatient = new WebhookReceiver({ ...options, timeoutMs: 3_000 });
const servers: (Server | TcpServer)[] = [];
after(async () => {
  await Promise.all([receiver.close(), impatient.close()]);
  for (const server of servers) {
    if ('closeAllConnections' in server) server.closeAllConnections();
    server.close();
  }
});

const listen = async (server: Server | TcpServer): Promise<string> => {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?key=secret`;
};
const serve = (listener: RequestListener) => listen(createHttp(listener));

test('receiver: the body and the headers arrive, and a 2xx is a success', async () => {
  const seen: string[] = [];
  const url = await serve(async (request, response) => {
    const chunks = await request.toArray();
    seen.push(String(request.method), String(request.url), String(request.headers['content-type']), String(request.headers['user-agent']));
    seen.push(String(request.headers['webhook-id']), Buffer.concat(chunks as Buffer[]).toString());
    response.writeHead(202).end();
  });
  assert.deepEqual(await receiver.post(url, '{"é":1}', { 'webhook-id': 'one' }), { ok: true, status: 202 });
  assert.deepEqual(seen, ['POST', '/hook?key=secret', 'application/json', 'Dormouse/test', 'one', '{"é":1}']);
});

test('receiver: posts reuse connections', async () => {
  const ports = new Set<number | undefined>();
  const url = await serve((request, response) => {
    ports.add(request.socket.remotePort);
    response.end('thank you');
  });
  for (let round = 0; round < 9; round += 1) await receiver.post(url, '{}', {});
  // The pool may open a second connection while the first is not idle yet.
  assert.ok(ports.size <= 2);
});

const answers: readonly (readonly [status: number, headers: Record<string, string>, expected: object])[] = [
  [502, {}, { error: 'webhook returned non-success status: 502 Bad Gateway' }],
  [404, {}, { error: 'webhook returned non-success status: 404 Not Found' }],
  [799, {}, { error: 'webhook returned non-success status: 799' }],
  [302, { location: '/elsewhere' }, { error: 'webhook returned non-success status: 302 Found' }],
  [429, { 'retry-after': '7' }, { error: 'webhook returned non-success status: 429 Too Many Requests', retryAfter: 7 }],
  [503, { 'retry-after': '9999999' }, { error: 'webhook returned non-success status: 503 Service Unavailable', retryAfter: 3600 }],
  [
    503,
    { 'retry-after': 'Thu, 01 Jan 2026 12:01:00 GMT' },
    { error: 'webhook returned non-success status: 503 Service Unavailable', retryAfter: 60 },
  ],
  [503, { 'retry-after': 'Thu, 01 Jan 2020 12:01:00 GMT' }, { error: 'webhook returned non-success status: 503 Service Unavailable' }],
  [503, { 'retry-after': 'soon' }, { error: 'webhook returned non-success status: 503 Service Unavailable' }],
];
for (const [status, headers, expected] of answers)
  test(`receiver: ${status} ${JSON.stringify(headers)} is a failure whose error names the status`, async () => {
    let requests = 0;
    const url = await serve((_request, response) => {
      requests += 1;
      response.writeHead(status, headers).end();
    });
    assert.deepEqual(await receiver.post(url, '{}', {}), { ok: false, status, ...expected });
    assert.equal(requests, 1);
  });

test('receiver: of all statuses only 2xx is a success, and each result has its status', async () => {
  const url = await serve((request, response) => void response.writeHead(Number(request.url?.slice('/hook?'.length))).end());
  const told = async (status: number): Promise<void> => {
    const { ok, status: heard, ...more } = await receiver.post(url.replace(/[?].*/, `?${status}`), '{}', {});
    assert.deepEqual([ok, heard], [status < 300, status]);
    const error = 'error' in more ? more.error : '';
    assert.ok(ok || error.startsWith(`webhook returned non-success status: ${status}`), error);
  };
  for (let hundred = 200; hundred < 600; hundred += 100) await Promise.all(Array.from({ length: 100 }, (_, n) => told(hundred + n)));
});

test('receiver: interim answers (1xx) do not count as the answer, and a change of the protocol is a failure', async () => {
  const saying = (answer: string) =>
    listen(createTcp((socket) => void socket.on('error', () => undefined).once('data', () => socket.end(answer))));
  const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';
  for (const first of ['102 Processing', '103 Early Hints\r\nLink: </a>'])
    assert.deepEqual(await receiver.post(await saying(`HTTP/1.1 ${first}\r\n\r\n${ok}`), '{}', {}), { ok: true, status: 200 }, first);
  const upgrade = await saying('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n');
  const outcome = await receiver.post(upgrade, '{}', {});
  assert.match(outcome.ok ? '' : outcome.error, /^webhook could not be reached: /);
});

test('receiver: a slow answer within the limit is accepted', async () => {
  const url = await serve((_request, response) => void setTimeout(() => response.end('thank you'), 200));
  assert.deepEqual(await receiver.post(url, '{}', {}), { ok: true, status: 200 });
});

test('receiver: a missing answer is a failure at the time-out, and the connection is closed', async () => {
  let gone: (() => void) | undefined;
  const closed = new Promise<void>((resolve) => (gone = resolve));
  const url = await serve((request) => void request.on('close', () => gone?.()));
  assert.deepEqual(await impatient.post(url, '{}', {}), { ok: false, error: 'webhook could not be reached: no answer in time' });
  await closed;
});

test('receiver: an endless answer is aborted and its status counts', async () => {
  let written = 0;
  const url = await serve((_request, response) => {
    response.writeHead(200);
    const write = (): void => {
      if (response.destroyed) return;
      written += 16_384;
      if (response.write(Buffer.alloc(16_384))) setImmediate(write);
      else response.once('drain', write);
    };
    write();
  });
  assert.deepEqual(await receiver.post(url, '{}', {}), { ok: true, status: 200 });
  assert.ok(written < 16_000_000, `${written} bytes`);
});

test('receiver: an answer that arrives byte by byte is aborted at the time-out and its status counts', async () => {
  const url = await serve((_request, response) => void response.writeHead(500).write('x'));
  assert.deepEqual(await impatient.post(url, '{}', {}), {
    ok: false,
    status: 500,
    error: 'webhook returned non-success status: 500 Internal Server Error',
    answer: 'x',
  });
});

test('receiver: at most 1000 bytes of a refusal are kept, in whole characters, and nothing of a success', async () => {
  let status = 400;
  const url = await serve((_request, response) => void response.writeHead(status).end(`ab${'é'.repeat(40_000)}`));
  const cut = await receiver.post(url, '{}', {});
  assert.equal(cut.ok ? '' : cut.answer, `ab${'é'.repeat(499)}`);
  const odd = await serve((_request, response) => void response.writeHead(400).end(`a${'é'.repeat(40_000)}`));
  const halved = await receiver.post(odd, '{}', {});
  assert.equal(halved.ok ? '' : halved.answer, `a${'é'.repeat(499)}`);
  status = 200;
  assert.deepEqual(await receiver.post(url, '{}', {}), { ok: true, status: 200 });
  const nothing = await serve((_request, response) => void response.writeHead(400).end('\0\u001b[1mbold\n'));
  const plain = await receiver.post(nothing, '{}', {});
  assert.equal(plain.ok ? '' : plain.answer, '[1mbold\n');
});

test('receiver: a reset connection and an answer that is not HTTP are failures', async () => {
  const reset = await listen(createTcp((socket) => socket.on('error', () => undefined).once('data', () => socket.resetAndDestroy())));
  assert.deepEqual(await receiver.post(reset, '{}', {}), {
    ok: false,
    error: 'webhook could not be reached: connection closed before the answer',
  });
  const noise = await listen(
    createTcp((socket) => socket.on('error', () => undefined).once('data', () => socket.end('SSH-2.0-hello\r\n\r\n'))),
  );
  assert.deepEqual(await receiver.post(noise, '{}', {}), {
    ok: false,
    error: 'webhook could not be reached: the answer is not valid HTTP',
  });
});

test('receiver: the errors for a closed port, a wrong protocol and a bad header contain no part of the URL', async () => {
  const server = createHttp();
  const url = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  assert.deepEqual(await receiver.post(url, '{}', {}), { ok: false, error: 'webhook could not be reached: connection refused' });
  const plain = await serve((_request, response) => void response.end());
  const tls = await receiver.post(plain.replace('http:', 'https:'), '{}', {});
  assert.match(tls.ok ? '' : tls.error, /^webhook could not be reached: TLS failed \(\w+\)$/);
  const header = await receiver.post(plain, '{}', { 'x-bad': 'a\nb' });
  assert.match(header.ok ? '' : header.error, /^webhook could not be reached: \w+$/);
});

test('receiver: a forbidden address gets no connection, also if a host name resolves to it', async () => {
  let requests = 0;
  const url = await serve((_request, response) => void response.end(String((requests += 1))));
  const strict = new WebhookReceiver({ ...options, guard: new AddressGuard({ allow: [] }) });
  const refusal = {
    ok: false,
    error: 'webhook could not be reached: url points to an address that is not allowed (loopback): see ALLOW_PRIVATE_RECEIVERS',
  };
  assert.deepEqual(await strict.post(url, '{}', {}), refusal);
  await strict.close();
  const resolve = new AddressGuard({ allow: [], resolve: (_host, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]) });
  const rebound = new WebhookReceiver({ ...options, guard: resolve });
  assert.deepEqual(await rebound.post(url.replace('127.0.0.1', 'rebinding.test'), '{}', {}), refusal);
  await rebound.close();
  assert.equal(requests, 0);
});

test('receiver: running posts end as failures when the receiver closes', async () => {
  const closing = new WebhookReceiver(options);
  const url = await serve(() => void closing.close());
  assert.deepEqual(await closing.post(url, '{}', {}), { ok: false, error: 'webhook could not be reached: the server is stopping' });
});

test('receiver: a cancelled post ends at once, and its connection closes', async () => {
  const cuts = new Set<() => void>();
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const url = await serve((request) => {
    request.socket.once('close', () => close());
    for (const cut of cuts) cut();
  });
  const failed = { ok: false, error: 'webhook could not be reached: no answer in time' };
  assert.deepEqual(await receiver.post(url, '{}', {}, cuts), failed);
  await closed;
  assert.equal(cuts.size, 0);
  // A post can also be cancelled before its connection is open.
  const posting = receiver.post(url, '{}', {}, cuts);
  for (const cut of cuts) cut();
  assert.deepEqual(await posting, failed);
});
