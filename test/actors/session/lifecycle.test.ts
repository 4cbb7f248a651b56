/** Tests the chart of a session on simulated time: every state and its transitions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { identity } from '#test/fakes/platform.ts';
import { settle } from '#test/fakes/time.ts';
import { Chart, keepSound, liveChart } from './chart.ts';

const keep = keepSound();

/* ---------- beginnings ---------- */

for (const [begin, state, opens] of [
  ['offline', 'disconnected.idle', 0],
  ['asleep', 'hibernated.asleep', 0],
  ['online', 'connecting.opening', 1],
] as const) {
  test(`chart: one that begins ${begin} is ${state}`, async () => {
    const chart = keep(new Chart(begin));
    await settle();
    assert.equal(chart.state, state);
    assert.equal(chart.link.opens.length, opens);
  });
}

/* ---------- pairing ---------- */

test('chart: a QR code is shown as a picture, replaced by the next one, and announced to integrators once', async () => {
  const chart = keep(new Chart());
  await chart.connect();
  chart.link.say({ type: 'platform.handshaken' }, { type: 'platform.qr', qr: 'one' });
  await settle();
  assert.equal(chart.state, 'connecting.pairing');
  assert.equal(chart.context.qrcode, 'png:one');
  chart.link.say({ type: 'platform.qr', qr: 'two' });
  await settle();
  assert.equal(chart.context.qrcode, 'png:two');
  assert.deepEqual(chart.news, [{ status: 'connecting', qrcode: 'png:one' }]);
});

test('chart: pairing by QR code passes through the restart that the platform requests, at once and without a count', async () => {
  const chart = keep(new Chart());
  await chart.connect();
  chart.link.say({ type: 'platform.handshaken' }, { type: 'platform.qr', qr: 'one' });
  await settle();
  chart.link.say({ type: 'platform.paired', identity });
  assert.equal(chart.state, 'connecting.authenticating');
  assert.equal(chart.noted.jid, identity.jid);
  await chart.end(515);
  assert.equal(chart.state, 'connecting.opening');
  assert.equal(chart.link.opens.length, 2);
  assert.equal(chart.link.opens[1]?.at, chart.link.opens[0]?.at);
  await chart.login();
  assert.equal(chart.state, 'connected');
  assert.equal(chart.context.failures, 0);
  assert.equal(chart.context.qrcode, '');
  assert.equal(chart.lives, 1);
  assert.equal(chart.noted.lastDisconnect, undefined, 'a restart is no disconnect');
});

test('chart: pairing by code passes the phone number to the link and shows the code', async () => {
  const chart = keep(new Chart());
  await chart.connect({ phone: '5511988887777' });
  assert.deepEqual(chart.link.opens[0]?.options, { phone: '5511988887777' });
  chart.link.say({ type: 'platform.handshaken' }, { type: 'platform.code', code: 'ABCD1234' });
  assert.equal(chart.state, 'connecting.pairing');
  assert.equal(chart.context.paircode, 'ABCD1234');
  await chart.time.pass(300_499);
  assert.equal(chart.state, 'connecting.pairing');
  await chart.time.pass(1);
  assert.equal(chart.state, 'disconnected.idle');
});

for (const [title, expire] of [
  ['the time of the gateway', (chart: Chart) => chart.time.pass(120_500)],
  ['a 408 of the platform', (chart: Chart) => chart.end(408)],
] as const) {
  test(`chart: pairing that runs out by ${title} is no failure and is not retried`, async () => {
    const chart = keep(new Chart());
    await chart.connect();
    chart.link.say({ type: 'platform.handshaken' }, { type: 'platform.qr', qr: 'one' });
    await settle();
    await expire(chart);
    assert.equal(chart.state, 'disconnected.idle');
    assert.equal(chart.context.qrcode, '');
    assert.equal(chart.noted.wanted, 'offline');
    assert.equal(chart.noted.lastDisconnect, chart.time.now());
    assert.equal(chart.noted.lastDisconnectCause, 'pairingExpired');
    for (const reason of [chart.noted.lastDisconnectReason, chart.news.at(-1)?.reason])
      assert.equal(reason, '408: the QR or pairing code ran out');
    assert.notEqual(chart.news.at(-1)?.loggedOut, true);
    await chart.time.pass(3_600_000);
    assert.equal(chart.link.opens.length, 1);
    assert.equal(chart.link.state, 'closed');
  });
}

test('chart: a picture that is ready only after the pairing is not shown', async () => {
  const chart = keep(new Chart());
  await chart.connect();
  chart.link.say({ type: 'platform.handshaken' }, { type: 'platform.qr', qr: 'late' }, { type: 'platform.paired', identity });
  await settle();
  assert.equal(chart.state, 'connecting.authenticating');
  assert.equal(chart.context.qrcode, '');
});

/* ---------- closes ---------- */

test('chart: a fourth restart within a minute is counted', async () => {
  const chart = keep(new Chart('online'));
  await settle();
  await chart.end(515);
  await chart.end(515);
  assert.equal(chart.state, 'connecting.opening');
  assert.equal(chart.context.failures, 0);
  await chart.end(515);
  assert.equal(chart.state, 'connecting.waiting');
  assert.equal(chart.context.failures, 1);
});

test('chart: a live session that the platform restarts waits for the gate', async () => {
  const chart = keep(await liveChart());
  const { signal } = new AbortController();
  await chart.time.pass(2_000);
  const others = ['a', 'b', 'c', 'd', 'e'];
  await Promise.all(others.map((id) => chart.gate.admit(id, signal)));
  await chart.time.pass(2_000);
  await chart.end(515);
  assert.equal(chart.state, 'connecting.admission');
  chart.gate.release('a');
  await settle();
  assert.equal(chart.state, 'connecting.opening');
  assert.equal(chart.context.failures, 0);
});

test('chart: a session whose proxy failed leaves the last slot of the gate to others', async () => {
  const chart = keep(new Chart('online'));
  const { signal } = new AbortController();
  await settle();
  await chart.end(null, { reason: 'proxyFailed' });
  await Promise.all(['a', 'b', 'c', 'd'].map((id) => chart.gate.admit(id, signal, true)));
  await chart.time.pass(chart.context.retryInMs);
  assert.equal(chart.state, 'connecting.admission');
  chart.gate.release('a');
  await chart.time.pass(1_000);
  assert.equal(chart.state, 'connecting.opening');
});

test('chart: restarts that are far apart are not counted', async () => {
  const chart = keep(new Chart('online'));
  await settle();
  for (let n = 0; n < 5; n += 1) {
    await chart.end(515);
    assert.equal(chart.state, 'connecting.opening');
    await chart.time.pass(30_001);
  }
});

test('chart: a lost connection is retried after growing pauses, for ever', async () => {
  const chart = keep(new Chart('online'));
  await settle();
  for (let n = 0; n < 12; n += 1) {
    await chart.end(428);
    assert.equal(chart.state, 'connecting.waiting');
    const delay = chart.context.retryInMs;
    const whole = Math.min(300_000, 1000 * 2 ** n);
    assert.ok(delay >= whole / 2 && delay <= whole, `pause ${n} is ${delay} ms`);
    await chart.time.pass(delay - 1);
    assert.equal(chart.state, 'connecting.waiting');
    await chart.time.pass(1);
    assert.equal(chart.state, 'connecting.opening');
  }
  assert.equal(chart.link.opens.length, 13);
});

test('chart: only a stable connection resets the pause to the shortest', async () => {
  const chart = keep(new Chart('online'));
  await settle();
  for (let n = 0; n < 4; n += 1) {
    await chart.end(503);
    await chart.time.pass(chart.context.retryInMs);
  }
  await chart.login();
  await chart.time.pass(299_999);
  await chart.end(503);
  assert.equal(chart.context.failures, 5);
  await chart.time.pass(chart.context.retryInMs);
  await chart.login();
  await chart.time.pass(300_000);
  await chart.end(503);
  assert.equal(chart.context.failures, 1);
  assert.ok(chart.context.retryInMs <= 1000);
});

test('chart: a close after open records its time and its reason, as a text and as a code', async () => {
  const chart = keep(await liveChart());
  await chart.end(428);
  assert.equal(chart.noted.lastDisconnect, chart.time.now());
  assert.equal(chart.noted.lastDisconnectReason, '428: connection lost');
  assert.equal(chart.noted.lastDisconnectCause, 'connectionLost');
  assert.equal(chart.noted.wanted, undefined, "what was asked for is not the chart's to change");
});

test('chart: a 401 sets the credentials aside, with its reason, and requires a new pairing', async () => {
  const chart = keep(await liveChart());
  await chart.end(401);
  assert.equal(chart.state, 'disconnected.loggedOut');
  assert.deepEqual(chart.link.discarded, [{ how: 'setAside', reason: '401: logged out from another device' }]);
  assert.equal(chart.noted.jid, '');
  assert.equal(chart.noted.wanted, 'offline');
  assert.equal(chart.news.at(-1)?.loggedOut, true);
  await chart.connect();
  assert.equal(chart.state, 'connecting.opening');
});

for (const code of [400, 402, 403, 406, 409, 411, 418]) {
  test(`chart: a ${code} is a refusal: nothing is retried, credentials stay, a connect begins anew`, async () => {
    const chart = keep(await liveChart());
    await chart.end(code);
    assert.equal(chart.state, 'disconnected.refused');
    assert.deepEqual(chart.link.discarded, []);
    assert.notEqual(chart.news.at(-1)?.loggedOut, true);
    assert.match(chart.news.at(-1)?.reason ?? '', new RegExp(`^${code}: `));
    await chart.time.pass(86_400_000);
    assert.equal(chart.link.opens.length, 1);
    await chart.connect();
    assert.equal(chart.state, 'connecting.opening');
  });
}

test('chart: closes without a known meaning are retried five times, then refused, and the credentials stay', async () => {
  const chart = keep(new Chart('online'));
  await settle();
  for (const code of [500, null, 599, 500]) {
    await chart.end(code);
    assert.equal(chart.state, 'connecting.waiting');
    await chart.time.pass(chart.context.retryInMs);
  }
  await chart.end(500);
  assert.equal(chart.state, 'disconnected.refused');
  assert.deepEqual(chart.link.discarded, []);
});

test('chart: reaching open resets the count of closes without a meaning', async () => {
  const chart = keep(new Chart('online'));
  await settle();
  for (let n = 0; n < 12; n += 1) {
    await chart.end(500);
    await chart.time.pass(chart.context.retryInMs);
    if (n % 4 === 3) {
      await chart.login();
      await chart.end(428);
      await chart.time.pass(chart.context.retryInMs);
    }
  }
  assert.equal(chart.state, 'connecting.opening');
});

test('chart: a replacement by another login is contested once, after a delay, and a second one within the window is final', async () => {
  const chart = keep(await liveChart());
  await chart.end(440);
  assert.equal(chart.state, 'connecting.waiting');
  assert.ok(chart.context.retryInMs >= 60_000 && chart.context.retryInMs <= 120_000);
  await chart.time.pass(chart.context.retryInMs);
  await chart.login();
  await chart.end(440);
  assert.equal(chart.state, 'disconnected.refused');
  assert.equal(chart.noted.lastDisconnectCause, 'replaced');
});

test('chart: replacements that are far apart are contested each time', async () => {
  const chart = keep(await liveChart());
  for (let n = 0; n < 3; n += 1) {
    await chart.end(440);
    assert.equal(chart.state, 'connecting.waiting');
    await chart.time.pass(chart.context.retryInMs);
    await chart.login();
    await chart.time.pass(600_001);
  }
});

for (const [title, code, data] of [
  ['a back-off', 428, undefined],
  ['a suspension', 402, { expire: '86400' }],
] as const) {
  test(`chart: a client that polls connect during ${title} opens a connection twice a minute, not at each call`, async () => {
    const chart = keep(await liveChart());
    for (let n = 0; n < 8; n += 1) {
      await chart.end(428);
      await chart.time.pass(chart.context.retryInMs);
    }
    await chart.end(code, data);
    const { length: opens } = chart.link.opens;
    await chart.connect();
    assert.equal(chart.link.opens.length, opens + 1, 'the first is obeyed at once');
    for (let n = 0; n < 60; n += 1) {
      if (chart.state === 'connecting.opening') await chart.end(code, data);
      await chart.time.pass(1000);
      await chart.connect();
    }
    const polled = chart.link.opens.length - opens;
    assert.ok(polled >= 2 && polled <= 3, `${polled} connections in a minute`);
  });
}

test('chart: a client version that is too old backs off, and leaves the rest to the gate of all instances', async () => {
  const chart = keep(new Chart('online'));
  await settle();
  await chart.end(405);
  assert.equal(chart.state, 'connecting.waiting');
  assert.ok(chart.context.retryInMs <= chart.policy.reconnect.min);
});

test('chart: an HTTP error on the upgrade backs off, and a 401 there keeps the credentials', async () => {
  const chart = keep(new Chart('online'));
  await settle();
  await chart.end(401, { stage: 'upgrade' });
  assert.equal(chart.state, 'connecting.waiting');
  assert.deepEqual(chart.link.discarded, []);
});

test('chart: facts of an old connection are dropped', async () => {
  const chart = keep(new Chart('online'));
  await settle();
  const old = chart.link.opens[0]?.emit;
  await chart.end(428);
  old?.({ type: 'platform.opened', identity });
  assert.equal(chart.state, 'connecting.waiting');
  await chart.time.pass(chart.context.retryInMs);
  old?.({ type: 'platform.closed', close: { code: 401, message: 'late' } });
  old?.({ type: 'platform.qr', qr: 'late' });
  await settle();
  assert.equal(chart.state, 'connecting.opening');
  await chart.login();
  old?.({ type: 'platform.closed', close: { code: 401, message: 'later' } });
  assert.equal(chart.state, 'connected');
  assert.deepEqual(chart.link.discarded, []);
});

test('chart: a changed identity is recorded while connected', async () => {
  const chart = keep(await liveChart());
  chart.link.say({ type: 'platform.identity', patch: { profileName: 'New' } });
  assert.equal(chart.noted.profileName, 'New');
});
