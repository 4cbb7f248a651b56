/** Frames on their way to the platform, on a real socket. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { after, test } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { gatherFrames, type FrameSocket } from '#src/platform/connection/frames.ts';

const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
await once(server, 'listening');
const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
const [[peer]] = (await Promise.all([once(server, 'connection'), once(client, 'open')])) as [[WebSocket], unknown];
after(() => {
  client.terminate();
  server.close();
});

const raw = client as unknown as FrameSocket & { readonly _socket: Socket };
gatherFrames(raw);

/** Calls to the system, counted where the stream makes them. */
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

test('frames of one turn leave in their order, with one call to the system', async () => {
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

test('who sends a frame need not wait for the others', () => {
  let done = 0;
  raw.send(Buffer.from('a'), () => (done += 1));
  assert.equal(done, 1);
});

test('a frame for a connection that is gone fails', async () => {
  client.terminate();
  await once(client, 'close');
  const error = await new Promise((resolve) => raw.send(Buffer.from('late'), resolve));
  assert.ok(error instanceof Error);
});
