/** Tests tunnels through hostile proxies: the limits of their cost, and the reported reasons. */
import assert from 'node:assert/strict';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { Tunnel, type ProxyGuard } from '#src/platform/proxy/tunnel.ts';
import { testProxy } from '#src/platform/proxy/check.ts';
import { AddressGuard } from '#src/webhooks/address-guard.ts';

const servers: Server[] = [];
const sockets = new Set<Socket>();
after(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
});

const proxyThat = async (serve: (socket: Socket) => void): Promise<number> => {
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
    socket.once('data', () => serve(socket));
  });
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return (server.address() as AddressInfo).port;
};

/** Writes as long as the other side reads, and counts the bytes. */
const flood =
  (piece: string | Buffer, sent: { bytes: number }, first: string | Buffer = '') =>
  (socket: Socket) => {
    socket.resume().write(first);
    const more = (): void => {
      while (!socket.destroyed) {
        sent.bytes += piece.length;
        if (!socket.write(piece)) return;
      }
    };
    socket.on('drain', more);
    more();
  };

const to = { host: 'platform.example', port: 443 };
const timeoutMs = 20_000;
const open = async (url: string, guard: ProxyGuard | null = null): Promise<unknown> => {
  const tunnel = new Tunnel({ url, timeoutMs, guard });
  const said = await tunnel.connect(to).then(
    () => 'connected',
    (error: Error) => error.message,
  );
  tunnel.close();
  return said;
};

/** More bytes than the kernel buffers on both sides of the connection. */
const mostSent = 16 * 1024 * 1024;

for (const [title, scheme, answer, piece, text] of [
  ['a head without end', 'http', 'HTTP/1.1 200 OK\r\n', 'x-endless: 1\r\n'.repeat(4096), 'its answer is too long'],
  ['one header without end', 'http', 'HTTP/1.1 200 OK\r\nx: ', 'y'.repeat(65536), 'its answer is too long'],
  ['no head at all', 'http', '', '\0'.repeat(65536), 'its answer is too long'],
  ['bytes without end to SOCKS', 'socks5', '', '\0'.repeat(65536), 'it does not speak the protocol of its address'],
  ['names without end to SOCKS', 'socks5', Buffer.from([5, 0, 5]), '\xff'.repeat(65536), 'it does not connect to the platform'],
] as const)
  test(`tunnel: a proxy that answers with ${title} is left at once`, async () => {
    const sent = { bytes: 0 };
    const port = await proxyThat(flood(piece, sent, answer));
    assert.equal(await open(`${scheme}://127.0.0.1:${port}`), text);
    assert.ok(sent.bytes < mostSent, `${sent.bytes} bytes were taken`);
  });

test('tunnel: a test of a proxy reads no endless head either', async () => {
  const port = await proxyThat(flood('x: y\r\n'.repeat(4096), { bytes: 0 }, 'HTTP/1.1 200 OK\r\n'));
  const parts = { url: `http://127.0.0.1:${port}`, timeoutMs, guard: null };
  assert.equal(await testProxy(parts, new URL('https://platform.example')), 'its answer is too long');
});

for (const [title, answer, expected] of [
  [
    'switches to another protocol',
    'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
    'the platform cannot be reached through it',
  ],
  ['is no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n\r\n', 'the platform cannot be reached through it'],
  ['never ends its head', 'HTTP/1.1 200 OK\r\nx: y', 'no answer of the platform came through it in time'],
  ['only says to go on', 'HTTP/1.1 100 Continue\r\n\r\n', 'no answer of the platform came through it in time'],
  ['is an answer', 'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n', ''],
] as const)
  test(`tunnel: a test of a proxy ends when what comes through it ${title}`, { timeout: 120_000 }, async () => {
    const port = await proxyThat((socket) => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.once('data', () => socket.write(answer));
    });
    const parts = { url: `http://127.0.0.1:${port}`, timeoutMs: expected.endsWith('in time') ? 1_000 : 20_000, guard: null };
    assert.equal(await testProxy(parts, new URL('http://platform.example')), expected);
  });

for (const [title, answer, expected] of [
  ['in one piece', ['HTTP/1.1 200 Connection established\r\nvia: x\r\n\r\n'], 'connected'],
  ['in many pieces', [...'HTTP/1.0 200 OK\r\nvia: x\r\n\r\n'], 'connected'],
  ['with bytes behind the head', ['HTTP/1.1 200 OK\r\n\r\nhello'], 'connected'],
  ['of another protocol', ['SSH-2.0-OpenSSH_9.6\r\n\r\n'], 'it does not speak the protocol of its address'],
  ['with a refusal', ['HTTP/1.1 403 Forbidden\r\n\r\n'], 'it does not connect to the platform (403)'],
  ['that asks for credentials', ['HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'], 'it does not take the credentials (407)'],
  ['that ends early', ['HTTP/1.1 200 OK\r\n', null], 'it broke the connection off'],
] as const)
  test(`tunnel: an answer ${title} is understood`, async () => {
    const port = await proxyThat((socket) => {
      socket.setNoDelay(true);
      for (const piece of answer) {
        if (piece === null) socket.end();
        else socket.write(piece);
      }
    });
    assert.equal(await open(`http://127.0.0.1:${port}`), expected);
  });

const found = (address: string): ProxyGuard =>
  new AddressGuard({
    allow: [],
    resolve: (_host, _options, done) =>
      address === ''
        ? done(Object.assign(new Error('getaddrinfo ENOTFOUND proxy.example'), { code: 'ENOTFOUND' }), [])
        : done(null, [{ address, family: 4 }]),
  });

for (const scheme of ['http', 'https', 'socks5'])
  test(`tunnel: ${scheme}: a name that is not known, and one that leads where it may not, are named as such`, async () => {
    assert.equal(await open(`${scheme}://proxy.example:1080`, found('')), 'its name is not known');
    assert.match(String(await open(`${scheme}://proxy.example:1080`, found('10.0.0.1'))), /^its address is not allowed/);
    const refusing = await proxyThat(() => undefined);
    servers.at(-1)?.close();
    assert.equal(await open(`${scheme}://127.0.0.1:${refusing}`), 'it refuses connections');
  });
