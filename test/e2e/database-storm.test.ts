/** Runs one short round of `npm run soak:storage`: faults of a database that no other test has, with a few sessions. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openDatabaseStorm, type DatabaseStorm } from '#test/support/database-storm.ts';

const troubles = [
  'its disk is full',
  'it hangs',
  'signal_key is locked',
  'conflicts',
  'statements take too long',
  'its connections are cut',
];

let storm: DatabaseStorm;
before(async () => {
  storm = await openDatabaseStorm({ sessions: 6, seed: Date.now() % 100_000 });
});
after(() => storm?.close());

test('database storm: texts flow both ways through every fault, and nothing is lost', async (t) => {
  storm.flow.start();
  for (const trouble of storm.troubles.filter(({ name }) => troubles.includes(name)))
    await t.test(trouble.name, () => storm.weather(trouble));
  await storm.flow.stop();
  await storm.assertNothingLost();
  assert.notEqual(storm.diskErrors(), 0, 'the disk was full');
  const answers = storm.flow.sent.map(({ text, queued, status, error }) => ({ text, queued, status, error }));
  assert.deepEqual(
    answers.filter(({ status }) => ![200, 503].includes(status)),
    [],
  );
});
