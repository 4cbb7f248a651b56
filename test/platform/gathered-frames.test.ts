/** Tests outgoing frames on a real socket. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { after, test } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { gatherFrames, type FrameSocket } from '#src/platform/wire/frames.ts';

const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
await once(server, 'listening');
const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
const [[peer]] = (await Promise.all([once(server, 'connection'), once(client, 'open')])) as [[WebSocket], unknown];
after(() => {
  client.terminate();
  server.close();
});

const raw = client as unknown as FrameSocket & { readonly _socket: Socket };
gatherFrames(raw, { granted: () => true, denied: () => undefined });

/** Counts the system calls where the stream makes them. */
let writes = 0;
const stream = raw._socket as unknown as Record<'_write' | '_writev', (...args: unknown[]) => void>;
for (const name of ['_write', '_writev'] as const) {
  const write = stream[name].bind(stream);
  stream[name] = (...args) => {
    writes += 1;
    write(...args);
  };
}

const received: string[] = [];
const arrived = Promise.withResolvers<void>();
peer.on('message', (data: Buffer) => {
  received.push(data.toString());
  if (data.toString() === 'last') arrived.resolve();
});

test('frames: frames of one turn leave in order, with one system call', async () => {
  const frames = Array.from({ length: 20 }, (_, n) => `frame ${n}`);
  for (const frame of frames) raw.send(Buffer.from(frame));
  await Promise.resolve();
  raw.send(Buffer.from('behind a promise'));
  assert.equal(writes, 0);
  await new Promise(setImmediate);
  assert.equal(writes, 1);
  raw.send(Buffer.from('last'));
  await arrived.promise;
  assert.deepEqual(received, [...frames, 'behind a promise', 'last']);
});

test('frames: the sender of one need not wait for the others', () => {
  let done = 0;
  raw.send(Buffer.from('a'), () => (done += 1));
  assert.equal(done, 1);
});

/** Opens another connection, whose process may lose its session at any time. */
const fenced = async () => {
  const own = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [[other]] = (await Promise.all([once(server, 'connection'), once(own, 'open')])) as [[WebSocket], unknown];
  const state = { granted: true, denied: 0 };
  gatherFrames(own as unknown as FrameSocket, { granted: () => state.granted, denied: () => void (state.denied += 1) });
  const got: string[] = [];
  other.on('message', (data: Buffer) => got.push(data.toString()));
  return { own, got, state, closed: once(other, 'close') };
};

test('frames: without permission none leaves, and the connection ends', async () => {
  const { own, got, state, closed } = await fenced();
  state.granted = false;
  const error = await new Promise((resolve) => own.send(Buffer.from('a'), resolve));
  assert.ok(error instanceof Error);
  await closed;
  assert.deepEqual(got, []);
  assert.equal(state.denied, 1);
});

test('frames: gathered ones do not leave if permission is lost in between', async () => {
  const { own, got, state, closed } = await fenced();
  own.send(Buffer.from('a'));
  state.granted = false;
  await closed;
  assert.deepEqual(got, []);
  assert.equal(state.denied, 1);
});

test('frames: a frame for a closed connection fails', async () => {
  client.terminate();
  await once(client, 'close');
  const error = await new Promise((resolve) => raw.send(Buffer.from('late'), resolve));
  assert.ok(error instanceof Error);
});
