/** A clock of the machine that jumps: nothing is removed for its age until it agrees again, or a day has passed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClockWatch } from '#actors/supervisor/clock-watch.ts';
import { World } from '#test/fakes/world.ts';
import { options, staged, text } from './stage.ts';

const [minute, day] = [60_000, 86_400_000];

const watched = () => {
  const world = new World();
  const clock = { wall: 1_800_000_000_000, monotonic: 5 };
  const time = { now: () => clock.wall, monotonic: () => clock.monotonic };
  const watch = () => new ClockWatch({ time, log: world.log, settings: world.ports.settings });
  const pass = (ms: number): void => void ((clock.wall += ms), (clock.monotonic += ms));
  return { world, clock, watch, pass };
};

for (const [title, jump, words] of [
  ['200 days forward', 200 * day, /jumped 200 days forward/],
  ['an hour back', -60 * minute, /jumped 60 minutes back/],
] as const)
  test(`clock: one that jumps ${title} is in doubt for a day, or until it agrees again`, () => {
    const { world, clock, watch, pass } = watched();
    const one = watch();
    pass(3 * day);
    assert.equal(one.trouble, '');
    clock.wall += jump;
    assert.match(one.trouble, words);
    pass(day / 2);
    assert.match(one.trouble, words);
    clock.wall -= jump;
    assert.equal(one.trouble, '');
    clock.wall += jump;
    assert.match(one.trouble, words);
    pass(day + 1);
    assert.equal(one.trouble, '', 'nobody put it right, so it is right');
    assert.equal(world.log.of('clock.jumped').length, 2);
  });

test('clock: what it drifts slowly is no jump', async () => {
  const { clock, watch, pass } = watched();
  const one = watch();
  for (let hour = 0; hour < 1_000; hour += 1) {
    pass(3_600_000);
    clock.wall += 500;
    assert.equal(one.trouble, '');
    await one.note();
  }
});

test('clock: one that is far from that of the last run is in doubt after the start', async () => {
  const { clock, watch, pass } = watched();
  const first = watch();
  await first.begin();
  assert.equal(first.trouble, '', 'there was no last run');
  await first.note();
  for (const [jump, isInDoubt] of [
    [day / 2, false],
    [200 * day, true],
    [-60 * minute, true],
  ] as const) {
    clock.wall += jump;
    const next = watch();
    await next.begin();
    assert.equal(next.trouble !== '', isInDoubt, String(jump));
    await next.note();
    clock.wall -= jump;
    if (!isInDoubt) await first.note();
  }
  clock.wall += 30 * day;
  const late = watch();
  await late.begin();
  pass(day + 1);
  assert.equal(late.trouble.includes('30 days'), true);
  pass(day + 1);
  assert.equal(late.trouble, '');
});

test('clock: while it is in doubt neither messages nor deliveries are removed for their age', async () => {
  const world = new World();
  const gateway = await world.start();
  world.time.monotonic = () => 0;
  await world.time.pass(11 * minute);
  assert.match(gateway.numbers().clock, /jumped/);
  assert.ok(world.log.of('rows.notExpired').length > 0);
  assert.ok(!world.db.statements.includes('messages.expire'));
  await gateway.stop();
});

test('clock: while it is in doubt queued sends wait and none grows too old, and they go on when it agrees again', async () => {
  const stage = await staged();
  const { world, gateway } = stage;
  const clock = { ahead: 0 };
  const real = world.time.now.bind(world.time);
  world.time.monotonic = () => real();
  world.time.now = () => real() + clock.ahead;
  clock.ahead = 30 * day;
  const queued = await world.answerOf(gateway.send('r1', text('551', 'later'), { ...options, async: true }));
  assert.ok(queued.ok);
  await world.time.pass(10 * minute);
  assert.deepEqual([stage.link().sent.length, (await gateway.queue('r1')).pending], [0, 1]);
  assert.match(gateway.warnings().join(), /jumped 30 days forward: .* queued sends and campaigns wait/);
  clock.ahead = 0;
  await world.time.pass(10_000);
  assert.deepEqual([stage.link().sent.length, gateway.warnings().length], [1, 0]);
  clock.ahead = -60 * minute;
  await world.answerOf(gateway.send('r1', text('551', 'after an hour'), { ...options, async: true }));
  await world.time.pass(59 * minute);
  assert.equal(stage.link().sent.length, 1);
  await world.time.pass(2 * minute);
  assert.equal(stage.link().sent.length, 2, 'a clock that stays where it is holds nothing back for longer than an hour');
});

test('clock: one that jumps two days forward does not set used keys of sends free', async () => {
  const { world, gateway, link } = await staged().then((stage) => ({ ...stage, link: () => stage.link() }));
  const once = { key: 'k', request: 'hello' };
  const send = () => world.answerOf(gateway.send('r1', text(), { ...options, once }));
  const first = await send();
  assert.ok(first.ok);
  world.time.stepWall(2 * day);
  await world.time.pass(30 * minute);
  const again = await send();
  assert.ok(again.ok);
  assert.deepEqual([again.value.messageId, again.value.timestamp], [first.value.messageId, first.value.timestamp]);
  assert.equal(link().sent.length, 1);
  await gateway.stop();
});
