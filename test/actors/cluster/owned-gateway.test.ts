/** Tests the preparation of commands that travel to the owner of an instance, such as a send whose file is fetched first. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterCommands } from '#actors/cluster/commands.ts';
import { ownedGateway } from '#actors/cluster/owned-gateway.ts';
import { Ownership } from '#actors/cluster/ownership.ts';
import { usualClusterPolicy } from '#actors/cluster/policy.ts';
import { Remote } from '#actors/cluster/remote.ts';
import { done, refuse, type Result } from '#actors/model.ts';
import type { Gateway } from '#actors/views.ts';
import { FakeTime } from '#test/fakes/time.ts';
import { quietLog } from '#test/support/database.ts';

interface Scene {
  /** The attempt to take the instance that succeeds; none if absent. */
  readonly takenAt?: number;
  /** True if this node owns the instance from the beginning. */
  readonly isOwner?: boolean;
}

/** The time that the preparation takes. In milliseconds. */
const prepareMs = 30_000;

/** Sends from a node whose bus knows no owner of the instance. The preparation succeeds only once. */
const outcomeOf = async ({ takenAt, isOwner = false }: Scene) => {
  const time = new FakeTime();
  const start = time.now();
  const ownership = new Ownership(time, { ...usualClusterPolicy, lease: 3_600_000 });
  ownership.lease.renewed(time.monotonic());
  if (isOwner) ownership.begin('r1', 1);
  const bus = { request: async () => ({ kind: 'nobody' }), subscribe: () => () => undefined } as never;
  const remote = new Remote({ bus, prefix: 'p', log: quietLog, ownership, origin: 'a' });
  let takes = 0;
  const commands = new ClusterCommands({
    me: 'a',
    time,
    policy: usualClusterPolicy,
    leases: { leaseOf: async () => null, epochOf: async () => null },
    ownership,
    remote,
    nodeFor: () => 'a',
    isFull: () => false,
    take: async (id) => {
      takes += 1;
      if (takes === takenAt) ownership.begin(id, 1);
      return takes === takenAt;
    },
  });
  const sent: unknown[] = [];
  const gateway = { send: async (_id: string, what: unknown) => (sent.push(what), done('sent')) };
  let prepared = 0;
  const send = async (id: string): Promise<Result<readonly unknown[]>> => {
    prepared += 1;
    await new Promise<void>((resolve) => void time.setTimeout(resolve, prepareMs));
    return prepared === 1 ? done([id, 'kept file']) : refuse('invalid', 'the file is gone');
  };
  const cluster = { ownership, handle: () => undefined, command: commands.command.bind(commands) };
  const owned = ownedGateway(gateway as unknown as Gateway, cluster as never, { owner: (id) => id, hook: async () => null }, { send });
  const asked = owned.send('r1', 'address' as never, {} as never).then((result) => ({ result, took: time.now() - start }));
  await time.pass(120_000);
  const { result, took }: { readonly result: Result<unknown>; readonly took: number } = await asked;
  return { outcome: result.ok ? result.value : result.refusal.reason, prepared, sent, took };
};

test('owned gateway: a send that this node takes over after the preparation gets the prepared file', async () => {
  const { outcome, prepared, sent } = await outcomeOf({ takenAt: 1 });
  assert.deepEqual({ outcome, prepared, sent }, { outcome: 'sent', prepared: 1, sent: ['kept file'] });
});

test('owned gateway: a send whose instance gets no owner prepares its file once, and ends soon after the preparation', async () => {
  const { outcome, prepared, sent, took } = await outcomeOf({});
  assert.deepEqual({ outcome, prepared, sent }, { outcome: 'unavailable', prepared: 1, sent: [] });
  assert.ok(took <= prepareMs + 2 * usualClusterPolicy.ownerWait, `${took} ms`);
});

test('owned gateway: a send on the node that owns the instance prepares nothing', async () => {
  const { outcome, prepared, sent } = await outcomeOf({ isOwner: true });
  assert.deepEqual({ outcome, prepared, sent }, { outcome: 'sent', prepared: 0, sent: ['address'] });
});
