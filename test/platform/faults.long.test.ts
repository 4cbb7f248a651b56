/** Tests every way in which a connection ends, including those that the library never reports. Each is one close with its code. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Fault } from '#src/sandbox/interface.ts';
import { until } from '#test/support/until.ts';
import { type Bench, connected, type Instance, startBench } from './setup.ts';

let bench: Bench;
let paired: Instance;
const number = '5511900000001';

before(async () => {
  bench = await startBench();
  paired = await connected(bench, number, { open: 8_000, login: 8_000, close: 2_000, silence: 8_000 });
});
after(() => bench.stop());

/** Opens the link again after any earlier fault. */
const reopened = async (): Promise<void> => {
  await paired.link.close();
  paired.open();
  await paired.fact('platform.opened');
};

const live: readonly (readonly [string, Fault, number | null])[] = [
  ['a close of the WebSocket', { kind: 'close', code: 1011 }, 428],
  ['a reset of the connection', { kind: 'reset' }, 428],
  ['silence', { kind: 'silence' }, 408],
  ['the end of the stream', { kind: 'streamEnd' }, 428],
  ['stream error 503', { kind: 'streamError', code: 503 }, 503],
  ['stream error 516', { kind: 'streamError', code: 516 }, 516],
  ['a stream error without a code', { kind: 'streamError' }, 500],
  ['another login', { kind: 'conflict' }, 440],
  ['a frame that cannot be decrypted', { kind: 'corruptFrame' }, 500],
];

for (const [title, fault, code] of live) {
  test(`link: ${title} while connected is a close with ${code}`, async () => {
    await reopened();
    await bench.running.sandbox.fault({ ...fault, number });
    const { close } = await paired.fact('platform.closed');
    assert.equal(close.code, code);
    assert.deepEqual(paired.surprises, []);
    assert.equal(paired.facts.all.filter(({ type }) => type === 'platform.opened').length > 0, true);
  });
}

const opening: readonly (readonly [string, Fault, number | null])[] = [
  ['a refused upgrade', { kind: 'refuseUpgrade', code: 503 }, 503],
  ['an upgrade refused with 429', { kind: 'refuseUpgrade', code: 429 }, 429],
  ['a silent handshake', { kind: 'silentHandshake' }, 408],
  ['a handshake of garbage', { kind: 'garbageHandshake' }, null],
  ['a wrong certificate', { kind: 'badCertificate' }, null],
  ['a login that is never answered', { kind: 'noLogin' }, 408],
  ['a login refused with 403', { kind: 'loginFailure', code: 403 }, 403],
  ['a login refused with 405', { kind: 'loginFailure', code: 405 }, 405],
  ['a close after the login', { kind: 'closeAfterLogin' }, 428],
];

for (const [title, fault, code] of opening) {
  test(`link: ${title} is a close with ${code}`, async () => {
    await paired.link.close();
    await bench.running.sandbox.fault(fault);
    const told = paired.facts.all.length;
    paired.open();
    const { close } = await paired.fact('platform.closed');
    assert.equal(close.code, code, close.message);
    assert.equal(
      paired.facts.all.slice(told).some(({ type }) => type === 'platform.opened'),
      false,
      'a login that died is not reported',
    );
    assert.deepEqual(paired.surprises, []);
    await bench.running.sandbox.fault({ kind: fault.kind, times: 0 });
  });
}

test('link: a simulated platform that cannot be reached is a close with 408', async () => {
  const instance = bench.instance({}, 9);
  instance.open();
  const { close } = await instance.fact('platform.closed');
  assert.equal(close.code, 408);
});

test('link: after close nothing is reported, whatever was under way', async () => {
  await reopened();
  const told = paired.facts.all.length;
  await bench.running.sandbox.fault({ kind: 'close', number });
  await paired.link.close();
  await paired.link.close();
  assert.equal(paired.facts.all.length, told);
  assert.equal(bench.running.sandbox.stats().logins.double, 0);
});

test('link: closing during the open leaves no socket behind', async () => {
  await paired.link.close();
  paired.open();
  await paired.link.close();
  const told = paired.facts.all.length;
  paired.open();
  await paired.fact('platform.opened');
  await until(() => bench.running.sandbox.stats().connections.open === 1, 'one connection is left');
  assert.equal(paired.facts.all.slice(told).filter(({ type }) => type === 'platform.closed').length, 0);
});

test('link: closing a connection whose peer is silent ends by the deadline', async () => {
  await reopened();
  await bench.running.sandbox.fault({ kind: 'silence', number });
  const from = Date.now();
  await paired.link.close();
  // The library itself waits for half a minute.
  assert.ok(Date.now() - from < 20_000, `${Date.now() - from} ms`);
});

test('link: a step of the wall clock ends no idle connection', async (t) => {
  await reopened();
  const now = Date.now;
  const from = now();
  t.mock.method(Date, 'now', () => now() + 60_000);
  const ended = (): boolean => paired.facts.all.at(-1)?.type === 'platform.closed';
  // The platform answers a ping every three seconds.
  await until(() => ended() || paired.link.lastFrameAt() > from + 7_000, 'the platform answers pings after the step');
  assert.equal(ended(), false);
});

test('link: a logout that the platform does not answer is not confirmed, and ends by the deadline', async () => {
  await reopened();
  await bench.running.sandbox.fault({ kind: 'silence', number });
  const from = Date.now();
  assert.equal(await paired.link.logout(), false);
  assert.ok(Date.now() - from < 20_000, `${Date.now() - from} ms`);
});
