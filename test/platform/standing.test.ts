/** Tests the restrictions of an account: the times that the platform leaves out. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import type { WASocket } from '@whiskeysockets/baileys';
import type { TimeLock } from '#actors/model.ts';
import { Standing } from '#src/platform/outbound/standing.ts';

/** The platform's answer to the query for the time-lock, as the library returns it. */
type Answer = Awaited<ReturnType<WASocket['fetchAccountReachoutTimelock']>>;

/** Opens the standing of an account. `hear` receives a notification of the platform. */
const opened = (answer: Answer) => {
  const ws = new EventEmitter();
  const locks: TimeLock[] = [];
  const sock = { ws, fetchAccountReachoutTimelock: async () => answer } as unknown as WASocket;
  const standing = new Standing(sock, (lock) => void locks.push(lock));
  const hear = (lock: object): void => {
    const content = Buffer.from(JSON.stringify({ data: { xwa2_notify_account_reachout_timelock: lock } }));
    ws.emit('CB:notification,type:mex', { tag: 'notification', attrs: {}, content: [{ tag: 'update', attrs: {}, content }] });
  };
  return { standing, locks, hear };
};

/** Returns the time until the end of a time-lock that began at or after `from`. In whole seconds; null if the time-lock has no end. */
const secondsOf = (lock: TimeLock | undefined, from: number): number | null =>
  typeof lock?.until === 'number' ? Math.floor((lock.until - from) / 1000) : null;

test('standing: an active time-lock without an end lasts a minute, whether the platform answers or notifies', async () => {
  const from = Date.now();
  const { standing, locks, hear } = opened({ isActive: true });
  await standing.timeLock();
  hear({ is_active: true, time_enforcement_ends: '0', enforcement_type: 'DEFAULT' });
  hear({ is_active: true });
  const seconds = locks.map((lock) => secondsOf(lock, from));
  assert.equal(seconds.length, 3);
  // The clock of the test runs on, so the time may be some seconds longer.
  assert.ok(
    seconds.every((one) => one !== null && one >= 60 && one < 120),
    seconds.join(),
  );
});

test('standing: a time-lock keeps the end that the platform names, and a lifted one has no end', async () => {
  const { standing, locks, hear } = opened({ isActive: true, timeEnforcementEnds: new Date(5_000) });
  await standing.timeLock();
  hear({ is_active: true, time_enforcement_ends: '7', enforcement_type: 'DEFAULT' });
  hear({ is_active: false });
  assert.deepEqual(
    locks.map(({ active, until }) => [active, until]),
    [
      [true, 5_000],
      [true, 7_000],
      [false, null],
    ],
  );
});
