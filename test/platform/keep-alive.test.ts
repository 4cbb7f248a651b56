/** Tests the pings of a connection and its watchdog on simulated timers. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { KeepAlive } from '#src/platform/link/keep-alive.ts';

/** Opens the parts of a connection whose last frame arrived `age` milliseconds ago. `seen` counts the pings and the reports of a dead connection. */
const opened = (t: TestContext, silenceMs = 90_000) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const state = { age: 0, isOpen: true };
  const seen = { pings: 0, reports: 0 };
  const sock = {
    ws: state as { readonly isOpen: boolean },
    generateMessageTag: () => 'tag',
    query: () => {
      seen.pings += 1;
      return Promise.reject(new Error('the platform did not answer in time'));
    },
  } as unknown as ConstructorParameters<typeof KeepAlive>[0]['sock'];
  const lastFrame = { isOlderThan: (ms: number) => state.age > ms };
  const keepAlive = new KeepAlive({ sock, lastFrame, silenceMs, silent: () => void (seen.reports += 1) });
  t.after(() => keepAlive.end());
  return { keepAlive, state, seen, pass: (ms: number) => t.mock.timers.tick(ms) };
};

test('keep-alive: pings leave every 30 s from the handshake to the end, and none on a closed socket', (t) => {
  const { keepAlive, state, seen, pass } = opened(t);
  pass(60_000);
  assert.equal(seen.pings, 0);
  keepAlive.begin();
  pass(90_000);
  assert.deepEqual(seen, { pings: 3, reports: 0 });
  state.isOpen = false;
  pass(30_000);
  assert.equal(seen.pings, 3);
  state.isOpen = true;
  keepAlive.end();
  pass(600_000);
  assert.deepEqual(seen, { pings: 3, reports: 0 });
});

test('keep-alive: a connection without a frame since the last ping is reported at the time of the next ping', (t) => {
  const { keepAlive, state, seen, pass } = opened(t);
  keepAlive.begin();
  state.age = 34_000;
  pass(30_000);
  assert.deepEqual(seen, { pings: 1, reports: 0 });
  state.age = 60_000;
  pass(30_000);
  assert.deepEqual(seen, { pings: 1, reports: 1 });
});

test('keep-alive: before the handshake a connection counts as dead after the whole limit', (t) => {
  const { state, seen, pass } = opened(t, 6_000);
  state.age = 6_000;
  pass(1_000);
  assert.equal(seen.reports, 0);
  state.age = 6_001;
  pass(1_000);
  assert.deepEqual(seen, { pings: 0, reports: 1 });
});
