/** Tests the store of leases with one suite, on the fake and on PostgreSQL. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { LeaseStore, NodeState } from '#actors/ports.ts';
import { openDatabase } from '#src/storage/postgres/database.ts';
import { leaseStatements, createLeaseStore } from '#src/storage/stores/leases.ts';
import { instance } from '#test/contract/samples.ts';
import { FakeLeases } from '#test/fakes/leases.ts';
import { quietLog, testDatabase } from '#test/support/database.ts';
import { planOf } from '#test/support/plans.ts';
import { shuffled, randomOf } from '#test/support/random.ts';

interface Side {
  readonly name: string;
  readonly store: LeaseStore;
  /** Registers instances that are wanted online. Returns their ids. */
  register(count: number): Promise<readonly string[]>;
  epochOf(id: string): Promise<number>;
  causeOf(id: string): Promise<string | undefined>;
  /** Lets time pass. */
  pass(ms: number): Promise<void>;
}

let made = 0;
const newIds = (count: number): readonly string[] => Array.from({ length: count }, () => `r${String((made += 1)).padStart(14, '0')}`);

const fakeSide = (): Side => {
  let now = 1_000_000;
  const leases = new FakeLeases(() => now);
  return {
    name: 'fake',
    store: leases.store(),
    register: async (count) => {
      const ids = newIds(count);
      for (const id of ids) leases.register(id);
      return ids;
    },
    epochOf: async (id) => leases.epochOf(id),
    causeOf: async (id) => leases.leases.get(id)?.cause,
    pass: async (ms) => void (now += ms),
  };
};

const database = await testDatabase();
const storage = await database.storage();
const pool = await openDatabase({ url: database.url, log: quietLog, poolSize: 6 });
after(() => pool.close());
const run = <T>(text: string, values: readonly unknown[]) => database.admin.rows<T>({ name: '', text }, values);

const realSide: Side = {
  name: 'PostgreSQL',
  store: createLeaseStore(pool),
  register: async (count) => {
    const ids = newIds(count);
    for (const id of ids) await storage.instances.insert({ ...instance.record, id, token: id, wanted: 'online', epoch: 1 });
    return ids;
  },
  epochOf: async (id) => (await run<{ epoch: number }>('select epoch from instance where id = $1', [id]))[0]?.epoch ?? 0,
  causeOf: async (id) => (await run<{ cause: string }>('select cause from lease where instance_id = $1', [id]))[0]?.cause,
  // The clock of the database cannot be moved, so the stored times are moved back.
  pass: async (ms) => {
    await run('update node set until = until - $1::bigint, started = started - $1::bigint', [ms]);
    await run('update admission set at = at - $1::float8', [ms]);
  },
};

let named = 0;
const nodeOf = (change: Partial<NodeState> = {}): NodeState => ({
  name: `node-${(named += 1)}`,
  incarnation: randomUUID(),
  capacity: 100,
  load: 0,
  astray: 0,
  draining: false,
  version: '1.0.0',
  ...change,
});

const length = 60_000;

for (const side of [fakeSide(), realSide]) {
  const { store } = side;
  const joined = async (change: Partial<NodeState> = {}): Promise<NodeState> => {
    const node = nodeOf(change);
    assert.equal(await store.join(node, length, null), null);
    return node;
  };
  const end = async (node: NodeState): Promise<boolean> => {
    const found = await named(node.name);
    return found !== undefined && store.end(found);
  };
  const named = async (name: string) => (await store.look()).nodes.find((node) => node.name === name);

  test(`leases of the ${side.name}: a name that is live is refused to another incarnation, which learns who holds it`, async () => {
    const { name, incarnation } = await joined();
    const rival = nodeOf({ name });
    const holder = await store.join(rival, length, null);
    assert.deepEqual(holder, { incarnation, until: (await named(name))?.until });
    await side.pass(length);
    assert.deepEqual((await store.join(rival, length, null))?.incarnation, incarnation, 'the clock may have stepped by so much');
    await side.pass(3_600_000);
    assert.equal(await store.join(rival, length, null), null);
  });

  test(`leases of the ${side.name}: a name whose lease was ended is free, whatever the clock of the database says`, async () => {
    const { name, incarnation } = await joined();
    await store.end({ incarnation, until: (await named(name))!.until });
    assert.equal(await store.join(nodeOf({ name }), length, null), null);
  });

  test(`leases of the ${side.name}: a node joins again in place of its former incarnation, whose leases are void`, async () => {
    const [id] = await side.register(1);
    const first = await joined();
    await store.take(first.incarnation, [id!], 'placed');
    const second = nodeOf({ name: first.name });
    assert.equal(await store.join(second, length, first.incarnation), null);
    assert.equal(await store.join(second, length, first.incarnation), null, 'once more');
    assert.equal(await store.renew(first, length), false);
    assert.deepEqual(await store.take(second.incarnation, [id!], 'placed'), [{ instanceId: id, epoch: 3, cause: 'failover' }]);
  });

  test(`leases of the ${side.name}: a renewal carries the node on, with what it says of itself`, async () => {
    const node = await joined();
    await side.pass(length - 10_000);
    assert.equal(await store.renew({ ...node, load: 7, draining: true }, length), true);
    await side.pass(length - 10_000);
    const found = await named(node.name);
    assert.deepEqual([found?.load, found?.draining, found?.version], [7, true, '1.0.0']);
    assert.ok((found?.age ?? 0) >= 2 * (length - 10_000));
  });

  test(`leases of the ${side.name}: a clock of the database that is set forward ends no lease`, async () => {
    const [id] = await side.register(1);
    const [node, other] = [await joined(), await joined()];
    await store.take(node.incarnation, [id!], 'placed');
    await side.pass(2 * length);
    assert.deepEqual(await store.unowned([id!]), []);
    assert.deepEqual(await store.take(other.incarnation, [id!], 'placed'), []);
    assert.equal((await store.leaseOf(id!))?.node, node.name);
    assert.equal(await store.renew(node, length), true);
  });

  test(`leases of the ${side.name}: a lease that was ended is not renewed, and its node is not listed`, async () => {
    const node = await joined();
    assert.equal(await end(node), true);
    assert.equal(await store.renew(node, length), false);
    assert.equal(await named(node.name), undefined);
  });

  test(`leases of the ${side.name}: a lease that was renewed since it was seen is not ended`, async () => {
    const node = await joined();
    const seen = (await named(node.name))!;
    await side.pass(1_000);
    assert.equal(await store.renew(node, length), true);
    assert.equal(await store.end(seen), false);
    assert.equal((await named(node.name))?.name, node.name);
  });

  test(`leases of the ${side.name}: an instance is taken with its epoch one higher, and by nobody else while the lease is good`, async () => {
    const [a, b] = await side.register(2);
    const [first, second] = [await joined(), await joined()];
    assert.ok((await store.look()).free.includes(a!));
    assert.deepEqual(await store.take(first.incarnation, [a!, a!, 'unknown'], 'placed'), [{ instanceId: a, epoch: 2, cause: 'placed' }]);
    assert.ok(!(await store.look()).free.includes(a!));
    assert.deepEqual(await store.unowned([a!, b!]), [b], 'of those that are named');
    assert.deepEqual(await store.take(second.incarnation, [b!, a!], 'placed'), [{ instanceId: b, epoch: 2, cause: 'placed' }]);
    assert.deepEqual(await store.take(first.incarnation, [a!], 'placed'), [], 'its own is not taken again');
    assert.equal(await side.epochOf(a!), 2);
    assert.equal(await side.causeOf(a!), 'placed');
  });

  test(`leases of the ${side.name}: what a dead node had is free, and its next owner is its cause failover`, async () => {
    const [id] = await side.register(1);
    const dead = await joined();
    await store.take(dead.incarnation, [id!], 'placed');
    await end(dead);
    assert.ok((await store.look()).free.includes(id!));
    assert.deepEqual(await store.unowned([id!]), [id]);
    assert.deepEqual(await store.take(dead.incarnation, [id!], 'placed'), [], 'nor does the dead node take it again');
    const next = await joined();
    assert.deepEqual(await store.take(next.incarnation, [id!], 'placed'), [{ instanceId: id, epoch: 3, cause: 'failover' }]);
    assert.equal(await side.causeOf(id!), 'failover');
  });

  test(`leases of the ${side.name}: one is given back under its own epoch and by its own node alone`, async () => {
    const [id] = await side.register(1);
    const [owner, other] = [await joined(), await joined()];
    const claims = await store.take(owner.incarnation, [id!], 'placed');
    await store.giveBack(other.incarnation, claims);
    await store.giveBack(
      owner.incarnation,
      claims.map((claim) => ({ ...claim, epoch: claim.epoch - 1 })),
    );
    assert.ok(!(await store.look()).free.includes(id!));
    await store.giveBack(owner.incarnation, claims);
    assert.ok((await store.look()).free.includes(id!));
    assert.equal(await side.epochOf(id!), 2);
  });

  test(`leases of the ${side.name}: a comparison finds what the node does not hold, what it holds in vain, and another epoch`, async () => {
    const [a, b, c] = (await side.register(3)) as [string, string, string];
    const [node, other] = [await joined(), await joined()];
    await store.take(node.incarnation, [a, b], 'placed');
    await store.take(other.incarnation, [c], 'placed');
    const claim = (instanceId: string, epoch: number) => ({ instanceId, epoch });
    const nothing = { unheld: [], unleased: [] };
    assert.deepEqual(await store.compare(node.incarnation, [claim(a, 2), claim(b, 2)]), nothing);
    assert.deepEqual(await store.compare(node.incarnation, [claim(a, 2), claim(c, 2)]), { unheld: [claim(b, 2)], unleased: [claim(c, 2)] });
    assert.deepEqual(await store.compare(node.incarnation, [claim(a, 1), claim(b, 2)]), { unheld: [claim(a, 2)], unleased: [claim(a, 1)] });
  });

  test(`leases of the ${side.name}: a look reads the free instances only for a node that wants them, judged by the live nodes`, async () => {
    const [id] = await side.register(1);
    const node = await joined();
    const asked: string[] = [];
    const look = await store.look((nodes) => asked.push(...nodes.map(({ name }) => name)) < 0);
    assert.ok(asked.includes(node.name));
    assert.deepEqual(look.free, []);
    assert.ok((await store.look(() => true)).free.includes(id!));
  });

  test(`leases of the ${side.name}: a node that leaves leaves nothing behind`, async () => {
    const [id] = await side.register(1);
    const node = await joined();
    await store.take(node.incarnation, [id!], 'placed');
    await store.leave(node.incarnation);
    assert.equal(await named(node.name), undefined);
    assert.ok((await store.look()).free.includes(id!));
    assert.equal(await store.join(nodeOf({ name: node.name }), length, null), null);
  });

  test(`leases of the ${side.name}: of many nodes that take the same instances at once one gets each`, async () => {
    const ids = await side.register(20);
    const nodes = await Promise.all(Array.from({ length: 5 }, () => joined()));
    const random = randomOf(7);
    const answers = await Promise.all(nodes.map(({ incarnation }) => store.take(incarnation, shuffled(ids, random), 'placed')));
    const taken = answers.flat();
    assert.deepEqual(taken.map(({ instanceId }) => instanceId).toSorted(), ids.toSorted());
    assert.ok(taken.every(({ epoch }) => epoch === 2));
  });

  test(`leases of the ${side.name}: people see the nodes, also one that died, why instances were taken lately, and who has one`, async () => {
    const ids = await side.register(4);
    const [dead, node] = [await joined({ capacity: 7 }), await joined()];
    await store.take(dead.incarnation, ids.slice(0, 1), 'placed');
    await store.take(node.incarnation, ids.slice(1, 2), 'drained');
    await store.take(node.incarnation, ids.slice(2), 'asked');
    const before = await store.leaseOf(ids[0]!);
    assert.deepEqual([before?.node, before?.cause], [dead.name, 'placed']);
    await side.pass(length - 10_000);
    await store.renew({ ...node, load: 3, astray: 2, bus: false }, length);
    await side.pass(20_000);
    await end(dead);
    const known = new Map((await store.known()).map((one) => [one.name, one]));
    assert.ok((known.get(dead.name)?.leftMs ?? 0) < 0);
    assert.equal(known.get(dead.name)?.capacity, 7);
    assert.deepEqual([known.get(node.name)?.load, known.get(node.name)?.astray, known.get(node.name)?.bus], [3, 2, false]);
    assert.equal(known.get(dead.name)?.bus, null, 'a node without a bus says nothing');
    assert.deepEqual(known.get(node.name)?.taken, { drained: 1, asked: 2 });
    assert.equal(await store.leaseOf(ids[0]!), null, 'a dead node has nothing');
    await store.take(node.incarnation, ids.slice(0, 1), 'placed');
    const after = await store.leaseOf(ids[0]!);
    assert.deepEqual([after?.node, after?.cause], [node.name, 'failover']);
    assert.ok((after?.since ?? 0) > 0);
    assert.ok((after?.heldMs ?? -1) >= 0);
    assert.ok((await store.leaseOf(ids[2]!))!.heldMs >= after!.heldMs, 'it was taken before');
    assert.equal(await store.leaseOf('unknown'), null);
  });

  test(`leases of the ${side.name}: so many handshakes are admitted at once, and then so many a second`, async () => {
    // The clock of the database goes on by itself. A place in ten seconds is more than a slow machine takes between two statements.
    const rate = { perSecond: 0.1, burst: 5 };
    await side.pass(100_000);
    assert.equal(await store.admit(3, rate), 3);
    assert.equal(await store.admit(10, rate), 2);
    assert.ok((await store.admit(10, rate)) <= 1);
    await side.pass(30_000);
    const next = await store.admit(10, rate);
    assert.ok(next >= 3 && next <= 4, String(next));
  });
}

/** Holds a lock with a statement until the work is done, for events between two statements. */
const whileLocked = async (lock: string, values: readonly unknown[], work: () => Promise<void>): Promise<void> => {
  await pool.transaction(async (runner) => {
    await runner.rows({ name: '', text: lock }, values);
    await work();
  });
};

test('leases: a take that waited for another one finds the leases that the other one took', async () => {
  const { store } = realSide;
  const [id] = await realSide.register(1);
  const [first, second] = [nodeOf(), nodeOf()];
  await store.join(first, length, null);
  let answers: Promise<readonly (readonly unknown[])[]> | undefined;
  await whileLocked('select id from instance where id = $1 for update', [id], async () => {
    const early = store.take(first.incarnation, [id!], 'placed');
    await wait(50);
    // A node that the waiting take cannot have seen when it began.
    await store.join(second, length, null);
    answers = Promise.all([early, store.take(second.incarnation, [id!], 'placed')]);
    await wait(50);
  });
  assert.equal((await answers!).flat().length, 1);
  assert.equal(await realSide.epochOf(id!), 2);
});

test('leases: ending a lease waits for a renewal under way', async () => {
  const { store } = realSide;
  const owner = nodeOf();
  await store.join(owner, length, null);
  const seen = (await store.look()).nodes.find(({ name }) => name === owner.name)!;
  let ended: Promise<boolean> | undefined;
  await whileLocked('update node set until = until + 1 where name = $1', [owner.name], async () => {
    ended = store.end(seen);
    await wait(50);
  });
  assert.equal(await ended, false);
});

test('leases: a take waits for an ending of a lease under way', async () => {
  const { store } = realSide;
  const [id] = await realSide.register(1);
  const [owner, other] = [nodeOf(), nodeOf()];
  await store.join(owner, length, null);
  await store.join(other, length, null);
  await store.take(owner.incarnation, [id!], 'placed');
  let taken: Promise<readonly unknown[]> | undefined;
  await whileLocked('update node set ended = true where name = $1', [owner.name], async () => {
    taken = store.take(other.incarnation, [id!], 'placed');
    await wait(50);
  });
  assert.equal((await taken)?.length, 1);
});

test('leases: a database clock that was set back delays no handshake', async () => {
  await run('update admission set at = at + 3600000', []);
  assert.equal(await realSide.store.admit(5, { perSecond: 10, burst: 5 }), 0, 'the burst begins anew');
  await wait(250);
  assert.ok((await realSide.store.admit(5, { perSecond: 10, burst: 5 })) >= 2);
});

test('leases: the list of nodes for operators is read by indexes, for any number of leases', async () => {
  // Leases without their instances are enough.
  await run('alter table lease drop constraint lease_instance_id_foreign', []);
  await run(`insert into lease select 'x' || n, gen_random_uuid(), 1, 0, 'placed' from generate_series(1, 5000) as n`, []);
  await run('analyze lease', []);
  for (const statement of [leaseStatements.known, leaseStatements.leaseOf]) {
    const plan = await planOf(database.admin, statement);
    const reads = plan.filter((node) => node['Relation Name'] === 'lease');
    assert.ok(reads.length > 0 && reads.every((node) => node['Node Type'] !== 'Seq Scan'), `${statement.name} reads all leases`);
  }
});
