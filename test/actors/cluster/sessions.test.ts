/** Closing a session for its next owner: what is under way has its end before nothing more can be recorded. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterSessions } from '#actors/cluster/sessions.ts';
import { Uses } from '#actors/cluster/uses.ts';
import { FakeTime } from '#test/fakes/time.ts';

/** Closes a session in which a command is under way that ends so many milliseconds after its connection did; answers the steps in their order. */
const stepsOf = async (afterMs: number): Promise<readonly string[]> => {
  const [time, steps] = [new FakeTime(), [] as string[]];
  const uses = new Uses(time);
  let cut: () => void = () => undefined;
  const connection = new Promise<void>((resolve) => (cut = resolve));
  const cell = {
    record: { id: 'r1' },
    close: async () => {
      steps.push('closed');
      cut();
    },
    stored: async () => void steps.push('stored'),
    courier: () => null,
    end: () => void steps.push('ended'),
  };
  const sessions = new ClusterSessions({
    ports: { time },
    policy: { stopGrace: 3_000 },
    registry: { cells: new Map([['r1', cell]]), drop: () => undefined },
    dispatcher: { webhooks: { receiving: () => [] } },
    campaigns: { forget: () => undefined },
    uses,
    forgetBeside: () => undefined,
    left: async () => undefined,
  } as never);
  void uses.during('r1', async () => {
    await connection;
    await new Promise<void>((resolve) => void time.setTimeout(resolve, afterMs));
    steps.push('recorded');
  });
  const closing = sessions.close('r1', false);
  await time.pass(10_000);
  await closing;
  return steps;
};

test('sessions: a command that loses its connection records its end before the session ends', async () =>
  assert.deepEqual(await stepsOf(200), ['closed', 'recorded', 'stored', 'ended']));

test('sessions: one that does not come to an end is not waited for for ever', async () =>
  assert.deepEqual(await stepsOf(5_000), ['closed', 'stored', 'ended', 'recorded']));
