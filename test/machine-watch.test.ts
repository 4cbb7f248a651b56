/** Tests the watches of the machine: the clock of a node, and the free space on its disk. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DiskWatch, nodeTime } from '#src/machine-watch.ts';
import { FakeTime } from '#test/fakes/time.ts';
import { World } from '#test/fakes/world.ts';
import { quietLog } from '#test/support/database.ts';

// The clock of a node follows the clock of the database if the clock of its machine is wrong.

const hour = 3_600_000;

/** Offsets of the database from the clock of the machine, and the resulting correction. In milliseconds. */
const rows: readonly (readonly [title: string, said: readonly number[], correction: number])[] = [
  ['a machine that is an hour ahead is corrected', [-hour], -hour],
  ['one that is an hour behind as well', [hour], hour],
  ['a second is within what is tolerated', [1_000], 0],
  ['a correction does not follow every answer', [-hour, -hour + 300], -hour],
  ['a clock that was set right needs none any more', [-hour, 40], 0],
  ['a clock that goes wrong once more is corrected once more', [-hour, -2 * hour], -2 * hour],
];

for (const [title, said, correction] of rows)
  test(`node time: ${title}`, () => {
    const system = new FakeTime();
    const time = nodeTime(system, quietLog);
    for (const difference of said) time.noteDatabaseTime(system.now() + difference, 0);
    assert.equal(time.now() - system.now(), correction);
  });

test('node time: a difference that is smaller than the time of the answer corrects nothing', () => {
  const system = new FakeTime();
  const time = nodeTime(system, quietLog);
  time.noteDatabaseTime(system.now() - 5_000, 4_000);
  assert.equal(time.now(), system.now());
});

// The gateway warns before the disk is full.

test('disk: less than a tenth of free space gives a warning, and more free space ends the warning', async () => {
  const { log } = new World();
  const disk = { free: 20e9, size: 100e9 };
  const watch = new DiskWatch({ folder: '/', leastFree: 10, log, measure: async () => ({ ...disk }) });
  await watch.look();
  assert.equal(watch.warning, '');
  disk.free = 9.94e9;
  await watch.look();
  await watch.look();
  assert.equal(watch.warning, 'the disk of the data folder is nearly full: 9.9 of 100.0 GB are free');
  assert.equal(log.of('disk.low').length, 1, 'one line');
  disk.free = 11e9;
  await watch.look();
  assert.deepEqual([watch.warning, log.of('disk.hasRoom').length], ['', 1]);
  await watch.close();
});

test('disk: the size and the free space of a real disk are read, and a limit of 0 percent never warns', async () => {
  const watch = new DiskWatch({ folder: '.', leastFree: 0, log: new World().log });
  await watch.look();
  assert.ok(watch.sizeBytes > 0 && watch.freeBytes <= watch.sizeBytes);
  assert.equal(watch.warning, '');
  await watch.close();
});
