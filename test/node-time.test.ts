/** The clock of a node follows the database's where its machine is wrong. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeTime } from '#src/machine-watch.ts';
import { FakeTime } from '#test/fakes/time.ts';
import { quietLog } from '#test/support/database.ts';

const hour = 3_600_000;

/** Answers of the database in milliseconds from the machine's clock, and the distance of the node's clock from it after each answer. */
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

test('node time: a slow answer is no proof of a difference below its time', () => {
  const system = new FakeTime();
  const time = nodeTime(system, quietLog);
  time.noteDatabaseTime(system.now() - 5_000, 4_000);
  assert.equal(time.now(), system.now());
});
