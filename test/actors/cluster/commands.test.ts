/** Tests commands on an instance of another node: the result for the caller, for every fate of the owner and every reply. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterCommands } from '#actors/cluster/commands.ts';
import { usualClusterPolicy } from '#actors/cluster/policy.ts';
import { Remote } from '#actors/cluster/remote.ts';
import { Ownership } from '#actors/cluster/ownership.ts';
import { encode } from '#actors/cluster/wire.ts';
import { done, refuse, type Result } from '#actors/model.ts';
import { type BusAnswer, FilesUnavailable, type Lease, StorageFull, StorageUnavailable } from '#actors/ports.ts';
import { FakeTime } from '#test/fakes/time.ts';
import { quietLog } from '#test/support/database.ts';

/** Returns a lease that its node has held for `heldFor` seconds. */
const lease = (node: string, heldFor: number): Lease => ({ node, since: 1, heldMs: heldFor * 1000, leftMs: 12_000, cause: 'placed' });
const never = new Promise<never>(() => undefined);

interface Scene {
  /** The reply of the bus for the instance; undefined if no reply ever comes. */
  readonly reply?: unknown;
  /** The message after the reply, for a caller that waits for a second one. */
  readonly second?: unknown;
  /** The epoch of the current owner. */
  readonly epoch?: number;
  /** Returns the lease of the instance at a second after the call; an error if the database is away. */
  readonly leaseAt?: (second: number) => Lease | null | Error;
}

const outcomeOf = async (
  { reply, second, epoch = 5, leaseAt = () => lease('b', 3600) }: Scene,
  ms: number,
): Promise<Result<string> | 'waits'> => {
  const time = new FakeTime();
  const start = time.now();
  const answered = async (
    subject: string,
    _body: unknown,
    _ms: number,
    counts = async (_reply: Uint8Array) => true,
  ): Promise<BusAnswer> => {
    if (subject.startsWith('p.node')) return { kind: 'answered', body: encode({ answer: true }) };
    for (const one of [reply, second]) if (one !== undefined && (await counts(encode(one)))) return { kind: 'answered', body: encode(one) };
    return never;
  };
  const bus = { request: answered, subscribe: () => () => undefined } as never;
  const ownership = new Ownership(time, usualClusterPolicy);
  const remote = new Remote({
    bus,
    prefix: 'p',
    log: quietLog,
    ownership,
    origin: 'a',
  });
  const commands = new ClusterCommands({
    me: 'a',
    time,
    policy: usualClusterPolicy,
    leases: {
      async leaseOf() {
        const now = leaseAt((time.now() - start) / 1000);
        if (now instanceof Error) throw now;
        return now;
      },
      async epochOf() {
        if (leaseAt((time.now() - start) / 1000) instanceof Error) throw new Error('away');
        return epoch;
      },
    },
    ownership,
    remote,
    nodeFor: () => 'b',
    isFull: () => false,
    take: async () => false,
  });
  const command = { id: 'r1', method: 'send', args: async () => done([]), here: async () => done('here') };
  const asked = commands.command<string>(command);
  const outcome = Promise.race([asked, time.pass(ms).then(() => 'waits' as const)]);
  return outcome;
};

const reasonOf = (outcome: Awaited<ReturnType<typeof outcomeOf>>): string => {
  if (outcome === 'waits') return outcome;
  return outcome.ok ? outcome.value : outcome.refusal.reason;
};

const rows: readonly (readonly [title: string, scene: Scene, ms: number, expected: string])[] = [
  ['a reply is the result', { reply: { kind: 'done', value: done('there') } }, 100, 'there'],
  ['a refusal is the result', { reply: { kind: 'done', value: refuse('invalid', 'no') } }, 100, 'invalid'],
  ['a slow owner is waited for', {}, 30_000, 'waits'],
  ['an owner whose lease has ended is not waited for', { leaseAt: (at) => (at < 10 ? lease('b', 3600) : null) }, 14_000, 'unknown'],
  ['an owner that had no lease at the first look is not waited for', { leaseAt: () => null }, 4_000, 'unknown'],
  [
    'an owner that lost the lease to another node is not waited for',
    { leaseAt: (at) => (at < 10 ? lease('b', 3600) : lease('c', at - 10)) },
    14_000,
    'unknown',
  ],
  [
    'an owner that lost the lease to another node before the first look is not waited for',
    { leaseAt: (at) => (at < 1 ? lease('b', 3600) : lease('c', at - 1)) },
    3_000,
    'unknown',
  ],
  ['an owner that took the lease just before the command is waited for', { leaseAt: (at) => lease('c', at + 0.1) }, 30_000, 'waits'],
  ['a database outage says nothing about the owner', { leaseAt: () => new Error('away') }, 30_000, 'waits'],
  ['owners that keep moving are given up', { reply: { kind: 'moved', epoch: 5 } }, 30_000, 'unavailable'],
  [
    'the only owner when the command was sent got the command alone',
    { reply: { kind: 'moved', epoch: 4, alone: true } },
    30_000,
    'unavailable',
  ],
  ['the reply of a former owner is ignored while a later owner may work', { reply: { kind: 'moved', epoch: 4 } }, 30_000, 'waits'],
  [
    'the reply of the later owner counts',
    { reply: { kind: 'moved', epoch: 4 }, second: { kind: 'done', value: done('there') } },
    100,
    'there',
  ],
  [
    'the reply of a former owner is ignored while the database is away',
    { reply: { kind: 'moved', epoch: 5 }, leaseAt: () => new Error('away') },
    30_000,
    'waits',
  ],
  [
    'the reply of a former owner of the last release is ignored if another owner had the instance before',
    { reply: { kind: 'moved' } },
    30_000,
    'waits',
  ],
  [
    'an owner of the last release that gave the instance away meanwhile is believed',
    { reply: { kind: 'moved' }, leaseAt: () => null },
    30_000,
    'unavailable',
  ],
  ...[{ kind: 'done' }, { kind: 'done', value: { ok: false } }, { kind: 'done', value: 5 }, { kind: 'else' }, 5, null].map(
    (reply) => [`what cannot be read (${JSON.stringify(reply)}) says nothing of what was done`, { reply }, 100, 'unknown'] as const,
  ),
];

for (const [title, scene, ms, expected] of rows)
  test(`commands over nodes: ${title}`, async () => assert.equal(reasonOf(await outcomeOf(scene, ms)), expected));

const failures = [
  ['the store of files', new FilesUnavailable('away'), FilesUnavailable],
  ['the database', new StorageFull('full'), StorageUnavailable],
] as const;

for (const [what, failure, expected] of failures)
  test(`commands over nodes: the caller learns that ${what} failed at the owner`, async () => {
    let served: (body: Uint8Array) => Promise<Uint8Array> = () => never;
    const bus = {
      subscribe: (_subject: string, handler: typeof served) => ((served = handler), () => undefined),
      request: async (_subject: string, body: Uint8Array): Promise<BusAnswer> => ({ kind: 'answered', body: await served(body) }),
    } as never;
    const run = async ({ here }: { readonly here: () => Promise<unknown> }) => ({ value: await here() });
    const ownership = { lastEpochOf: () => 5, mayAct: () => true, run } as never;
    const remote = new Remote({ bus, prefix: 'p', log: quietLog, ownership, origin: 'a' });
    remote.handle('send', () => Promise.reject(failure));
    remote.serve('r1', true);
    await assert.rejects(remote.call('r1', 'send', [], 100), expected);
  });
