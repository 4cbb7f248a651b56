/** Tests the close of a session for its next owner. Commands under way end before the recorder stops. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterSessions } from '#actors/cluster/sessions.ts';
import { Uses } from '#actors/cluster/ownership.ts';
import { Registry } from '#actors/supervisor/registry.ts';
import { instance } from '#test/fakes/records.ts';
import { FakeTime } from '#test/fakes/time.ts';
import { quietLog } from '#test/support/database.ts';

/** Closes a session while a command is under way. The command ends `afterMs` milliseconds after its connection. Returns the steps in order. */
const stepsOf = async (afterMs: number): Promise<readonly string[]> => {
  const [time, steps] = [new FakeTime(), [] as string[]];
  const uses = new Uses(time);
  let cut: () => void = () => undefined;
  const connection = new Promise<void>((resolve) => (cut = resolve));
  const cell = {
    record: { id: 'r1' },
    close: async () => {
      steps.push('closed');
      cut();
    },
    stored: async () => void steps.push('stored'),
    courier: () => null,
    end: () => void steps.push('ended'),
  };
  const sessions = new ClusterSessions({
    ports: { time },
    policy: { stopGrace: 3_000 },
    registry: { cells: new Map([['r1', cell]]), drop: () => undefined },
    dispatcher: { webhooks: { receiving: () => [] }, leave: (id: string) => void steps.push(`left ${id}`) },
    campaigns: { forget: () => undefined },
    uses,
    forgetBeside: () => undefined,
    left: async () => undefined,
  } as never);
  void uses.during('r1', async () => {
    await connection;
    await new Promise<void>((resolve) => void time.setTimeout(resolve, afterMs));
    steps.push('recorded');
  });
  const closing = sessions.close('r1', false);
  await time.pass(10_000);
  await closing;
  return steps;
};

test('sessions: a command that loses its connection records its end before the session ends', async () =>
  assert.deepEqual(await stepsOf(200), ['closed', 'recorded', 'stored', 'ended', 'left r1']));

test('sessions: the wait for a command that never ends is limited', async () =>
  assert.deepEqual(await stepsOf(5_000), ['closed', 'stored', 'ended', 'left r1', 'recorded']));

test('sessions: a close waits for a post under way up to the time-out of the post, beyond the grace of the stop', async () => {
  const [time, steps] = [new FakeTime(), [] as (readonly [what: string, at: number])[]];
  const began = time.now();
  const note = (what: string): void => void steps.push([what, time.now() - began]);
  let isQuiet = false;
  time.setTimeout(() => {
    isQuiet = true;
    note('posted');
  }, 8_000);
  const cell = {
    record: { id: 'r1' },
    close: async () => undefined,
    stored: async () => undefined,
    courier: () => ({ isQuiet }),
    end: () => note('ended'),
  };
  const sessions = new ClusterSessions({
    ports: { time },
    policy: { stopGrace: 3_000, postTimeout: 10_000 },
    registry: { cells: new Map([['r1', cell]]), drop: () => undefined },
    dispatcher: { webhooks: { receiving: () => [{ id: 'w1' }] }, leave: () => undefined },
    campaigns: { forget: () => undefined },
    uses: new Uses(time),
    forgetBeside: () => undefined,
    left: async () => undefined,
  } as never);
  const closing = sessions.close('r1', false);
  await time.pass(20_000);
  await closing;
  assert.deepEqual(
    steps.map(([what]) => what),
    ['posted', 'ended'],
  );
  assert.ok((steps[1]?.[1] ?? 0) < 9_000, 'it ends soon after the post');
});

for (const [point, isBeforeClose] of [
  ['waits for commands', true],
  ['closes its connection', false],
] as const)
  test(`sessions: a close that ${point} spares the session that began after a hurried close`, async () => {
    const [time, steps] = [new FakeTime(), [] as string[]];
    const waits = new Promise<void>((resolve) => void time.setTimeout(resolve, 2_000));
    const cellOf = (name: string) => ({
      record: { ...instance, id: 'r1', profileName: name },
      close: async (hurry: boolean) => {
        steps.push(`${name} closed`);
        if (!hurry) await waits;
      },
      stored: async () => undefined,
      courier: () => null,
      end: () => void steps.push(`${name} ended`),
    });
    const cells = ['old', 'new'].map(cellOf);
    const registry = new Registry(() => cells.shift() as never);
    registry.add({ ...instance, id: 'r1' });
    const uses = new Uses(time);
    const sessions = new ClusterSessions({
      ports: { time },
      policy: { stopGrace: 3_000 },
      registry,
      dispatcher: { webhooks: { receiving: () => [] }, leave: () => undefined },
      campaigns: { forget: () => undefined },
      uses,
      forgetBeside: () => undefined,
      left: async () => void steps.push('left'),
    } as never);
    if (isBeforeClose) void uses.during('r1', () => waits);
    const closing = sessions.close('r1', false);
    await time.pass(100);
    await sessions.close('r1', true);
    registry.add({ ...instance, id: 'r1' });
    steps.length = 0;
    await time.pass(20_000);
    await closing;
    assert.deepEqual(steps, []);
    assert.equal(registry.cells.get('r1')?.record.profileName, 'new');
  });

test('sessions: a batch with a damaged row starts the other sessions, and the row is stored as offline', async () => {
  const time = new FakeTime();
  const all = [
    { ...instance, id: 'r1', wanted: 'online', jid: 'a@s', token: '', unreadable: 'token' },
    { ...instance, id: 'r2', wanted: 'online', jid: 'b@s', token: 'two' },
  ] as const;
  const noted: object[] = [];
  const begun: string[] = [];
  const cells = new Map(
    all.map((record) => [
      record.id as string,
      { record, view: { status: 'disconnected' }, keeper: { record, note: (patch: object) => noted.push(patch) } },
    ]),
  );
  const registry = new Registry((record) => {
    begun.push(record.id);
    return cells.get(record.id) as never;
  });
  const sessions = new ClusterSessions({
    ports: { time, log: quietLog, instances: { some: async () => all }, messages: { interrupted: async () => [] } },
    leftWork: { of: async () => [] },
    registry,
    uses: new Uses(time),
    begun: () => undefined,
  } as never);
  const begin = await sessions.prepare(all.map(({ id }) => ({ instanceId: id, epoch: 1 })));
  begin();
  assert.deepEqual(begun, ['r1', 'r2']);
  assert.deepEqual(
    noted.map((patch) => ({ ...patch, lastDisconnect: 0 })),
    [
      {
        wanted: 'offline',
        lastDisconnect: 0,
        lastDisconnectReason: 'values of the instance are damaged in the database: set them anew, then connect: token',
        lastDisconnectCause: 'unreadable',
      },
    ],
  );
  assert.deepEqual([registry.byToken('two'), registry.byToken('')], ['r2', null]);
});

test('sessions: an instance whose pairing ended with its node is stored as offline', async () => {
  const states = [
    ['paired', 'online', 'a@s', false],
    ['changing its account', 'online', '', true],
    ['pairing', 'online', '', false],
    ['logging out', 'unlinked', '', false],
    ['never connected', 'offline', '', false],
  ] as const;
  const all = states.map(([id, wanted, jid, accountLeaves]) => ({ ...instance, id, token: id, wanted, jid, accountLeaves }));
  const noted: (readonly [id: string, patch: object])[] = [];
  const registry = new Registry((record) => {
    const note = (patch: object): void => void noted.push([record.id, patch]);
    return { record, view: { status: 'disconnected' }, keeper: { record, note } } as never;
  });
  const sessions = new ClusterSessions({
    ports: { time: new FakeTime(), log: quietLog, instances: { some: async () => all }, messages: { interrupted: async () => [] } },
    leftWork: { of: async () => [] },
    registry,
    uses: new Uses(new FakeTime()),
    begun: () => undefined,
  } as never);
  const begin = await sessions.prepare(all.map(({ id }) => ({ instanceId: id, epoch: 1 })));
  begin();
  assert.deepEqual(noted, [['pairing', { wanted: 'offline' }]]);
});
