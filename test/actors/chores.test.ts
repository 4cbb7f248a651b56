/** Tests which node cleans up files: the node on duty if all share a bucket, and each node if each has a folder of its own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { supervisedWorkers } from '#actors/policy/supervised-workers.ts';
import { Chores } from '#actors/supervisor/chores.ts';
import { ClockWatch } from '#actors/supervisor/clock-watch.ts';
import { testPolicy, World } from '#test/fakes/world.ts';

for (const [sharesFiles, onDuty, looks] of [
  [true, true, true],
  [true, false, false],
  [false, true, true],
  [false, false, true],
] as const)
  test(`chores: ${sharesFiles ? 'with' : 'without'} a bucket a node that is ${onDuty ? '' : 'not '}on duty ${looks ? 'audits files and makes room' : 'leaves the files alone'}`, async () => {
    const world = new World();
    for (const text of ['one', 'other']) await world.files.files.keep('r1', world.files.taken(text));
    const { ports } = world;
    const policy = { ...testPolicy, retention: { ...testPolicy.retention, fileBytes: 1 } };
    const workers = supervisedWorkers(ports, policy, {});
    const chores = new Chores({ ports, policy, workers, clock: new ClockWatch(ports), cluster: { onDuty: () => onDuty, sharesFiles } });
    chores.start();
    await world.time.pass(120_000);
    assert.equal(world.files.files.bytes, looks ? 0 : null);
    chores.stop();
  });
