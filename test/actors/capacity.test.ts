/** Tests the cap of connected sessions: which sessions count, and that a session which reconnects by itself cannot exceed the cap. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from '#test/fakes/time.ts';
import { World } from '#test/fakes/world.ts';
import { paired, refusalOf, Stage, staged } from './stage.ts';

const minute = 60_000;
const idle = { id: 'r2', wanted: 'offline' } as const;

for (const [title, code] of [
  ['is locked', 403],
  ['is logged out', 401],
  ['is suspended', 402],
] as const) {
  test(`cap: a session that ${title} during the restore frees its place at once`, async () => {
    const world = new World();
    world.register({ id: 'r1', ...paired });
    world.register({ ...paired, ...idle });
    const gateway = await world.start({ maxConnected: 1 });
    const stage = new Stage(world, gateway);
    await gateway.restore();
    await settle();
    stage.link().end(code, { expire: '3600' });
    await settle();
    stage.letIn();
    const answer = await world.answerOf(gateway.connect('r2', {}));
    assert.equal(refusalOf(answer), '');
    await world.time.pass(100);
    assert.equal(stage.status('r2'), 'connected');
  });
}

test('cap: a session whose restore is still under way keeps its place', async () => {
  const world = new World();
  world.register({ id: 'r1', ...paired });
  world.register({ ...paired, ...idle });
  const gateway = await world.start({ maxConnected: 1 });
  assert.equal(refusalOf(await world.answerOf(gateway.connect('r2', {}))), 'capped');
  await gateway.restore();
  assert.equal(refusalOf(await world.answerOf(gateway.connect('r2', {}))), 'capped');
});

/** Cases in which `r1` goes away and reconnects by itself, while `r2` takes the only place. `away` is in milliseconds. */
const displaced: readonly (readonly [title: string, leave: (stage: Stage) => Promise<void>, away: number])[] = [
  ['whose suspension ends', async (stage) => stage.link().end(402, { expire: '3600' }), 60 * minute],
  [
    'whose pause after crashes ends',
    async (stage) => {
      for (let n = 0; n < 3; n += 1) {
        stage.link().host.surprise(new Error('no'));
        await stage.world.time.pass(n < 2 ? 5_000 : 0);
      }
    },
    15 * minute,
  ],
];

for (const [title, leave, away] of displaced) {
  test(`cap: a session ${title} waits for a place`, async () => {
    const stage = await staged(['r1', idle], { maxConnected: 1 });
    const { world, gateway } = stage;
    stage.letIn();
    await leave(stage);
    await settle();
    assert.equal(stage.status(), 'disconnected');
    assert.equal(refusalOf(await world.answerOf(gateway.connect('r2', {}))), '');
    const { length: opens } = stage.link().opens;
    await world.time.pass(away + 5 * minute);
    assert.deepEqual([stage.status(), stage.status('r2'), stage.link().opens.length], ['disconnected', 'connected', opens]);
    await world.answerOf(gateway.hibernate('r2'));
    await world.time.pass(minute + 100);
    assert.deepEqual([stage.status(), stage.status('r2')], ['connected', 'hibernated']);
    world.assertKept();
  });
}
