/** A disk that fills up is told before it is full. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DiskWatch } from '#src/machine-watch.ts';
import { World } from '#test/fakes/world.ts';

test('disk: less than a tenth of free room is a warning, and room ends it', async () => {
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

test('disk: the folder of the process is on a disk with a size, and 0 percent never warns', async () => {
  const watch = new DiskWatch({ folder: '.', leastFree: 0, log: new World().log });
  await watch.look();
  assert.ok(watch.sizeBytes > 0 && watch.freeBytes <= watch.sizeBytes);
  assert.equal(watch.warning, '');
  await watch.close();
});
