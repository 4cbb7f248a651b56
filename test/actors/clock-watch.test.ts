/** Tests jumps of the clock of the machine. Nothing is removed for its age until the clock agrees again, or a day has passed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClockWatch } from '#actors/supervisor/clock-watch.ts';
import { expiry } from '#actors/supervisor/chores.ts';
import { supervisedWorkers } from '#actors/policy/supervised-workers.ts';
import { StorageSlow } from '#actors/ports.ts';
import { message } from '#test/contract/samples.ts';
import { testPolicy, World } from '#test/fakes/world.ts';
import { options, staged, text } from './stage.ts';

const [minute, day] = [60_000, 86_400_000];

const watched = () => {
  const world = new World();
  const clock = { wall: 1_800_000_000_000, monotonic: 5, correction: 0 };
  const time = { now: () => clock.wall, monotonic: () => clock.monotonic, correction: () => clock.correction };
  const { settings, messages, platform } = world.ports;
  const watch = () => new ClockWatch({ time, log: world.log, settings, messages, platform });
  const pass = (ms: number): void => void ((clock.wall += ms), (clock.monotonic += ms));
  /** Reports a time of the platform: the wall clock without its jumps. */
  const hear = (ahead = 0): void => void (world.platform.heard = { at: clock.wall - ahead, heardAt: clock.monotonic });
  return { world, clock, watch, pass, hear };
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

/** Steps of a case. `ahead` is the time by which the wall clock is ahead of the platform, which reports its time at that step. In milliseconds. */
type Step =
  | { readonly jump: number }
  | { readonly pass: number }
  | { readonly ahead: number }
  | { readonly expect: 'right' | 'doubt' | 'held' | RegExp };

const witnessed: readonly (readonly [title: string, steps: readonly Step[]])[] = [
  ['a jump with which the platform agrees is right at once', [{ jump: 30 * day }, { expect: 'held' }, { ahead: 0 }, { expect: 'right' }]],
  [
    'a jump with which the platform agrees but for some minutes is right as well',
    [{ jump: 3 * day }, { expect: 'held' }, { ahead: 4 * minute }, { expect: 'right' }],
  ],
  [
    'a jump that the platform contradicts stays in doubt, and holds sends back, for as long',
    [
      { jump: 200 * day },
      { expect: 'held' },
      { ahead: 200 * day },
      { expect: /200 days ahead of the platform's: .* wait$/ },
      { pass: 30 * day },
      { expect: 'held' },
      { ahead: 200 * day },
      { expect: 'held' },
      { jump: -200 * day },
      { expect: 'right' },
    ],
  ],
  [
    'a jump back that the platform contradicts stays in doubt, and holds nothing back after an hour',
    [
      { jump: -2 * day },
      { expect: 'held' },
      { ahead: -2 * day },
      { expect: 'held' },
      { pass: 61 * minute },
      { expect: 'doubt' },
      { pass: 30 * day },
      { expect: 'doubt' },
    ],
  ],
  [
    'a time that the platform reported before a jump is no evidence, because the machine may have slept',
    [
      { ahead: 0 },
      { pass: minute },
      { jump: 2 * day },
      { expect: 'held' },
      { pass: day / 2 },
      { expect: /jumped 2 days forward/ },
      { pass: day },
      { expect: 'right' },
      { pass: day },
      { expect: 'right' },
    ],
  ],
  [
    'a clock that returns to a time which the platform contradicts stays in doubt',
    [
      { jump: 2 * day },
      { expect: 'held' },
      { ahead: 3 * day },
      { jump: -2 * day },
      { expect: /24 hours ahead/ },
      { jump: -day },
      { expect: 'right' },
    ],
  ],
  [
    'a clock that was always wrong by days is in doubt as soon as the platform reports its time',
    [{ ahead: 2 * day }, { expect: 'held' }, { pass: 9 * day }, { expect: /2 days ahead/ }],
  ],
  ['a clock that is wrong by hours without a jump is not in doubt', [{ ahead: 5 * 60 * minute }, { expect: 'right' }]],
];

for (const [title, steps] of witnessed)
  test(`clock: ${title}`, () => {
    const { world, clock, watch, pass, hear } = watched();
    const one = watch();
    for (const [at, step] of steps.entries()) {
      if ('jump' in step) clock.wall += step.jump;
      else if ('pass' in step) pass(step.pass);
      else if ('ahead' in step) hear(step.ahead);
      else if (step.expect instanceof RegExp) assert.match(one.trouble, step.expect, `step ${at}`);
      else {
        const [trouble, hold] = [one.trouble !== '', one.hold !== ''];
        assert.deepEqual([trouble, hold], [step.expect !== 'right', step.expect === 'held'], `step ${at}: ${one.trouble}`);
      }
    }
    assert.ok(world.log.of('clock.jumped').length <= 1, 'a doubt is told once');
  });

/** Ages of the newest message at the first start of a release that stores the time of each run. In milliseconds. */
for (const [title, age, isInDoubt] of [
  ['a message of an hour ago causes no doubt', 60 * minute, false],
  ['a message of 200 days ago causes doubt', 200 * day, true],
  ['a message of the future causes doubt', -60 * minute, true],
] as const)
  test(`clock: where no run noted its time the newest message counts: ${title}`, async () => {
    const { world, clock, watch, hear } = watched();
    for (const [messageId, timestamp] of [
      ['old', clock.wall - age - day],
      ['new', clock.wall - age],
    ] as const)
      world.db.putMessage({ ...message, instanceId: 'r1', messageId, timestamp });
    const one = watch();
    await one.begin();
    assert.equal(one.trouble !== '', isInDoubt);
    hear();
    assert.equal(one.trouble, '', 'the platform agrees');
    await one.note();
    const next = watch();
    world.db.messages.clear();
    await next.begin();
    assert.equal(next.trouble, '', 'the last run noted its time');
  });

test('clock: a correction by the clock of the database logs a warning', () => {
  const { clock, watch } = watched();
  const one = watch();
  assert.deepEqual(one.warnings, []);
  clock.correction = 30_000;
  assert.deepEqual(one.warnings, []);
  clock.correction = -60 * minute;
  assert.deepEqual(one.warnings, ["the clock of the machine is 60 minutes ahead of the database's clock, which the gateway uses"]);
  clock.correction = 3 * day;
  assert.deepEqual(one.warnings, ["the clock of the machine is 3 days behind the database's clock, which the gateway uses"]);
});

test('clock: a jump during a removal of messages ends the removal before the next table', async () => {
  const { world, clock, watch } = watched();
  const one = watch();
  const removed: string[] = [];
  const perishables = ['first', 'second'].map((name) => ({
    name,
    age: day,
    expire: async () => {
      removed.push(name);
      clock.wall += 200 * day;
      return 0;
    },
  }));
  const { time, log } = world;
  const worker = expiry({ perishables, time, log, workers: supervisedWorkers(world.ports, testPolicy, {}), clock: one });
  worker.start();
  await time.pass(11 * minute);
  worker.stop();
  assert.deepEqual(removed, ['first']);
});

test('clock: a table that cannot be cleaned keeps no other table from it', async () => {
  const { world, watch } = watched();
  const one = watch();
  const removed: string[] = [];
  const perishables = ['first', 'second'].map((name) => ({
    name,
    age: 1_000,
    expire: async () => {
      if (name === 'first') throw new StorageSlow('57014');
      removed.push(name);
      return 0;
    },
  }));
  const { time, log } = world;
  const worker = expiry({ perishables, time, log, workers: supervisedWorkers(world.ports, testPolicy, {}), clock: one });
  worker.start();
  await time.pass(11 * minute);
  worker.stop();
  assert.ok(removed.includes('second'));
  assert.ok(log.of('rows.notExpired').length > 0, 'the failure is reported');
});

test('clock: slow drift is no jump', async () => {
  const { clock, watch, pass } = watched();
  const one = watch();
  for (let hour = 0; hour < 1_000; hour += 1) {
    pass(3_600_000);
    clock.wall += 500;
    assert.equal(one.trouble, '');
    await one.note();
  }
});

test('clock: a clock that is far from the time of the last run is in doubt after the start', async () => {
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

test('clock: while it is in doubt queued sends wait without getting too old, and leave when it agrees again', async () => {
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

test('clock: a jump of two days forward does not free the used keys of sends', async () => {
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
