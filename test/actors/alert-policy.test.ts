/** The decisions on alerts: grouping, quiet hours, repetitions, recovery, retries, and clocks that jump. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AlertKind, type AlertSettings, type Trouble, usualAlertSettings } from '#actors/model.ts';
import {
  type AlertState,
  alertStateIn,
  nextAlerts,
  noAlertState,
  reserveDueAlerts,
  settled,
  takenMs,
} from '#actors/policy/alert-policy.ts';

const minute = 60_000;
const hour = 60 * minute;
/** The start of the tests: noon in the time zone of the quiet hours. */
const start = Date.parse('2026-08-19T12:00:00Z');

const trouble = (kind: AlertKind, key: string, since = start): Trouble => ({ kind, key, name: key, reason: `why ${key}`, since });

/** Simulates the alerts of one operator. Troubles come and go, and the policy runs every 15 s. */
const stage = (change: Partial<AlertSettings> = {}) => {
  const settings: AlertSettings = { ...usualAlertSettings, channels: ['slack'], timeZone: 'UTC', ...change };
  const world = { now: start, troubles: [] as Trouble[], liveNodes: ['a'], steadySince: start - hour, settings };
  let state: AlertState = noAlertState;
  let made = 0;
  const sent: { readonly at: number; readonly fresh: string[]; readonly repeated: string[]; readonly well: string[] }[] = [];
  const look = (): void => {
    // Every run reads the state as the database returns it.
    state = alertStateIn(JSON.parse(JSON.stringify(nextAlerts(state, world, world.settings, world.now, `m${(made += 1)}`))));
    const { state: claimed, taken } = reserveDueAlerts(state, world.settings, world.now);
    for (const { channel, message } of taken) {
      if (channel !== 'slack') continue;
      const keys = (isRepeated: boolean) => message.troubles.filter(({ repeated }) => repeated === isRepeated).map(({ key }) => key);
      sent.push({ at: world.now - start, fresh: keys(false), repeated: keys(true), well: message.well.map(({ key }) => key) });
    }
    state = settled(
      claimed,
      taken.map((of) => ({ of, sent: true, error: '' })),
      world.now,
    );
  };
  const pass = (ms: number): void => {
    for (const end = world.now + ms; world.now < end; world.now += 15_000) look();
  };
  return { world, sent, pass, state: () => state };
};

test('alerts: sessions that fail together share one message, which is sent after a minute', () => {
  const { world, sent, pass } = stage();
  world.troubles = [trouble('session', 'r1')];
  pass(30_000);
  world.troubles = ['r1', 'r2', 'r3'].map((key) => trouble('session', key));
  pass(10 * minute);
  assert.deepEqual(
    sent.map(({ at, fresh }) => [at, fresh]),
    [
      [minute, ['r1']],
      [minute + 300_000, ['r2', 'r3']],
    ],
  );
});

test('alerts: a session that recovers within a minute is not reported', () => {
  const { world, sent, pass } = stage();
  world.troubles = [trouble('session', 'r1')];
  pass(45_000);
  world.troubles = [];
  pass(hour);
  assert.deepEqual(sent, []);
});

test('alerts: a message names twenty troubles and counts all', () => {
  const { world, pass, state } = stage({ channels: ['email'] });
  world.troubles = Array.from({ length: 300 }, (_, index) => trouble('session', `r${index}`));
  pass(2 * minute);
  assert.equal(state().known.filter(({ toldAt }) => toldAt !== null).length, 300);
  const failing = nextAlerts(
    noAlertState,
    { ...world, troubles: world.troubles.map((one) => ({ ...one, kind: 'disk' as const })) },
    world.settings,
    world.now,
    'm',
  );
  assert.deepEqual([failing.pending[0]?.message.troubles.length, failing.pending[0]?.message.counts.troubles], [20, 300]);
});

test('alerts: a recovery is reported once, after three minutes, and a shorter recovery is not', () => {
  const { world, sent, pass } = stage();
  world.troubles = [trouble('session', 'r1')];
  pass(10 * minute);
  world.troubles = [];
  pass(2 * minute);
  world.troubles = [trouble('session', 'r1')];
  pass(10 * minute);
  assert.equal(sent.length, 1);
  world.troubles = [];
  pass(hour);
  assert.deepEqual(
    sent.map(({ fresh, well }) => [fresh, well]),
    [
      [['r1'], []],
      [[], ['r1']],
    ],
  );
});

test('alerts: a lasting trouble is repeated after the set hours, together with all others, and never if the setting is 0', () => {
  const { world, sent, pass } = stage({ repeatHours: 2 });
  world.troubles = [trouble('session', 'r1')];
  pass(hour);
  world.troubles = [trouble('session', 'r1'), trouble('session', 'r2')];
  pass(hour + 5 * minute);
  assert.deepEqual(
    sent.map(({ fresh, repeated }) => [fresh, repeated]),
    [
      [['r1'], []],
      [['r2'], []],
      [[], ['r1', 'r2']],
    ],
  );
  const silent = stage({ repeatHours: 0 });
  silent.world.troubles = [trouble('session', 'r1')];
  silent.pass(72 * hour);
  assert.equal(silent.sent.length, 1);
});

test('alerts: nothing is sent in the quiet hours, and one message after them reports the troubles that are left', () => {
  const { world, sent, pass } = stage({ quiet: { from: 13 * 60, to: 15 * 60 } });
  pass(hour + minute);
  world.troubles = [trouble('session', 'r1'), trouble('session', 'r2')];
  pass(hour);
  world.troubles = [trouble('session', 'r2')];
  pass(2 * hour);
  assert.deepEqual(
    sent.map(({ at, fresh }) => [at, fresh]),
    [[3 * hour, ['r2']]],
  );
});

test('alerts: quiet hours follow the time zone of the operator', () => {
  const { world, sent, pass } = stage({ quiet: { from: 9 * 60, to: 10 * 60 }, timeZone: 'America/Sao_Paulo' });
  world.troubles = [trouble('disk', '')];
  pass(2 * hour);
  assert.deepEqual(
    sent.map(({ at }) => at),
    [hour],
  );
});

test('alerts: a receiver is reported when its circuit has been open for the set minutes', () => {
  const { world, sent, pass } = stage({ receiverMinutes: 30 });
  world.troubles = [trouble('receiver', 'w1')];
  pass(hour);
  assert.deepEqual(
    sent.map(({ at, fresh }) => [at, fresh]),
    [[30 * minute, ['w1']]],
  );
});

test('alerts: a restart does not count as the recovery of a dead receiver, although its circuit starts closed', () => {
  const { world, sent, pass } = stage();
  world.troubles = [trouble('receiver', 'w1')];
  pass(20 * minute);
  // The process starts again, and its circuit opens after some minutes of attempts.
  world.steadySince = world.now;
  world.troubles = [];
  pass(8 * minute);
  world.troubles = [trouble('receiver', 'w1', world.now)];
  pass(hour);
  assert.equal(sent.length, 1);
  world.troubles = [];
  pass(hour);
  assert.deepEqual(sent.at(-1)?.well, ['w1']);
});

test('alerts: a lost node that returns has recovered, and a node that is forgotten is dropped silently', () => {
  const { world, sent, pass, state } = stage();
  world.troubles = [trouble('node', 'b'), trouble('node', 'c')];
  pass(10 * minute);
  world.troubles = [];
  world.liveNodes = ['a', 'b'];
  pass(10 * minute);
  assert.deepEqual(
    sent.map(({ fresh, well }) => [fresh, well]),
    [
      [['b', 'c'], []],
      [[], ['b']],
    ],
  );
  assert.deepEqual(state().known, []);
});

test('alerts: kinds that are switched off are reported neither as troubles nor as recovered', () => {
  const { world, sent, pass } = stage();
  world.troubles = [trouble('session', 'r1'), trouble('disk', '')];
  pass(5 * minute);
  world.settings = { ...world.settings, kinds: ['disk'] };
  world.troubles = [trouble('disk', '')];
  pass(hour);
  assert.deepEqual(
    sent.map(({ fresh, well }) => [fresh, well]),
    [[[''], []]],
  );
});

test('alerts: without a channel nothing is reported, and a channel that is added later gets the troubles that are left', () => {
  const { world, sent, pass } = stage({ channels: [] });
  world.troubles = [trouble('session', 'r1')];
  pass(hour);
  assert.equal(sent.length, 0);
  world.settings = { ...world.settings, channels: ['slack'] };
  pass(minute);
  assert.deepEqual(sent[0]?.fresh, ['r1']);
});

test('alerts: a clock that jumps a day ahead and back causes neither repeated messages nor a day of silence', () => {
  const { world, sent, pass } = stage();
  world.troubles = [trouble('session', 'r1')];
  pass(10 * minute);
  world.now += 25 * hour;
  pass(10 * minute);
  assert.deepEqual(sent.at(-1)?.repeated, ['r1']);
  world.now -= 25 * hour;
  pass(10 * minute);
  assert.equal(sent.length, 2);
  world.troubles = [trouble('session', 'r1'), trouble('session', 'r2')];
  pass(10 * minute);
  assert.deepEqual([sent.length, sent.at(-1)?.fresh], [3, ['r2']]);
});

test('alerts: a damaged state is replaced by an empty state', () => {
  for (const stored of [null, 'x', 7, [], { known: 1 }, { known: [], pending: [], lastAt: 'x', outcomes: {} }])
    assert.deepEqual(alertStateIn(stored), noAlertState);
});

const pendingState = (): AlertState =>
  nextAlerts(
    noAlertState,
    { troubles: [trouble('disk', '')], liveNodes: [], steadySince: 0 },
    { ...usualAlertSettings, channels: ['email', 'slack'] },
    start,
    'm1',
  );

test('alerts: a message belongs to the node that claimed it until that node must have ended', () => {
  const { state, taken } = reserveDueAlerts(pendingState(), usualAlertSettings, start);
  assert.deepEqual(
    taken.map(({ channel, attempts }) => [channel, attempts]),
    [
      ['email', 1],
      ['slack', 1],
    ],
  );
  assert.equal(reserveDueAlerts(state, usualAlertSettings, start + takenMs - 1).taken.length, 0);
  assert.equal(reserveDueAlerts(state, usualAlertSettings, start + takenMs).taken.length, 2, 'the node was killed');
});

test('alerts: a channel that fails is retried with growing pauses, and given up after twelve attempts in six hours', () => {
  const tries: number[] = [];
  let [state, now] = [pendingState(), start];
  for (const end = start + 24 * hour; now < end; now += minute) {
    const { state: claimed, taken } = reserveDueAlerts(state, usualAlertSettings, now);
    for (const { channel } of taken) if (channel === 'email') tries.push((now - start) / minute);
    state = settled(
      claimed,
      taken.map((of) => (of.channel === 'email' ? { of, sent: false, error: 'away' } : { of, sent: true, error: '' })),
      now,
    );
    if (now === start)
      assert.deepEqual(
        state.pending.map(({ channel }) => channel),
        ['email'],
      );
  }
  assert.deepEqual(tries, [0, 1, 3, 7, 15, 31, 63, 123, 183, 243, 303, 363]);
  assert.deepEqual([state.pending, state.outcomes.slack?.error, state.outcomes.email?.error], [[], '', 'away']);
});

test('alerts: a message that failed before the quiet hours is retried after them', () => {
  const settings = { ...usualAlertSettings, timeZone: 'UTC', quiet: { from: 12 * 60 + 1, to: 7 * 60 } };
  const { state, taken } = reserveDueAlerts(pendingState(), settings, start);
  const failed = settled(
    state,
    taken.map((of) => ({ of, sent: false, error: 'away' })),
    start,
  );
  for (let now = start + minute; now < start + 19 * hour; now += 10 * minute)
    assert.deepEqual(reserveDueAlerts(failed, settings, now).taken, []);
  const later = reserveDueAlerts(failed, settings, start + 19 * hour).taken;
  assert.deepEqual(
    later.map(({ attempts }) => attempts),
    [2, 2],
    'the night cost no attempt',
  );
});

test('alerts: a channel that is switched off gets none of its waiting messages', () => {
  const seen = { troubles: [trouble('disk', '')], liveNodes: [], steadySince: 0 };
  const next = nextAlerts(pendingState(), seen, { ...usualAlertSettings, channels: ['slack'] }, start + 1, 'm2');
  assert.deepEqual(
    next.pending.map(({ channel }) => channel),
    ['slack'],
  );
});
