/** Tests commands of a node whose session is closed while they run, and what the node remembers of its instances. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ownership } from '#actors/cluster/ownership.ts';
import { usualClusterPolicy } from '#actors/cluster/policy.ts';
import { done, notConnected, refuse, type Result, unknownInstance } from '#actors/model.ts';
import { FakeTime } from '#test/fakes/time.ts';

/** Runs a command with this answer on a node that owns the instance. With `leaves`, the session begins to close while the command runs. */
const run = (answer: Result<string>, leaves: boolean) => {
  const time = new FakeTime();
  const ownership = new Ownership(time, usualClusterPolicy);
  ownership.lease.renewed(time.monotonic());
  ownership.begin('r1', 1);
  const here = async (): Promise<Result<string>> => {
    if (leaves) void ownership.leave('r1', new Promise(() => undefined));
    return answer;
  };
  return ownership.run({ id: 'r1', here });
};

for (const [title, answer] of [
  ['sent nothing', notConnected],
  ['found no session', unknownInstance],
] as const) {
  test(`ownership: a command that ${title} goes to the next owner if its session was closed meanwhile`, async () =>
    assert.equal(await run(answer, true), null));
  test(`ownership: a command that ${title} is answered if its session stays`, async () =>
    assert.deepEqual(await run(answer, false), { value: answer }));
}

test('ownership: a command that may have had an effect is answered, although its session was closed meanwhile', async () => {
  for (const answer of [done('sent'), refuse('unknown', 'no answer'), refuse('notFound', 'Chat not found')])
    assert.deepEqual(await run(answer, true), { value: answer });
});

test('ownership: a node remembers the last epoch of an instance until the instance is removed', () => {
  const ownership = new Ownership(new FakeTime(), usualClusterPolicy);
  ownership.begin('r1', 3);
  ownership.uses.note('r1');
  ownership.forget('r1');
  assert.equal(ownership.lastEpochOf('r1'), 3, 'the lease is still held');
  ownership.begin('r1', 4);
  ownership.end('r1');
  assert.equal(ownership.lastEpochOf('r1'), 4);
  ownership.forget('r1');
  assert.deepEqual([ownership.lastEpochOf('r1'), ownership.uses.lastAt('r1')], [null, -Infinity]);
});
