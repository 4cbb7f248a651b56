/** Tests a session that is flooded with frames. It handles a few in each turn of the event loop, in order, and the close comes last. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { FairScheduler, type ScheduledSocket, scheduleFrames } from '#src/platform/wire/frames.ts';
import { until } from '#test/support/until.ts';

interface Told {
  readonly what: string;
  readonly turn: number;
}

/** Opens a connection. Records the frames of the near end, and the turn of the event loop in which each was handled. */
const connected = async (t: TestContext) => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const near = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [[far]] = (await Promise.all([once(server, 'connection'), once(near, 'open')])) as [[WebSocket], unknown];
  let [turn, over] = [0, false];
  const count = (): void => {
    turn += 1;
    if (!over) setImmediate(count);
  };
  count();
  t.after(() => {
    over = true;
    near.terminate();
    server.close();
  });
  const told: Told[] = [];
  near.on('message', (data: Buffer) => told.push({ what: data.toString(), turn }));
  near.on('close', (code: number) => told.push({ what: `closed with ${code}`, turn }));
  scheduleFrames(near as unknown as ScheduledSocket, new FairScheduler({ least: 8, cost: 1_000 }), () => undefined);
  return { near, far, told, wire: (far as unknown as { readonly _socket: Socket })._socket };
};

const frames = Array.from({ length: 600 }, (_, n) => `frame ${n}`);

test('frames: simultaneous ones are handled in several turns, in order, and the close follows them', async (t) => {
  const { near, far, told, wire } = await connected(t);
  const closed = new Promise<void>((resolve) => {
    near.on('close', () => {
      // This listener is called after all frames were handled, unlike the one that takes turns.
      const look = (): void => void (told.length > frames.length ? resolve() : setImmediate(look));
      look();
    });
  });
  wire.cork();
  for (const frame of frames) far.send(frame);
  far.close(4000);
  wire.uncork();
  await closed;
  assert.deepEqual(
    told.map(({ what }) => what),
    [...frames, 'closed with 4000'],
  );
  const inTurn = new Map<number, number>();
  for (const { turn } of told) inTurn.set(turn, (inTurn.get(turn) ?? 0) + 1);
  assert.ok(Math.max(...inTurn.values()) <= 40, `${Math.max(...inTurn.values())} in one turn`);
});

test('frames: a single one is handled at once', async (t) => {
  const { near, far, told } = await connected(t);
  for (const frame of ['one', 'two']) {
    const heard = once(near, 'message');
    far.send(frame);
    await heard;
    assert.equal(told.at(-1)?.what, frame);
  }
});

test('frames: a socket with too many waiting frames is not read until they were handled', async (t) => {
  const { near, told, far, wire } = await connected(t);
  const pauses: string[] = [];
  for (const name of ['pause', 'resume'] as const) {
    const real = near[name].bind(near);
    near[name] = () => {
      pauses.push(`${name} at ${told.length}`);
      real();
    };
  }
  wire.cork();
  for (const frame of frames) far.send(frame);
  wire.uncork();
  while (told.length < frames.length) await new Promise(setImmediate);
  assert.match(pauses[0] ?? '', /^pause/);
  assert.match(pauses.at(-1) ?? '', /^resume/);
  assert.ok(!near.isPaused);
});

/** Returns a socket without a network, whose frames come from the test. */
const emitting = (scheduler: FairScheduler, tell: () => void = () => undefined) => {
  const socket = Object.assign(new EventEmitter(), { pause: () => undefined, resume: () => undefined });
  const state = { told: 0, seen: 0 };
  socket.on('message', () => {
    state.told += 1;
    tell();
  });
  scheduleFrames(socket as unknown as ScheduledSocket, scheduler, () => (state.seen += 1));
  return { socket, state };
};

test('frames: a socket with one frame does not wait for all the frames of another', async () => {
  const scheduler = new FairScheduler({ least: 4, cost: 1000 });
  const flooded = emitting(scheduler);
  let before = -1;
  const quiet = emitting(scheduler, () => (before = flooded.state.told));
  for (const frame of frames) flooded.socket.emit('message', frame);
  quiet.socket.emit('message', 'one');
  await until(() => flooded.state.told === frames.length, 'the flood is over');
  assert.ok(before >= 0 && before < 20, `${before} frames of the other were taken before`);
});

test('frames: one that waits for its turn is reported at its arrival, and again when it is handled', async () => {
  const { socket, state } = emitting(new FairScheduler({ least: 1, cost: 1000 }));
  for (const frame of frames) socket.emit('message', frame);
  assert.deepEqual(state, { told: 1, seen: frames.length + 1 });
  await until(() => state.told === frames.length, 'all are taken');
  assert.equal(state.seen, 2 * frames.length);
});
