/** Tests the logout of a session that is not connected. The session logs in, within a limit, to unlink its device. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { identity } from '#test/fakes/platform.ts';
import { settle } from '#test/fakes/time.ts';
import { Chart, keepSound, liveChart } from './chart.ts';

const keep = keepSound();

const online = async (): Promise<Chart> => {
  const chart = new Chart('online', { handshakes: { atOnce: 1, perSecond: 1000 } });
  await settle();
  return chart;
};

const ended = (code: number, data?: Readonly<Record<string, string>>) => async (): Promise<Chart> => {
  const chart = await liveChart();
  await chart.end(code, data);
  return chart;
};

/** Ways to a session that has credentials and no live connection. */
const unconnected: Readonly<Record<string, () => Promise<Chart>>> = {
  'hibernated.asleep': async () => new Chart('asleep'),
  'disconnected.idle': async () => {
    const chart = await liveChart();
    await chart.do('instance.stop');
    return chart;
  },
  'disconnected.refused': ended(403),
  'disconnected.suspended': ended(402, { expire: '3600' }),
  'connecting.admission': async () => {
    const chart = new Chart('online', { handshakes: { atOnce: 1, perSecond: 1000 } });
    await settle();
    await chart.end(428);
    await chart.gate.admit('other', new AbortController().signal);
    await chart.time.pass(chart.context.retryInMs);
    chart.time.setTimeout(() => chart.gate.release('other'), 1);
    return chart;
  },
  'connecting.opening': online,
  'connecting.authenticating': async () => {
    const chart = await online();
    chart.link.say({ type: 'platform.handshaken' });
    return chart;
  },
  'connecting.waiting': ended(428),
};

/** Returns a chart after a disconnect command, while the session connects to the platform. */
const unlinking = async (begin: () => Promise<Chart> = async () => new Chart('asleep')): Promise<Chart> => {
  const chart = keep(await begin());
  await chart.do('instance.disconnect');
  await chart.time.pass(1);
  assert.equal(chart.state, 'unlinking.opening');
  return chart;
};

const assertForgotten = (chart: Chart, logouts: number): void => {
  assert.equal(chart.state, 'disconnected.idle');
  assert.deepEqual([chart.link.state, chart.link.logouts, chart.time.armed], ['closed', logouts, 0]);
  assert.deepEqual(
    chart.link.discarded.map(({ how }) => how),
    ['delete'],
  );
  assert.deepEqual([chart.noted.wanted, chart.noted.jid], ['offline', '']);
  assert.deepEqual([chart.news.at(-1)?.status, chart.news.at(-1)?.loggedOut], ['disconnected', true]);
};

for (const [state, begin] of Object.entries(unconnected)) {
  test(`unlink: disconnect in ${state} logs in, logs out, then deletes the credentials`, async () => {
    const chart = keep(await begin());
    assert.equal(chart.state, state);
    const { length: opens } = chart.link.opens;
    const { length: news } = chart.news;
    const { lives } = chart;
    await chart.do('instance.disconnect');
    await chart.time.pass(1);
    assert.equal(chart.state, 'unlinking.opening');
    assert.ok(chart.actor.getSnapshot().hasTag('closing'), 'commands wait');
    assert.deepEqual(chart.link.discarded, []);
    const loggedOut = Promise.withResolvers<string>();
    const logout = chart.link.logout.bind(chart.link);
    chart.link.logout = () => (loggedOut.resolve(chart.link.state), logout());
    await chart.login();
    assert.equal(await loggedOut.promise, 'live', 'it logs out on a live connection');
    assertForgotten(chart, 1);
    assert.equal(chart.link.opens.length, opens + 1);
    assert.equal(chart.lives, lives, 'nothing that waits for a live session goes on');
    assert.equal(chart.news.length, news + 1, 'the way there is told to nobody');
    assert.deepEqual(chart.log.of('session.stillLinked'), []);
  });
}

test('unlink: a pairing that has just finished is undone on the phone too', async () => {
  const chart = keep(new Chart());
  await chart.connect();
  chart.link.say({ type: 'platform.handshaken' }, { type: 'platform.paired', identity });
  await chart.do('instance.disconnect');
  assert.equal(chart.state, 'unlinking.opening');
  await chart.login();
  assertForgotten(chart, 1);
});

test('unlink: a session that is closing for hibernation is closed first', async () => {
  const chart = keep(await liveChart());
  const { promise, resolve } = Promise.withResolvers<void>();
  chart.link.closeGate = promise;
  await chart.do('instance.hibernate');
  await chart.do('instance.disconnect');
  assert.equal(chart.state, 'unlinking.closing');
  assert.equal(chart.link.opens.length, 1);
  resolve();
  await settle();
  chart.link.closeGate = null;
  await chart.login();
  assertForgotten(chart, 1);
});

for (const [title, begin] of [
  ['was never paired', async () => new Chart()],
  ['was logged out on the phone', ended(401)],
] as const) {
  test(`unlink: an instance that ${title} has nothing to unlink, and waits for nothing`, async () => {
    const chart = keep(await begin());
    const { length: opens } = chart.link.opens;
    await chart.do('instance.disconnect');
    assert.equal(chart.state, 'disconnected.idle');
    assert.equal(chart.link.opens.length, opens);
    assert.deepEqual(chart.log.of('session.stillLinked'), []);
  });
}

/** Cases in which the platform does not learn of the logout, with the reason in the log. */
const inVain: readonly (readonly [title: string, happens: (chart: Chart) => Promise<void>, reason: RegExp])[] = [
  ['the login takes longer than the limit', (chart) => chart.time.pass(8_000), /limit/],
  ['the account is locked', (chart) => chart.end(403), /platform/],
  ['the client is too old', (chart) => chart.end(405).then(() => chart.time.pass(8_000)), /limit/],
  ['the process stops', (chart) => chart.do('instance.stop'), /stop/],
];
for (const [title, happens, reason] of inVain) {
  test(`unlink: when ${title} the credentials are deleted all the same, and the log says that the device is still linked`, async () => {
    const chart = await unlinking();
    await happens(chart);
    assertForgotten(chart, 0);
    const [line] = chart.log.of('session.stillLinked');
    assert.equal(line?.level, 'warn');
    assert.equal(line.fields['instance'], 'r1');
    assert.equal(line.fields['account'], '…0001', 'the id is nobody any more');
    assert.match(String(line.fields['reason']), reason);
    await chart.connect();
    assert.equal(chart.state, 'connecting.opening');
  });
}

test('unlink: the limit applies while others are at the gate, and the place in the queue is given up', async () => {
  const chart = keep(new Chart('asleep', { handshakes: { atOnce: 1, perSecond: 1000 } }));
  await chart.gate.admit('other', new AbortController().signal);
  await chart.do('instance.disconnect');
  assert.equal(chart.state, 'unlinking.admission');
  await chart.time.pass(7_999);
  assert.equal(chart.state, 'unlinking.admission');
  await chart.time.pass(1);
  assertForgotten(chart, 0);
  assert.deepEqual([chart.gate.waiting, chart.link.opens.length], [0, 0]);
  assert.equal(chart.log.of('session.stillLinked').length, 1);
});

test('unlink: a device that the phone removed meanwhile needs no logout', async () => {
  const chart = await unlinking();
  await chart.end(401);
  assertForgotten(chart, 0);
  assert.deepEqual(chart.log.of('session.stillLinked'), []);
});

test('unlink: a restart that the platform requests is followed, within the same limit', async () => {
  const chart = await unlinking();
  await chart.time.pass(5_000);
  await chart.end(515);
  assert.equal(chart.state, 'unlinking.opening');
  assert.equal(chart.link.opens.length, 2);
  await chart.time.pass(2_998);
  assert.equal(chart.state, 'unlinking.opening');
  await chart.time.pass(1);
  assertForgotten(chart, 0);
});

test('unlink: a platform that is briefly away is retried with pauses, within the same limit', async () => {
  const chart = await unlinking();
  await chart.end(503);
  assert.equal(chart.state, 'unlinking.waiting');
  await chart.time.pass(chart.context.retryInMs);
  assert.equal(chart.state, 'unlinking.opening');
  await chart.login();
  assertForgotten(chart, 1);
  assert.equal(chart.link.opens.length, 2);
  assert.deepEqual(chart.log.of('session.stillLinked'), []);
});

test('unlink: a session in a long back-off starts with short pauses, and an absent platform ends it at the limit', async () => {
  const chart = keep(await liveChart());
  for (let n = 0; n < 8; n += 1) {
    await chart.end(428);
    await chart.time.pass(chart.context.retryInMs + 1);
  }
  await chart.do('instance.disconnect');
  const { length: opens } = chart.link.opens;
  for (let ms = 0; ms < 9_000; ms += 100) {
    if (chart.state === 'unlinking.opening') await chart.end(503);
    await chart.time.pass(100);
  }
  assertForgotten(chart, 0);
  const tries = chart.link.opens.length - opens;
  assert.ok(tries >= 2 && tries <= 6, `${tries} tries in 8 s`);
  assert.match(String(chart.log.of('session.stillLinked')[0]?.fields['lastClose']), /503/);
});

test('unlink: a connection that ends between the login and the logout is logged', async () => {
  const chart = await unlinking();
  chart.link.ended = true;
  await chart.login();
  assertForgotten(chart, 1);
  assert.match(String(chart.log.of('session.stillLinked')[0]?.fields['reason']), /did not confirm the logout/);
});

for (const command of ['connect', 'disconnect', 'reset', 'hibernate'] as const) {
  test(`unlink: ${command} meanwhile changes nothing and opens no second connection`, async () => {
    const chart = await unlinking();
    if (command === 'connect') await chart.connect();
    else await chart.do(`instance.${command}`);
    assert.equal(chart.state, 'unlinking.opening');
    assert.equal(chart.link.opens.length, 1);
    await chart.login();
    assertForgotten(chart, 1);
  });
}

test('unlink: it takes a place in the gate, and frees it however it ends', async () => {
  for (const end of ['login', 'limit'] as const) {
    const chart = keep(new Chart('asleep', { handshakes: { atOnce: 1, perSecond: 1000 } }));
    await chart.do('instance.disconnect');
    const other = chart.gate.admit('other', new AbortController().signal);
    assert.equal(chart.gate.waiting, 1);
    if (end === 'login') await chart.login();
    else await chart.time.pass(8_000);
    await other;
  }
});
