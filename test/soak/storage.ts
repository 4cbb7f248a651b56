/** Runs fifty sessions with traffic both ways while their database is cut, killed, paused, locked, slowed and filled. Nothing is lost. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openDatabaseStorm, type DatabaseStorm } from '#test/support/database-storm.ts';

const sessions = Number(process.env['SOAK_SESSIONS'] ?? 50);
const rounds = Number(process.env['SOAK_ROUNDS'] ?? 2);
const seed = Number(process.env['SOAK_SEED'] ?? Date.now() % 100_000);

let storm: DatabaseStorm;
before(async () => {
  storm = await openDatabaseStorm({ sessions, seed });
});
after(() => storm?.close());

test(`storage: ${sessions} sessions survive every fault of their database (seed ${seed})`, async (t) => {
  const { flow, troubles } = storm;
  flow.start();
  for (let round = 1; round <= rounds; round += 1)
    for (const trouble of troubles) await t.test(`round ${round}: ${trouble.name}`, () => storm.weather(trouble));
  await flow.stop();
});

test('storage: every written text is stored and reported, and every accepted text was read', async (t) => {
  await storm.assertNothingLost();
  assert.notEqual(storm.diskErrors(), 0, 'the disk was full');
  const statuses = Map.groupBy(storm.flow.sent, ({ status }) => status);
  t.diagnostic(
    `${storm.flow.written.length} written, sent ${[...statuses].map(([status, { length }]) => `${status}: ${length}`).join(', ')}`,
  );
  assert.deepEqual(
    [...statuses.keys()].filter((status) => ![200, 503].includes(status)),
    [],
  );
});
