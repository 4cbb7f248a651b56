/** Tests the status of a session whose owner does not answer, such as in a cluster without a bus: the one that the owner stored last. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Register } from '#actors/commands/register.ts';
import { Ownership } from '#actors/cluster/ownership.ts';
import { usualClusterPolicy } from '#actors/cluster/policy.ts';
import { StorageUnavailable } from '#actors/ports.ts';
import { Registry } from '#actors/supervisor/registry.ts';
import type { InstanceView } from '#actors/views.ts';
import { instance } from '#test/contract/samples.ts';
import { FakeSteps } from '#test/fakes/steps.ts';
import { FakeDatabase } from '#test/fakes/storage.ts';
import { FakeTime } from '#test/fakes/time.ts';

const step = (to: string, at: number, chart = 'lifecycle') => ({
  at,
  chart,
  from: 'connecting.opening',
  to,
  event: 'platform.opened',
  cause: '',
});

/** A node with one session that is wanted online. Another node owns it unless a test says otherwise. */
class Stage {
  readonly time = new FakeTime();
  readonly steps = new FakeSteps(new FakeDatabase());
  readonly registry = new Registry(() => assert.fail('no cell is needed'));
  readonly ownership = new Ownership(this.time, usualClusterPolicy);
  /** Views from the bus. */
  answered: readonly InstanceView[] = [];
  isFree = false;
  isAway = false;
  readonly register = new Register({
    ports: { time: this.time, stepLog: this.steps, instances: {} as never },
    registry: this.registry,
    cluster: {
      ownership: this.ownership,
      others: { views: async () => this.answered },
      unowned: async (ids: readonly string[]) => {
        if (this.isAway) throw new StorageUnavailable('away');
        return this.isFree ? ids : [];
      },
    } as never,
    chores: { wakeRemover: () => undefined },
    forget: () => undefined,
  });

  constructor(change: Partial<InstanceView['record']> = {}) {
    this.registry.register({ ...instance.record, wanted: 'online', ...change });
  }

  async stored(...steps: readonly object[]): Promise<this> {
    await this.steps.append([{ instanceId: instance.record.id, steps }], 30);
    return this;
  }

  /** Returns the status of the single view and of the list, which must be the same. */
  async shown(): Promise<readonly [string | undefined, boolean | undefined]> {
    const [one, all] = [await this.register.current(instance.record.id), await this.register.everywhere()];
    assert.deepEqual(
      all.map(({ status, connected }) => [status, connected]),
      [[one?.status, one?.connected]],
    );
    return [one?.status, one?.connected];
  }
}

const cases: readonly (readonly [string, readonly object[], string])[] = [
  ['is connected', [step('connecting.opening', 1), step('connected', 2)], 'connected'],
  ['is connected, and whose former owner stored its end late', [step('connected', 5), step('disconnected.idle', 4)], 'connected'],
  ['reconnects', [step('connected', 1), step('connecting.waiting', 2)], 'connecting'],
  ['is suspended', [step('connected', 1), step('disconnected.suspended', 2)], 'disconnected'],
  ['crashed too often', [step('connected', 1), step('failed', 2, 'instance')], 'disconnected'],
  ['was restarted after a crash', [step('connected', 2), step('running', 3, 'instance')], 'connected'],
  ['has damaged steps', [{ at: 'soon', to: 'connected' }], 'connecting'],
  ['has no stored step', [], 'connecting'],
];
for (const [title, steps, status] of cases)
  test(`status: a session of another node that ${title} is shown as ${status}`, async () => {
    const stage = await new Stage().stored(...steps);
    assert.deepEqual(await stage.shown(), [status, status === 'connected']);
  });

test('status: the answer of the owner is newer than its stored steps', async () => {
  const stage = await new Stage().stored(step('connected', 1));
  const view = stage.register.view(instance.record.id) ?? assert.fail('the instance is there');
  stage.answered = [view];
  assert.deepEqual(
    (await stage.register.everywhere()).map(({ status }) => status),
    ['connecting'],
  );
});

test('status: stored steps do not count without an owner, at the owner itself, and during an outage', async () => {
  const stage = await new Stage().stored(step('connected', 1));
  stage.isFree = true;
  assert.deepEqual(await stage.shown(), ['connecting', false]);
  stage.isFree = false;
  stage.ownership.begin(instance.record.id, 2);
  assert.deepEqual(await stage.shown(), ['connecting', false]);
  stage.ownership.end(instance.record.id);
  stage.isAway = true;
  assert.deepEqual(await stage.shown(), ['connecting', false]);
});

test('status: a session that is not wanted online needs no stored steps', async () => {
  for (const [wanted, status] of [
    ['offline', 'disconnected'],
    ['asleep', 'hibernated'],
  ] as const) {
    const stage = await new Stage({ wanted }).stored(step('connected', 1));
    assert.deepEqual(await stage.shown(), [status, false]);
  }
});
