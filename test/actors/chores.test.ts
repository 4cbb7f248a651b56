/** Tests the cleaning of files, and the time for which a removed row stays marked. Each node cleans a folder of its own; the node on duty cleans a bucket. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { supervisedWorkers } from '#actors/policy/supervised-workers.ts';
import { Chores, markedMs } from '#actors/supervisor/chores.ts';
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

for (const [title, cluster, keptMs] of [
  ['of a single gateway goes at once', null, 0],
  ['of a cluster stays until every node has read its mark', { onDuty: () => true, sharesFiles: true }, markedMs],
] as const)
  test(`chores: the marked row ${title}`, async () => {
    const { ports, db, time } = new World();
    const chores = new Chores({
      ports,
      policy: testPolicy,
      workers: supervisedWorkers(ports, testPolicy, {}),
      clock: new ClockWatch(ports),
      cluster,
    });
    db.removals = [{ kind: 'instance', id: 'first' }];
    chores.start();
    await time.pass(keptMs / 2);
    db.removals = [...db.removals, { kind: 'instance', id: 'second' }];
    chores.wakeRemover();
    await time.pass(keptMs / 2);
    await time.pass(100);
    const left = db.removals.map(({ id }) => id);
    assert.deepEqual(left, keptMs === 0 ? [] : ['second'], 'a row that was marked during the wait has a wait of its own');
    await time.pass(keptMs);
    assert.deepEqual(db.removals, []);
    chores.stop();
  });
