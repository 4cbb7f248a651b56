/**
 * Tests a wall clock that is set forward or back while the gateway works. Every action happens at the same times as without the change. The change of 50 s is
 * shorter than a minute, from which the gateway doubts its clock, and longer than the wait of each row.
 */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { test } from 'node:test';
import type { CampaignInput } from '#actors/gateway.ts';
import { refuse } from '#actors/model.ts';
import type { FakeTime } from '#test/fakes/time.ts';
import { LastFrame } from '#src/platform/wire/frames.ts';
import { Transmissions } from '#src/platform/outbound/transmissions.ts';
import { Bench } from '#test/actors/chatbot/setup.ts';
import { options, refusalOf, staged, text } from '#test/actors/stage.ts';
import { CourierDesk, no } from '#test/fakes/courier-desk.ts';
import { campaignSend } from '#test/support/campaign-rows.ts';

const stepMs = 50_000;

/** Observed values of a row, such as monotonic times. */
type Seen = readonly unknown[];

/** Polls a value once per second. Returns its changes with their times. */
const changesOf = async (time: FakeTime, ms: number, look: () => unknown): Promise<Seen> => {
  const seen: [number, unknown][] = [[0, look()]];
  for (let at = 1_000; at <= ms; at += 1_000) {
    await time.pass(1_000);
    const now = look();
    if (now !== seen.at(-1)?.[1]) seen.push([at, now]);
  }
  return seen;
};

const campaign: CampaignInput = {
  info: '',
  delayMin: 30_000,
  delayMax: 40_000,
  scheduledFor: 0,
  shared: { ...campaignSend, content: { kind: 'text', text: 'Hi', preview: null } },
  recipients: ['551', '552', '553'].map((number) => ({ number, own: null })),
};

/** The tested actions. Each row moves the wall clock by `step` milliseconds in the middle of its action. */
const rows: readonly (readonly [title: string, run: (step: number) => Promise<Seen>])[] = [
  [
    'an open circuit lets its probe through',
    async (step) => {
      const desk = new CourierDesk({ circuit: { failures: 1, min: 30_000, max: 30_000 }, slow: [5_000, 5_000, 5_000, 5_000] });
      const { time, receiver } = desk.world;
      const at: number[] = [];
      receiver.answer = () => (at.push(time.monotonic()), no(500));
      await desk.commit(1);
      time.stepWall(step);
      await time.pass(70_000);
      return at.map((one) => one - (at[0] ?? 0));
    },
  ],
  [
    'a parked delivery is tried at its time',
    async (step) => {
      const desk = new CourierDesk({ quick: [0], slow: [20_000, 20_000, 20_000], circuit: { failures: 99, min: 1e9, max: 1e9 } });
      const { time, receiver } = desk.world;
      const at: number[] = [];
      receiver.answer = () => (at.push(time.monotonic()), no(500));
      await desk.commit(1);
      time.stepWall(step);
      await time.pass(70_000);
      return [...at.map((one) => one - (at[0] ?? 0)), desk.stored];
    },
  ],
  [
    'the queue keeps its pace',
    async (step) => {
      const { world, gateway, link } = await staged([{ id: 'r1', msgDelayMin: 10, msgDelayMax: 10 }]).then((stage) => ({
        ...stage,
        link: stage.link(),
      }));
      for (const body of ['one', 'two', 'three']) await world.answerOf(gateway.send('r1', text('551', body), { ...options, async: true }));
      await world.time.pass(1_000);
      world.time.stepWall(step);
      return changesOf(world.time, 60_000, () => link.sent.length);
    },
  ],
  [
    'a campaign keeps its pace',
    async (step) => {
      const stage = await staged();
      const { world, gateway } = stage;
      assert.ok((await world.answerOf(gateway.createCampaign('r1', campaign))).ok);
      await world.time.pass(1_000);
      world.time.stepWall(step);
      return changesOf(world.time, 120_000, () => stage.link().sent.length);
    },
  ],
  [
    'a campaign says after a minute that its session is away',
    async (step) => {
      const stage = await staged();
      const { world, gateway } = stage;
      assert.ok((await world.answerOf(gateway.createCampaign('r1', campaign))).ok);
      await world.time.pass(1_000);
      stage.link().end(428);
      await world.time.pass(45_000);
      world.time.stepWall(step);
      const reasons = (): number => world.journal.groups.flat().filter((entry) => entry.kind === 'campaign' && entry.reason !== '').length;
      return changesOf(world.time, 150_000, reasons);
    },
  ],
  [
    'typing ends',
    async (step) => {
      const stage = await staged();
      const { world, gateway } = stage;
      assert.ok((await world.answerOf(gateway.showTyping('r1', '551', 'composing', 25_000))).ok);
      await world.time.pass(1_000);
      world.time.stepWall(step);
      return changesOf(world.time, 90_000, () => stage.link().calls.join());
    },
  ],
  [
    'the chatbot answers after the delay of its trigger',
    async (step) => {
      const bench = await Bench.open({ triggers: [{ delaySeconds: 10 }] });
      await bench.hear('hi');
      await bench.pass(1_000);
      bench.world.time.stepWall(step);
      return changesOf(bench.world.time, 90_000, () => bench.said.length);
    },
  ],
  [
    'calls wait for a session that is woken, for twenty seconds',
    async (step) => {
      const stage = await staged([{ id: 'r1', wanted: 'asleep' }]);
      const { world, gateway } = stage;
      const answer = gateway.presence('r1', 'available').then(refusalOf);
      await world.time.pass(1_000);
      world.time.stepWall(step);
      const state = { over: '' };
      void answer.then((refusal) => (state.over = refusal));
      const later = gateway.presence('r1', 'available').then(refusalOf);
      void later.then((refusal) => (state.over += ` ${refusal}`));
      return changesOf(world.time, 90_000, () => state.over);
    },
  ],
  [
    'an idle session goes to sleep',
    async (step) => {
      const stage = await staged(['r1'], { hibernation: { after: 120_000, wakeEvery: 1e10, drain: 10_000 } });
      await stage.world.time.pass(60_000);
      stage.world.time.stepWall(step);
      return changesOf(stage.world.time, 240_000, () => stage.status());
    },
  ],
  [
    'a list of groups is asked for anew after its pause',
    async (step) => {
      const stage = await staged(['r1'], { groups: { forceEvery: 30_000 } });
      const { world, gateway } = stage;
      const seen: string[] = [];
      const asked: string[] = [];
      stage.link().handle = ({ name }) => {
        asked.push(name);
        world.db.groupLists.set('r1', 1);
        return refuse('refused', 'no list');
      };
      const ask = async (): Promise<void> => {
        await world.answerOf(gateway.listGroups('r1', { force: true, limit: 1, offset: 0, search: '' } as never));
        seen.push(asked.splice(0).join());
      };
      await ask();
      world.time.stepWall(step);
      for (let n = 0; n < 4; n += 1) {
        await world.time.pass(10_000);
        await ask();
      }
      return seen;
    },
  ],
];

for (const [title, run] of rows)
  test(`wall clock: ${title}, also after the clock was set forward or back`, async () => {
    const expected = await run(0);
    assert.ok(new Set(expected.map(String)).size > 1, `the row sees something happen: ${String(expected)}`);
    assert.deepEqual(await run(-stepMs), expected, 'put back');
    assert.deepEqual(await run(stepMs), expected, 'put forward');
  });

test('wall clock: a delivery that was parked while the clock was ten days ahead is retried within the longest back-off after a restart', async () => {
  const desk = new CourierDesk({ quick: [0], slow: [20_000, 30_000], retryAfterMax: 0, circuit: { failures: 99, min: 1e9, max: 1e9 } });
  const { time, receiver } = desk.world;
  const at: number[] = [];
  receiver.answer = () => (at.push(time.monotonic()), no(500));
  time.stepWall(864_000_000);
  desk.restart();
  await desk.commit(1);
  time.stepWall(-864_000_000);
  desk.restart();
  await time.pass(1_000);
  receiver.answer = () => (at.push(time.monotonic()), { ok: true, status: 200 });
  await time.pass(40_000);
  assert.deepEqual(
    at.map((one) => one - (at[0] ?? 0)),
    [0, 0, 36_000],
  );
  assert.deepEqual([desk.crashes, desk.stored], [[], 0]);
});

test('wall clock: the wait for an acknowledgement ends in time after the clock was set back by an hour', async () => {
  const wall = { now: 1e12 };
  const transmissions = new Transmissions({ timeoutMs: 50, now: () => wall.now });
  const waiting = transmissions.wait('a');
  wall.now -= 3_600_000;
  const answer = await Promise.race([waiting, wait(5_000, 'never', { ref: false })]);
  transmissions.close();
  assert.notEqual(answer, 'never');
});

test('wall clock: no connection counts as silent after the clock was set forward by an hour', async () => {
  const wall = { now: 1e12 };
  const frame = new LastFrame(() => wall.now);
  frame.note();
  wall.now += 3_600_000;
  assert.equal(frame.isOlderThan(60_000), false);
  wall.now -= 7_200_000;
  await wait(20);
  assert.equal(frame.isOlderThan(10), true);
});
