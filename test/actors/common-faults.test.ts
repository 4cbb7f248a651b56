/** Tests faults that many sessions share, such as an old client version, an outage or a suspension, and the metrics of these faults. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OutageWatch } from '#actors/policy/gate.ts';
import { Cell } from '#actors/session/cell.ts';
import { settle } from '#test/fakes/time.ts';
import { liveChart } from './session/chart.ts';
import { staged, type Stage } from './stage.ts';

const ids = Array.from({ length: 12 }, (_, n) => `r${n}`);
const handshakes = { atOnce: 5, perSecond: 5, pause: { min: 10_000, max: 40_000 } };
const day = 86_400_000;

const opensOf = (stage: Stage): number => stage.world.platform.opens.length;
const openLinks = (stage: Stage) => [...stage.world.platform.links.values()].filter((link) => link.state === 'open');
const statuses = (stage: Stage, word: string): number => ids.filter((id) => stage.status(id) === word).length;

/** Starts twelve sessions, all of which the platform closes with `code`. */
async function struck(code: number): Promise<Stage> {
  const stage = await staged(ids, { handshakes });
  assert.equal(statuses(stage, 'connected'), 12);
  for (const id of ids) stage.link(id).end(code);
  await settle();
  return stage;
}

/* ---------- the canary ---------- */

test('canary: when the client version is too old one session tries for all, and each failure lengthens the pause', async () => {
  const stage = await struck(405);
  assert.equal(stage.gateway.numbers().barrier, 'clientTooOld');
  const before = opensOf(stage);
  let last = stage.world.time.now();
  const pauses: number[] = [];
  for (let n = 0; n < 5; n += 1) {
    while (openLinks(stage).length === 0) await stage.world.time.pass(100);
    pauses.push(stage.world.time.now() - last);
    await stage.world.time.pass(3000);
    assert.equal(openLinks(stage).length, 1, 'while it tries nobody else does');
    openLinks(stage)[0]?.end(405);
    last = stage.world.time.now();
  }
  assert.equal(opensOf(stage) - before, 5);
  for (const [n, pause] of pauses.entries()) {
    const whole = Math.min(40_000, 10_000 * 2 ** n);
    assert.ok(pause >= whole / 2 - 100 && pause <= whole + 100, `pause ${n} was ${pause} ms`);
  }
  assert.ok(stage.gateway.numbers().handshakesWaiting >= 10);
  stage.world.assertKept();
});

for (const [code, reason] of [
  [405, 'clientTooOld'],
  [428, 'outage'],
] as const) {
  test(`canary: after ${reason}, its success lets the rest through at the rate of the gate`, async () => {
    const stage = await struck(code);
    assert.equal(stage.gateway.numbers().barrier, reason);
    while (openLinks(stage).length === 0) await stage.world.time.pass(100);
    stage.letIn();
    await stage.world.time.pass(20_000);
    assert.equal(openLinks(stage).length, 1, 'all wait for it, however long');
    const from = opensOf(stage);
    openLinks(stage)[0]?.login();
    await stage.world.time.pass(10_000);
    assert.equal(statuses(stage, 'connected'), 12);
    assert.equal(stage.gateway.numbers().barrier, '');
    const opens = stage.world.platform.opens.slice(from);
    for (const at of opens) assert.ok(opens.filter((other) => other >= at && other < at + 1000).length <= 5);
    stage.world.assertKept();
  });
}

test('canary: one that is stopped, refused or needs a person makes room for another', async () => {
  const stage = await struck(405);
  const seen = new Set<string>();
  for (const end of ['refused', 'hibernated', 'disconnected'] as const) {
    while (openLinks(stage).length === 0) await stage.world.time.pass(100);
    const canary = openLinks(stage)[0];
    assert.ok(canary && !seen.has(canary.host.id));
    seen.add(canary.host.id);
    if (end === 'refused') canary.end(403);
    else await stage.world.answerOf(stage.gateway.disconnect(canary.host.id));
    await stage.world.time.pass(200);
    assert.equal(openLinks(stage).length, 1, `after ${end} another tries, and only one`);
  }
  stage.world.assertKept();
});

test('canary: a canary that crashes makes room for another', async () => {
  const stage = await struck(405);
  while (openLinks(stage).length === 0) await stage.world.time.pass(100);
  const canary = openLinks(stage)[0];
  canary?.host.surprise(new Error('no'));
  await stage.world.time.pass(1200);
  assert.equal(openLinks(stage).length, 1);
  assert.notEqual(openLinks(stage)[0]?.host.id, canary?.host.id);
});

/* ---------- the outage ---------- */

test('outage: while most sessions stay, or losses are far apart, each session reconnects on its own', async () => {
  const stage = await staged(ids, { handshakes });
  for (const id of ids.slice(0, 5)) stage.link(id).end(428);
  await settle();
  assert.equal(stage.gateway.numbers().barrier, '');
  const slow = await staged(ids, { handshakes });
  for (const id of ids) {
    slow.link(id).end(428);
    await slow.world.time.pass(5000);
    assert.equal(slow.gateway.numbers().barrier, '');
  }
});

test('outage: sessions that close together are counted a few times, not once per session', async () => {
  const many = Array.from({ length: 49 }, (_, n) => `r${n}`);
  const stage = await staged(many, { handshakes });
  const status = Object.getOwnPropertyDescriptor(Cell.prototype, 'status');
  const view = Object.getOwnPropertyDescriptor(Cell.prototype, 'view');
  assert.ok(status?.get && view?.get);
  let looks = 0;
  const counted = (read: () => unknown) =>
    function (this: Cell): unknown {
      looks += 1;
      return read.call(this);
    };
  Object.defineProperty(Cell.prototype, 'status', { ...status, get: counted(status.get) });
  Object.defineProperty(Cell.prototype, 'view', { ...view, get: counted(view.get) });
  for (const id of many) stage.link(id).end(428);
  await settle();
  Object.defineProperty(Cell.prototype, 'status', status);
  Object.defineProperty(Cell.prototype, 'view', view);
  assert.equal(stage.gateway.numbers().barrier, 'outage');
  assert.ok(looks <= 5 * many.length, `${looks} looks`);
});

test('outage: between two counts, losses and logins are added', async () => {
  const stage = await staged(ids, { handshakes: { atOnce: 50, perSecond: 50 } });
  const [first = '', ...others] = ids;
  stage.link(first).end(428);
  stage.letIn();
  for (const id of others.slice(6)) stage.link(id).end(515); // comes back at once
  await settle();
  assert.equal(statuses(stage, 'connected'), 11);
  for (const [n, id] of others.slice(0, 6).entries()) {
    assert.equal(stage.gateway.numbers().barrier, '', `${n + 1} losses of 12`);
    stage.link(id).end(428);
  }
  assert.equal(stage.gateway.numbers().barrier, 'outage');
});

for (const [title, losses, live, expected] of [
  ['three of three are too few to tell', [0, 1, 2], 0, false],
  ['four of eight are half', [0, 1, 2, 3], 4, false],
  ['five of nine are more than half', [0, 1, 2, 3, 4], 4, true],
  ['old losses do not count', [0, 1, 2, 3, 10_500], 1, false],
] as const) {
  test(`outage watch: ${title}`, () => {
    const watch = new OutageWatch({ window: 10_000, least: 4 });
    const said = losses.map((at) => watch.lost(at, live));
    assert.equal(said.at(-1), expected);
  });
}

test('outage: sessions that are closed by a command are no loss', async () => {
  const stage = await staged(ids, { handshakes });
  await Promise.all(ids.map((id) => stage.world.answerOf(stage.gateway.reset(id))));
  await stage.world.time.pass(3000);
  for (const link of openLinks(stage)) link.end(428);
  await settle();
  assert.equal(stage.gateway.numbers().barrier, '', 'sessions that were not live are lost by nobody');
});

/* ---------- the suspension ---------- */

test('suspension: after a 402 with a date the session rests until then, and reconnects by itself', async () => {
  const chart = await liveChart();
  await chart.end(402, { expire: '3600' });
  assert.equal(chart.state, 'disconnected.suspended');
  assert.equal(chart.noted.wanted, undefined, 'it is still wanted');
  assert.equal(chart.noted.lastDisconnectCause, 'suspended');
  assert.deepEqual(chart.news.at(-1)?.status, 'disconnected');
  await chart.time.pass(3_599_999);
  assert.equal(chart.link.opens.length, 1);
  await chart.time.pass(1);
  assert.equal(chart.state, 'connecting.opening');
  assert.deepEqual(chart.platform.violations, []);
});

test('suspension: one of several months ends on its date', async () => {
  const chart = await liveChart();
  await chart.end(402, { expire: String((100 * day) / 1000) });
  await chart.time.pass(100 * day - 1);
  assert.equal(chart.link.opens.length, 1);
  await chart.time.pass(1);
  assert.equal(chart.link.opens.length, 2);
});

test('suspension: a connect tries at once, and a disconnect ends the suspension', async () => {
  for (const command of ['connect', 'disconnect'] as const) {
    const chart = await liveChart();
    await chart.end(402, { expire: '3600' });
    if (command === 'connect') await chart.connect();
    else await chart.do('instance.disconnect');
    assert.equal(chart.state, command === 'connect' ? 'connecting.opening' : 'unlinking.opening');
    await chart.time.pass(day);
    assert.equal(chart.state, command === 'connect' ? 'connecting.opening' : 'disconnected.idle');
    assert.equal(chart.link.opens.length, 2);
  }
});

/* ---------- figures ---------- */

test('numbers: they have closes by cause, attempts, the time to reconnect and the next delay', async () => {
  const stage = await staged();
  stage.link().end(428);
  await settle();
  const waiting = stage.numbers();
  assert.deepEqual([waiting.closes, waiting.attempts, waiting.opened], [{ connectionLost: 1 }, 1, 1]);
  assert.ok(waiting.nextDelayMs >= 500 && waiting.nextDelayMs <= 1000);
  await stage.world.time.pass(1000);
  stage.link().end(500);
  await stage.world.time.pass(7000);
  stage.link().login();
  await settle();
  const back = stage.numbers();
  assert.deepEqual([back.closes, back.attempts, back.opened], [{ connectionLost: 1, unknownError: 1 }, 3, 2]);
  assert.deepEqual([back.reconnectMs, back.longestReconnectMs, back.nextDelayMs], [8000, 8000, 0]);
  stage.link().end(503);
  await stage.world.time.pass(4000);
  stage.link().login();
  await settle();
  assert.deepEqual([stage.numbers().reconnectMs, stage.numbers().longestReconnectMs], [4000, 8000]);
});

test('numbers: the age of the last frame is shown for live sessions only', async () => {
  const stage = await staged(['r1', { id: 'r2', wanted: 'asleep' }]);
  const seen = stage.world.time.now();
  stage.link().lastFrameAt = () => seen;
  await stage.world.time.pass(1234);
  assert.deepEqual([stage.numbers('r1').lastFrameAgeMs, stage.numbers('r2').lastFrameAgeMs], [1234, null]);
});

test('numbers: crashes and the time until a session is back are counted', async () => {
  const stage = await staged();
  stage.link().host.surprise(new Error('no'));
  await stage.world.time.pass(2000);
  stage.link().login();
  await settle();
  assert.deepEqual([stage.numbers().crashes, stage.numbers().reconnectMs], [1, 2000]);
});

test('numbers: they have waits for the gate, for storage and in the queue, and instances by state', async () => {
  const stage = await staged(['r1', { id: 'r2', wanted: 'asleep' }, { id: 'r3', wanted: 'offline' }], {
    handshakes: { atOnce: 1, perSecond: 100 },
  });
  for (const id of ['r2', 'r3']) void stage.gateway.connect(id, {});
  await settle();
  const { registered, connected, connecting, hibernated, disconnected, handshakesWaiting } = stage.gateway.numbers();
  assert.deepEqual(
    { registered, connected, connecting, hibernated, disconnected, handshakesWaiting },
    {
      registered: 3,
      connected: 1,
      connecting: 2,
      hibernated: 0,
      disconnected: 0,
      handshakesWaiting: 1,
    },
  );
  stage.world.db.away = true;
  stage.link('r2').end(403);
  await stage.world.time.pass(100);
  assert.equal(stage.numbers('r2').unrecorded, 1);
});
