/** Tests which replies of another node count as its consent to take a session. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ownership } from '#actors/cluster/ownership.ts';
import { usualClusterPolicy } from '#actors/cluster/policy.ts';
import { Remote } from '#actors/cluster/remote.ts';
import { encode } from '#actors/cluster/wire.ts';
import type { BusAnswer } from '#actors/ports.ts';
import { FakeTime } from '#test/fakes/time.ts';
import { quietLog } from '#test/support/database.ts';

const answered = (answer: unknown): BusAnswer => ({ kind: 'answered', body: encode({ answer }) });

const rows: readonly (readonly [title: string, answer: BusAnswer, isYes: boolean])[] = [
  ['a node that reserves a place agrees', answered(true), true],
  ['a node without room refuses', answered(false), false],
  ['a node that is gone refuses', { kind: 'nobody' }, false],
  ['a paused node refuses', { kind: 'late' }, false],
  ['a reply that cannot be read refuses', { kind: 'answered', body: Buffer.from('?') }, false],
  ['a node of a version that reserves no places agrees', answered(null), true],
  ['while the bus is away a session stays', { kind: 'away' }, false],
];

for (const [title, answer, isYes] of rows)
  test(`offers: ${title}`, async () => {
    const bus = { request: () => Promise.resolve(answer), subscribe: () => () => undefined } as never;
    const remote = new Remote({
      bus,
      prefix: 'p',
      log: quietLog,
      ownership: new Ownership(new FakeTime(), usualClusterPolicy),
      origin: 'a',
    });
    assert.equal(await remote.offer('b', 'r1', false), isYes);
    if (answer.kind === 'away') assert.equal(await remote.offer('b', 'r1', true), true, 'but leaves a node that drains');
  });
