/** Tests the connections of a server that closes. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setUp } from './setup.ts';

test('closing: a connection that a client opened in advance, and has not used, is closed at once', { timeout: 50_000 }, async (t) => {
  const { app, address } = await setUp(t);
  const socket = connect(Number(new URL(await address()).port), '127.0.0.1').resume();
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  const accepted = Promise.withResolvers<void>();
  app.server.getConnections((_, count) => (count === 1 ? accepted.resolve() : app.server.once('connection', () => accepted.resolve())));
  await accepted.promise;
  const closed = once(socket, 'close');
  // Node.js waits a minute for the head of a request. The close must not wait that long.
  await app.close();
  await closed;
  assert.equal(socket.bytesWritten, 0);
});
