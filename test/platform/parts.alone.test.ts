/** Tests the small parts of the adapter as tables. */
import assert from 'node:assert/strict';
import { createHmac, createSecretKey } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server as NetServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { generate } from 'selfsigned';
import { WebSocket } from 'ws';
import { aesDecryptGCM, aesEncryptGCM, decodeBinaryNode, encodeBinaryNode, hmacSign } from '@whiskeysockets/baileys';
import { Curve } from '@whiskeysockets/baileys';
import { sign, verify } from 'curve25519-js';
import { createBaileysLogger } from '#src/platform/app-state/baileys-logger.ts';
import { closeOf, isSilent, lostAnswer, notSent, ownCloses, silenceOf } from '#src/platform/wire/outcomes.ts';
import { passKeysAsObjects, quietConsole, repairStanzaWords } from '#src/platform/link/library-patches.ts';
import { bare, resolveTarget, shortMessageId } from '#src/platform/wire/jid.ts';
import type { OpenOptions } from '#actors/ports.ts';
import { browserOf, companionOf } from '#src/platform/link/link-code.ts';
import { done } from '#actors/model.ts';
import { Transmissions } from '#src/platform/outbound/transmissions.ts';
import { trustAddress } from '#src/platform/wire/trust.ts';
import { TtlCache } from '#src/platform/link/socket-config.ts';
import { verifySignature } from '#src/platform/wire/signatures.ts';
import { quietLog } from './setup.ts';

const targets: readonly (readonly [string, string | RegExp])[] = [
  ['5511999999999', '5511999999999@s.whatsapp.net'],
  [' 5511999999999 ', '5511999999999@s.whatsapp.net'],
  ['5511999999999@s.whatsapp.net', '5511999999999@s.whatsapp.net'],
  ['5511999999999:12@s.whatsapp.net', '5511999999999@s.whatsapp.net'],
  ['5511999999999@c.us', '5511999999999@s.whatsapp.net'],
  ['123456789012345@lid', '123456789012345@lid'],
  ['120363000000000001@g.us', '120363000000000001@g.us'],
  ['5511999999999-1600000000@g.us', '5511999999999-1600000000@g.us'],
  ['120363000000000001@newsletter', '120363000000000001@newsletter'],
  ['', /missing/],
  ['+5511999999999', /digits/],
  ['55 11 99999', /digits/],
  ['1234', /digits/],
  ['12345678901234567890', /digits/],
  ['abc@s.whatsapp.net', /contact/],
  ['abc@lid', /LID/],
  ['abc@g.us', /group/],
  ['abc@newsletter', /channel/],
  ['status@broadcast', 'status@broadcast'],
  ['5511@example.org', /suffix/],
];

for (const [number, expected] of targets) {
  test(`target: "${number}"`, () => {
    const target = resolveTarget(number);
    if (typeof expected === 'string') assert.deepEqual(target, { ok: true, jid: expected });
    else assert.match(target.ok ? '' : target.message, expected);
  });
}

const jids: readonly (readonly [string | null | undefined, string])[] = [
  ['5511:7@s.whatsapp.net', '5511@s.whatsapp.net'],
  ['5511_1:7@lid', '5511@lid'],
  ['5511:99@hosted', '5511@s.whatsapp.net'],
  ['5511:99@hosted.lid', '5511@lid'],
  ['1-2@g.us', '1-2@g.us'],
  ['1@constructor', '1@constructor'],
  ['nothing', ''],
  [null, ''],
  [undefined, ''],
];
for (const [jid, expected] of jids) test(`jid: ${jid} without device`, () => assert.equal(bare(jid), expected));

test('jid: full and short ids of messages convert into each other', () => {
  assert.equal(shortMessageId('5511999:3EB0'), '3EB0');
  assert.equal(shortMessageId('3EB0'), '3EB0');
});

const boom = (statusCode: unknown, data?: unknown) => Object.assign(new Error('why'), { output: { statusCode }, data });
const closes: readonly (readonly [string, unknown, object])[] = [
  ['an error with a status', boom(428), { code: 428, message: 'why' }],
  [
    'attributes of a failure',
    boom(402, { reason: '402', expire: '9', name: 'Eva' }),
    { code: 402, message: 'why', data: { reason: '402', expire: '9' } },
  ],
  ['data that is private', boom(500, { tag: 'message', content: 'secret' }), { code: 500, message: 'why' }],
  ['a plain error', new TypeError('invalid wire type 7'), { code: null, message: 'invalid wire type 7' }],
  ['nothing', undefined, { code: null, message: 'closed without a reason' }],
  ['a text', 'oops', { code: null, message: 'closed without a reason' }],
  ['a status that is no number', boom('428'), { code: null, message: 'why' }],
];
for (const [title, error, close] of closes) test(`close: ${title}`, () => assert.deepEqual(closeOf(error), close));

/** Returns the error of a real socket in the form of the library. */
const socketError = async (url: string): Promise<unknown> =>
  boom(408, (await once(new WebSocket(url), 'error').catch((error: unknown) => [error]))[0]);

const dials: readonly (readonly [url: string, trouble: string])[] = [
  ['ws://nothing.invalid/', 'DNS'],
  ['ws://127.0.0.1:9/', 'connection refused'],
  ['ws://localhost:9/', 'connection refused'],
];
for (const [url, message] of dials)
  test(`close: of a socket to ${url} that did not open says ${message}`, async () => {
    const error = await socketError(url);
    assert.deepEqual(closeOf(error), { code: null, message, data: { reason: 'platformUnreachable' } });
    assert.deepEqual(closeOf(error, url), { code: null, message, data: { reason: 'addressUnreachable' } });
  });

/** Servers on this machine with which no handshake completes, and the scheme of their address. */
const silentDials: readonly (readonly [title: string, scheme: string, open: () => Promise<NetServer>, trouble: RegExp])[] = [
  [
    'a certificate that nobody vouches for',
    'wss',
    async () => {
      const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }]);
      return createTlsServer({ key, cert });
    },
    /^TLS \(DEPTH_ZERO_SELF_SIGNED_CERT\)$/,
  ],
  [
    'another protocol than TLS',
    'wss',
    async () => createServer((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    /^TLS \(\w+\)$/,
  ],
  [
    'an end in the middle of TLS',
    'wss',
    async () => createServer((socket) => void socket.once('data', () => socket.end())),
    /^TLS \(the connection was cut\)$/,
  ],
  ['silence', 'ws', async () => createServer(() => undefined), /^no answer in time$/],
];
for (const [title, scheme, open, trouble] of silentDials)
  test(`close: of a socket that met ${title} says that the platform cannot be reached`, async () => {
    const server = await open();
    const sockets = new Set<Socket>();
    server.on('connection', (socket: Socket) => void sockets.add(socket.on('error', () => undefined)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const handshakeTimeout = title === 'silence' ? 200 : 20_000;
    const [error] = await once(new WebSocket(`${scheme}://127.0.0.1:${port}/`, { handshakeTimeout }), 'error').catch((reason: unknown) => [
      reason,
    ]);
    const close = closeOf(boom(408, error));
    assert.match(close.message, trouble);
    assert.deepEqual([close.code, close.data], [null, { reason: 'platformUnreachable' }]);
    for (const socket of sockets) socket.destroy();
    server.close();
  });

test('close: a hanging connection is reported as unreachable, and an open one as a late handshake', () => {
  assert.deepEqual(silenceOf(false, null), { code: null, message: 'no answer in time', data: { reason: 'platformUnreachable' } });
  assert.equal(silenceOf(true, null), ownCloses.handshakeTimeout);
  for (const isOpen of [true, false]) assert.equal(isSilent(silenceOf(isOpen, 'ws://localhost')), true);
});

test('keys: HMACs and ciphers of all modules give the same results when bytes are passed as key objects', () => {
  const made = createHmac;
  passKeysAsObjects();
  assert.notEqual(createHmac, made, 'modules that import the function by name have the faster one');
  // RFC 4231, test case 1.
  const digest = 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7';
  const key = Buffer.alloc(20, 0x0b);
  assert.equal(createHmac('sha256', key).update('Hi There').digest('hex'), digest);
  assert.equal(createHmac('sha256', key.toString('latin1'), { encoding: 'latin1' }).update('Hi There').digest('hex'), digest);
  assert.equal(createHmac('sha256', createSecretKey(key)).update('Hi There').digest('hex'), digest);
  assert.equal(hmacSign(Buffer.from('Hi There'), key).toString('hex'), digest);
  const sealed = aesEncryptGCM(Buffer.from('text'), Buffer.alloc(32, 1), Buffer.alloc(12, 2), Buffer.from('head'));
  assert.equal(aesDecryptGCM(sealed, Buffer.alloc(32, 1), Buffer.alloc(12, 2), Buffer.from('head')).toString(), 'text');
  assert.throws(() => aesDecryptGCM(sealed, Buffer.alloc(32, 3), Buffer.alloc(12, 2), Buffer.from('head')));
  assert.throws(() => aesEncryptGCM(Buffer.from('text'), Buffer.alloc(31), Buffer.alloc(12), Buffer.alloc(0)), /key length/i);
});

test('stanzas: texts with names that every object inherits are written unchanged', async () => {
  repairStanzaWords();
  for (const word of ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'message']) {
    const node = { tag: word, attrs: { id: word, subject: `${word} 2` }, content: [{ tag: 'item', attrs: { [`${word}s`]: word } }] };
    const read = await decodeBinaryNode(encodeBinaryNode(node));
    assert.deepEqual(JSON.parse(JSON.stringify(read)), JSON.parse(JSON.stringify(node)));
  }
});

test('signatures: valid ones are accepted from either library, and others are not', () => {
  for (let round = 0; round < 8; round += 1) {
    const pair = Curve.generateKeyPair();
    const message = Buffer.from(`message ${round}`);
    for (const signature of [sign(pair.private, message, undefined), Curve.sign(pair.private, message)]) {
      assert.equal(verifySignature(pair.public, message, signature), true);
      assert.equal(verifySignature(Buffer.concat([Buffer.of(5), pair.public]), message, signature), true);
      for (const at of [0, 31, 32, 62]) {
        const wrong = Uint8Array.from(signature);
        wrong[at] = (wrong[at] ?? 0) ^ 1;
        assert.equal(verifySignature(pair.public, message, wrong), false);
        assert.equal(verifySignature(pair.public, message, wrong), verify(pair.public, message, wrong));
      }
      assert.equal(verifySignature(pair.public, Buffer.from('another'), signature), false);
      assert.equal(verifySignature(Curve.generateKeyPair().public, message, signature), false);
    }
  }
  assert.equal(verifySignature(new Uint8Array(3), new Uint8Array(3), new Uint8Array(64)), false);
  assert.equal(verifySignature(new Uint8Array(32), new Uint8Array(3), new Uint8Array(63)), false);
});

const trusts: readonly (readonly [string, string | null])[] = [
  ['ws://127.0.0.1:3001/ws/chat', 'http://127.0.0.1:3001/trust'],
  ['ws://localhost:3001/ws/chat', 'http://localhost:3001/trust'],
  ['ws://[::1]:3001/ws/chat', 'http://[::1]:3001/trust'],
  ['wss://web.whatsapp.com/ws/chat', null],
  ['wss://127.0.0.1/ws/chat', null],
  ['ws://127.0.0.1.example.org/ws/chat', null],
  ['ws://10.0.0.1/ws/chat', null],
];
for (const [url, address] of trusts) test(`trust: ${url}`, () => assert.equal(trustAddress(url), address));

const browsers: readonly (readonly [object, readonly string[]])[] = [
  [{}, ['Dormouse', 'Chrome', '1.0']],
  [{ browser: 'auto', systemName: ' Shop ' }, ['Shop', 'Chrome', '1.0']],
  [{ browser: 'Firefox' }, ['Dormouse', 'Firefox', '1.0']],
  [{ browser: 'safari' }, ['Dormouse', 'Safari', '1.0']],
  [{ browser: 'Android' }, ['Dormouse', 'Chrome', '1.0']],
  [{ browser: 'Desktop' }, ['Dormouse', 'Chrome', '1.0']],
];
for (const [options, expected] of browsers)
  test(`browser: ${JSON.stringify(options)}`, () => assert.deepEqual(browserOf(options), expected));

const companions: readonly (readonly [OpenOptions, string, string])[] = [
  [{}, '1', 'Chrome (Windows)'],
  [{ systemName: 'Shop' }, '1', 'Chrome (Windows)'],
  [{ browser: 'edge', system: 'Linux' }, '2', 'Edge (Linux)'],
  [{ browser: 'firefox', system: 'Windows' }, '3', 'Firefox (Windows)'],
  [{ browser: 'safari', system: 'Mac OS' }, '6', 'Safari (Mac OS)'],
];
for (const [options, id, display] of companions)
  test(`device of a pairing code: ${JSON.stringify(options)}`, () => assert.deepEqual(companionOf(options), { id, display }));

test('console: the output of libsignal is dropped, and other output passes', () => {
  const printed: unknown[][] = [];
  const print = (...args: unknown[]) => void printed.push(args);
  const target = { log: print, info: print, warn: print, error: print, debug: print };
  quietConsole(target);
  class SessionEntry {
    readonly privKey = 'secret';
  }
  target.info('Closing session:', { privKey: 'secret' });
  target.warn('some new sentence', new SessionEntry());
  target.error('Session error:MessageCounterError', 'stack');
  target.info('hello', { a: 1 });
  assert.deepEqual(printed, [['hello', { a: 1 }]]);
});

test('logger: texts of errors pass without numbers, and objects never do', () => {
  const warnings: unknown[] = [];
  const logger = createBaileysLogger({ ...quietLog, warn: (...args) => void warnings.push(args) }, 'r1');
  logger.child({ secret: 1 }).error({ key: 'secret' }, 'no session for 5511999999999');
  logger.info({ key: 'secret' }, 'never');
  logger.error({ key: 'secret' });
  assert.deepEqual(warnings, [
    [{ instance: 'r1', detail: 'no session for …' }, 'platform.library-error'],
    [{ instance: 'r1', detail: '' }, 'platform.library-error'],
  ]);
});

test('transmissions: the first answer counts', async () => {
  const transmissions = new Transmissions({ timeoutMs: 1_000, now: () => 7 });
  const [first, second, third, fourth] = ['a', 'b', 'c', 'd'].map((id) => transmissions.wait(id));
  transmissions.written('d');
  transmissions.acknowledged({ id: 'a' });
  transmissions.acknowledged({ id: 'a', error: '479' });
  transmissions.acknowledged({ id: 'b', error: '463' });
  transmissions.acknowledged({ id: 'unknown' });
  transmissions.acknowledged({});
  transmissions.close();
  assert.deepEqual(await first, done({ at: 7 }));
  const refusal = await second;
  assert.ok(refusal?.ok === false && refusal.refusal.code === 463 && /reach-out/.test(refusal.refusal.message));
  assert.deepEqual([await third, await fourth], [notSent, lostAnswer], 'only what was written may have arrived');
  assert.equal(transmissions.closed, true);
});

test('transmissions: unanswered ones expire, in order', async () => {
  const transmissions = new Transmissions({ timeoutMs: 20, now: Date.now });
  const answers = await Promise.all([transmissions.wait('a'), transmissions.wait('b')]);
  assert.deepEqual(
    answers.map((answer) => !answer.ok && answer.refusal.reason),
    ['unknown', 'unknown'],
  );
});

test('cache: entries expire, and the oldest leave first', async () => {
  let now = 0;
  const cache = new TtlCache(10, 2, () => now);
  cache.set('a', 1);
  cache.set('b', 2);
  cache.set('a', 3);
  cache.set('c', 4);
  assert.deepEqual([await cache.get('a'), await cache.get('b'), await cache.get('c')], [3, undefined, 4]);
  assert.deepEqual(await cache.mget?.(['a', 'b']), { a: 3, b: undefined });
  now = 10;
  assert.equal(await cache.get('a'), undefined);
});
