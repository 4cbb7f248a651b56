/** Tests the session of a connection whose socket cannot be made. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSession } from '#src/platform/link/session.ts';
import type { SessionOptions } from '#src/platform/link/session-options.ts';
import { directRoute } from '#src/platform/proxy/route.ts';
import { deadlines, quietLog } from './setup.ts';

test('session: a socket that cannot be made leaves no timer and no route', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  let now = 0;
  let closes = 0;
  const options = {
    url: 'no address',
    version: [2, 3000, 1],
    auth: { state: { creds: {}, keys: {} }, holdVersions: () => undefined, peek: () => null },
    route: { ...directRoute(null), close: () => void (closes += 1) },
    deadlines,
    open: {},
    log: quietLog,
    host: { id: 'r0' },
    timers: [],
    groups: { maxAgeMs: 1 },
    now: () => now,
  } as unknown as SessionOptions;
  assert.throws(() => openSession(options), /Invalid URL/);
  now = 10 * deadlines.silence;
  t.mock.timers.tick(now);
  assert.equal(closes, 1);
});
