/** Tests hostile clients. Their input neither crashes the process nor fills its memory. */
import assert from 'node:assert/strict';
import { connect as connectTcp } from 'node:net';
import { after, before, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import type { BinaryNode } from '@whiskeysockets/baileys';
import { fetch } from 'undici';
import { WebSocket } from 'ws';
import { decodeNode, FrameReader, intro } from '#src/sandbox/wire/transport.ts';
import { eventually, openSandbox, pair, type Client, type TestSandbox } from './client.ts';

let sandbox: TestSandbox;
let cleanUp: () => Promise<void>;
let client: Client;

before(async () => {
  ({ sandbox, cleanUp } = await openSandbox());
  client = await pair(sandbox, { number: '5511999990041' });
});
after(() => cleanUp());

const stillServes = async (): Promise<void> => {
  await client.sock.fetchBlocklist();
};

/** Resolves when the platform closes the connection. */
const spoken = (...messages: Uint8Array[]): Promise<void> =>
  new Promise((resolve) => {
    const ws = new WebSocket(`ws://127.0.0.1:${sandbox.port}/ws/chat`);
    ws.on('open', () => {
      for (const one of messages) ws.send(one);
    });
    ws.on('error', () => undefined);
    ws.on('close', () => resolve());
  });

const sized = (size: number, data: Uint8Array): Buffer =>
  Buffer.concat([intro, Buffer.from([size >> 16, (size >> 8) & 255, size & 255]), data]);

const openings: [string, Uint8Array[]][] = [
  ['another protocol', [Buffer.from('GET / HTTP/1.1\r\n\r\n')]],
  ['an older dictionary', [Buffer.from([0x57, 0x41, 6, 2, 0, 0, 1, 1])]],
  ['a frame beyond the limit', [sized(0xff_ff_ff, Buffer.alloc(10))]],
  ['a hello that is no protobuf', [sized(4, Buffer.from([255, 255, 255, 255]))]],
  ['a hello without a key', [sized(0, Buffer.alloc(0))]],
  ['a routing prefix beyond the limit', [Buffer.from([0x45, 0x44, 0, 1, 255, 255, 255])]],
  ['a message beyond the limit', [Buffer.alloc(5 * 1024 * 1024)]],
  ['a low-order key', [sized(36, Buffer.from([0x12, 0x22, 0x0a, 0x20, ...Buffer.alloc(32)]))]],
];

for (const [title, messages] of openings) {
  test(`handshake: ${title} is hung up on`, async () => {
    await spoken(...messages);
    await stillServes();
  });
}

test('frames: the result is the same for any division of the stream', () => {
  const stream = Buffer.concat([
    Buffer.from([0x45, 0x44, 0, 1, 0, 0, 2, 9, 9]),
    intro,
    Buffer.from([0, 0, 2, 1, 2]),
    Buffer.from([0, 0, 1, 3]),
  ]);
  const expected = ['0102', '03'];
  for (let step = 1; step <= stream.length; step += 1) {
    const reader = new FrameReader(100);
    const frames: string[] = [];
    for (let at = 0; at < stream.length; at += step) {
      for (const one of reader.push(stream.subarray(at, at + step))) frames.push(one.toString('hex'));
    }
    assert.deepEqual(frames, expected);
  }
});

test('nodes: a zip bomb is refused', () => {
  const bomb = Buffer.concat([Buffer.from([2]), deflateSync(Buffer.alloc(100 * 1024 * 1024))]);
  assert.throws(() => decodeNode(bomb), /larger|too large|buffer/i);
});

const authenticated: [string, BinaryNode][] = [
  ['a message without anything', { tag: 'message', attrs: {} }],
  [
    'a message to nowhere',
    {
      tag: 'message',
      attrs: { id: 'x', to: 'nobody' },
      content: [{ tag: 'enc', attrs: { type: 'msg', v: '2' }, content: Buffer.alloc(9) }],
    },
  ],
  [
    'an envelope of an unknown kind',
    {
      tag: 'message',
      attrs: { id: 'y', to: '5511988880041@s.whatsapp.net' },
      content: [{ tag: 'enc', attrs: { type: '__proto__' }, content: Buffer.alloc(9) }],
    },
  ],
  ['a receipt without anything', { tag: 'receipt', attrs: {} }],
  ['a retry for nothing', { tag: 'receipt', attrs: { id: 'z', to: '5511988880041@s.whatsapp.net', type: 'retry' } }],
  ['an ack for nothing', { tag: 'ack', attrs: { id: 'z', class: 'constructor' } }],
  ['a question without a child', { tag: 'iq', attrs: { id: '1', type: 'set', xmlns: 'w:g2', to: '1@g.us' } }],
  ['a question that nobody knows', { tag: 'iq', attrs: { id: '2', type: 'get', xmlns: 'w:nothing' } }],
  ['keys that are none', { tag: 'iq', attrs: { id: '3', type: 'set', xmlns: 'encrypt' }, content: [{ tag: 'registration', attrs: {} }] }],
  [
    'keys of a foreign identity',
    {
      tag: 'iq',
      attrs: { id: '4', type: 'set', xmlns: 'encrypt' },
      content: [
        { tag: 'registration', attrs: {}, content: Buffer.alloc(4) },
        { tag: 'identity', attrs: {}, content: Buffer.alloc(32) },
      ],
    },
  ],
  ['an unknown stanza', { tag: 'whatever', attrs: { id: '5' } }],
  ['a presence of nobody', { tag: 'presence', attrs: { type: 'subscribe' } }],
  ['a chat state to nowhere', { tag: 'chatstate', attrs: { to: 'x' }, content: [{ tag: 'composing', attrs: {} }] }],
];

for (const [title, node] of authenticated) {
  test(`logged in: ${title} does no harm`, async () => {
    await client.sock.sendNode(node);
    await stillServes();
  });
}

test('logged in: unknown requests are counted', () => {
  const { unknown } = sandbox.sandbox.stats();
  assert.equal(unknown['whatever'], 1, JSON.stringify(unknown));
  assert.equal(unknown['w:nothing/get/'], 1);
});

test('plain sockets: silence, noise and half a TLS hello do no harm', async () => {
  for (const data of [Buffer.alloc(0), Buffer.from('\0\0\0\0\r\n\r\n'), Buffer.from([0x16, 3, 1, 0, 5, 1, 2])]) {
    const socket = connectTcp(sandbox.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.resume();
    socket.write(data);
    socket.end();
    await new Promise((resolve) => socket.on('close', resolve));
  }
  await stillServes();
  const response = await fetch(`http://127.0.0.1:${sandbox.port}/stats`);
  assert.equal(response.status, 200);
});

test('upgrades: those of other paths are refused', async () => {
  const ws = new WebSocket(`ws://127.0.0.1:${sandbox.port}/other`);
  const error = await new Promise<Error>((resolve) => ws.on('error', resolve));
  assert.match(error.message, /404/);
  await eventually(() => sandbox.sandbox.stats().connections.open === 1, 'the others to be gone');
});
