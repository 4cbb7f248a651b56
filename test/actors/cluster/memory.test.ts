/** Tests the caches of a node for state that other nodes change. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterMemory, type MemoryHost } from '#actors/cluster/memory.ts';
import { usualClusterPolicy } from '#actors/cluster/policy.ts';
import type { InstanceRecord, Webhook } from '#actors/model.ts';
import { type Change, type ChangeStore, StorageUnavailable } from '#actors/ports.ts';
import { markedMs } from '#actors/supervisor/chores.ts';
import { SupervisedWorkers } from '#actors/policy/supervised-workers.ts';
import { instance, webhook } from '#test/contract/samples.ts';
import { FakeTime } from '#test/fakes/time.ts';
import { testPolicy } from '#test/fakes/world.ts';
import { quietLog } from '#test/support/database.ts';

const every = usualClusterPolicy.memoryEvery;

/** The state of the simulated database. `open` is the number of the oldest transaction that has not ended. */
interface State {
  refreshed: number;
  signIns: number;
  /** The number of reads of all ids, and the number of the next reads that fail. */
  listed: number;
  unlisted: number;
  /** True while the database does not answer looks. */
  away: boolean;
  versions: number;
  transactions: number;
  open: number;
  admin: string | null;
}

const changesOf = (stored: ReadonlyMap<string, Change>, state: State): ChangeStore => {
  const of = (kind: Change['kind']) => [...stored.values()].filter((one) => one.kind === kind && !one.removed).map(({ id }) => id);
  return {
    since: async (version) => {
      if (state.away) throw new StorageUnavailable('away');
      state.transactions += 1;
      return {
        changes: [...stored.values()].filter((one) => one.version > version).toSorted((a, b) => a.version - b.version),
        latest: Math.max(state.versions, ...[...stored.values()].map((one) => one.version)),
        oldest: Math.min(state.open, state.transactions),
        next: state.transactions,
        admin: state.admin,
      };
    },
    ids: async () => {
      if (state.unlisted > 0) {
        state.unlisted -= 1;
        throw new StorageUnavailable('away');
      }
      state.listed += 1;
      return { instances: of('instance'), webhooks: of('webhook') };
    },
  };
};

const room = async () => {
  const time = new FakeTime();
  /** The committed rows of the database, by kind and id, with their versions. */
  const stored = new Map<string, Change>();
  const remembered = { instance: new Map<string, string>(), webhook: new Map<string, string>() };
  const own = new Set<string>();
  const asked: string[] = [];
  const state: State = {
    refreshed: 0,
    signIns: 0,
    listed: 0,
    unlisted: 0,
    away: false,
    versions: 0,
    transactions: 0,
    open: Infinity,
    admin: 'first',
  };
  const host: MemoryHost = {
    owns: (id) => own.has(id),
    instanceIds: () => remembered.instance.keys(),
    webhookIds: () => remembered.webhook.keys(),
    setInstance: ({ id, name }: InstanceRecord) => void remembered.instance.set(id, name),
    forgetInstance: (id) => void remembered.instance.delete(id),
    setWebhook: ({ id, url }: Webhook) => void remembered.webhook.set(id, url),
    forgetWebhook: (id) => void remembered.webhook.delete(id),
    refreshAdmin: async () => void (state.refreshed += 1),
    refreshSignIns: async () => void (state.signIns += 1),
  };
  const kept = (kind: Change['kind'], ids: readonly string[]): readonly string[] => {
    asked.push(...ids.map((id) => `${kind} ${id}`));
    return ids.filter((id) => stored.get(`${kind} ${id}`)?.removed === false);
  };
  const memory = new ClusterMemory({
    changes: changesOf(stored, state),
    instances: {
      some: async (ids) =>
        kept('instance', ids).map((id) => ({ ...instance.record, id, name: `v${stored.get(`instance ${id}`)?.version}` })),
    },
    webhooks: {
      some: async (ids) => kept('webhook', ids).map((id) => ({ ...webhook, id, url: `v${stored.get(`webhook ${id}`)?.version}` })),
    },
    time,
    log: quietLog,
    workers: new SupervisedWorkers({ time, log: quietLog, policy: testPolicy, random: () => 1, fields: {} }),
    every,
    host,
  });
  const write = (kind: Change['kind'], id: string, change: Partial<Change> = {}): void => {
    state.versions += 1;
    stored.set(`${kind} ${id}`, { kind, id, version: state.versions, removed: false, ...change });
  };
  const drop = (kind: Change['kind'], id: string): void => void stored.delete(`${kind} ${id}`);
  return { time, memory, host, write, drop, remembered, own, asked, state };
};

test('memory: a change by another node is known after the next look, and read once', async () => {
  const { time, memory, write, remembered, asked, state } = await room();
  write('instance', 'before');
  await memory.begin();
  write('instance', 'a');
  write('webhook', 'w');
  await time.pass(every);
  assert.deepEqual([...remembered.instance], [['a', 'v2']]);
  assert.deepEqual([...remembered.webhook], [['w', 'v3']]);
  write('instance', 'a');
  await time.pass(every);
  assert.equal(remembered.instance.get('a'), 'v4');
  await time.pass(10 * every);
  assert.deepEqual(asked, ['instance a', 'webhook w', 'instance a']);
  assert.equal(state.signIns, 12);
});

test('memory: a change or a removal of an instance by another node, such as a new token, is known within a second', async () => {
  const { time, memory, write, remembered } = await room();
  write('instance', 'a');
  await memory.begin();
  // The change may fall anywhere between two looks.
  for (const at of [1, every / 2, every - 1]) {
    await time.pass(at);
    write('instance', 'a');
    const before = remembered.instance.get('a');
    await time.pass(1_000);
    assert.notEqual(remembered.instance.get('a'), before);
  }
  write('instance', 'a', { removed: true });
  await time.pass(1_000);
  assert.equal(remembered.instance.has('a'), false);
});

test('memory: a change that was committed after thousands of later ones is not missed', async () => {
  const { time, memory, write, remembered, asked, state } = await room();
  for (let at = 0; at < 5; at += 1) write('instance', `early ${at}`);
  await memory.begin();
  await time.pass(3 * every);
  // A transaction has taken version 42 and stays open.
  state.open = state.transactions + 1;
  write('instance', 'late', { version: 9_000 });
  await time.pass(10 * every);
  write('instance', 'slow', { version: 42 });
  state.open = Infinity;
  await time.pass(10 * every);
  assert.deepEqual([...remembered.instance.keys()], ['late', 'slow']);
  assert.deepEqual(asked, ['instance late', 'instance slow']);
});

test('memory: the owner does not read back changes of its own instances', async () => {
  const { time, memory, write, remembered, own } = await room();
  await memory.begin();
  own.add('mine');
  remembered.instance.set('mine', 'as it is here');
  write('instance', 'mine');
  await time.pass(every);
  write('instance', 'mine', { removed: true });
  await time.pass(every);
  assert.equal(remembered.instance.get('mine'), 'as it is here');
});

test('memory: a removed row is forgotten, also when its mark is gone', async () => {
  const { time, memory, write, drop, remembered } = await room();
  await memory.begin();
  for (const id of ['marked', 'gone']) {
    write('instance', id);
    write('webhook', id);
  }
  await time.pass(every);
  write('instance', 'marked', { removed: true });
  write('webhook', 'marked', { removed: true });
  await time.pass(every);
  assert.deepEqual([...remembered.instance.keys(), ...remembered.webhook.keys()], ['gone', 'gone']);
  drop('instance', 'gone');
  drop('webhook', 'gone');
  await time.pass(1_200 * every);
  assert.deepEqual([...remembered.instance.keys(), ...remembered.webhook.keys()], []);
});

test('memory: a request for a row that was just made waits for a look that begins at once, or for the stop', async () => {
  const { time, memory, write, remembered } = await room();
  await memory.begin();
  write('webhook', 'hook');
  let known: boolean | null = null;
  void memory.refreshed().then(() => (known = remembered.webhook.has('hook')));
  await time.pass(0);
  assert.equal(known, true);
  const last = memory.refreshed();
  memory.stop();
  await last;
  await memory.refreshed();
});

test('memory: the admin token is read at the first look and whenever its stored value changed, also after a failure', async () => {
  const { time, memory, state, host } = await room();
  await memory.begin();
  await time.pass(10 * every);
  assert.equal(state.refreshed, 1);
  const { refreshAdmin } = host;
  host.refreshAdmin = async () => {
    host.refreshAdmin = refreshAdmin;
    throw new StorageUnavailable('away');
  };
  state.admin = 'second';
  await time.pass(every);
  assert.equal(state.refreshed, 1);
  await time.pass(10 * every);
  assert.equal(state.refreshed, 2);
  memory.stop();
});

/** Removes an instance while the database is away. The mark of its row is gone before the next look. */
const removeUnseen = async ({ time, write, drop, state }: Awaited<ReturnType<typeof room>>): Promise<void> => {
  write('instance', 'gone');
  await time.pass(every);
  state.away = true;
  await time.pass(markedMs);
  drop('instance', 'gone');
  state.away = false;
};

test('memory: all ids are read every ten minutes, and after a gap in which a mark may have come and gone', async () => {
  const stage = await room();
  const { time, memory, remembered, state } = stage;
  await memory.begin();
  await removeUnseen(stage);
  await time.pass(every);
  assert.deepEqual([state.listed, ...remembered.instance.keys()], [1]);
  await time.pass(100 * every);
  assert.equal(state.listed, 1, 'looks in time read none');
  await time.pass(1_200 * every);
  assert.equal(state.listed, 2);
  memory.stop();
});

test('memory: a failed comparison is retried at the next look', async () => {
  const stage = await room();
  const { time, memory, remembered, state } = stage;
  await memory.begin();
  await removeUnseen(stage);
  state.unlisted = 2;
  await time.pass(2 * every);
  assert.deepEqual([...remembered.instance.keys()], ['gone']);
  await time.pass(every);
  assert.deepEqual([...remembered.instance.keys()], []);
  memory.stop();
});
