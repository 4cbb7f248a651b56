/** Measures ten thousand leases: a renewal, a read of the cluster, a take-over of leases, and the plan after a read. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { usualClusterPolicy } from '#actors/cluster/policy.ts';
import { Placement, planOf } from '#actors/cluster/placement.ts';
import type { LeaseStore, LiveNode, Look, NodeState } from '#actors/ports.ts';
import { databaseServerOf } from './workshop.ts';
import { EmbeddedServer } from '#src/storage/postgres/embedded.ts';
import { openDatabase } from '#src/storage/postgres/database.ts';
import { openStorage } from '#src/storage/open.ts';
import { scaled, type Bench, type Setting } from './bench.ts';
import { databaseCpu } from './cost.ts';
import { fill, quiet } from './fill.ts';
import { median, type Figure } from './report.ts';

const instances = 10_000;
const rounds = 41;
const nodeNames = ['first', 'second', 'third'] as const;
const leaseMs = 600_000;

const nodeOf = (name: string): NodeState => ({
  name,
  incarnation: randomUUID(),
  capacity: 10_000,
  load: 0,
  astray: 0,
  draining: false,
  version: 'bench',
});

interface Open {
  readonly leases: LeaseStore;
  readonly server: number | null;
  readonly ids: readonly string[];
}

/** Opens stores on a PostgreSQL server with its usual settings, and creates instances that need an owner. */
const open = async ({ workshop }: Setting, count: number): Promise<Open> => {
  const folder = await workshop.folder();
  const dataDir = join(folder, 'data');
  const server = await EmbeddedServer.start({ dataDir, log: quiet });
  workshop.atEnd(() => server.close(true));
  const storage = await openStorage({ databaseUrl: server.url, dataDir, encryptionKey: Buffer.alloc(32, 7), log: quiet, shared: true });
  workshop.atEnd(() => storage.close());
  if (storage.leases === null) throw new Error('the storage is not shared');
  const database = await openDatabase({ url: server.url, log: quiet, poolSize: 1 });
  await fill(database, 'instance', count, {
    id: `'r' || lpad(to_hex(n), 14, '0')`,
    name: `'bench ' || n`,
    token_hash: `sha256(n::text::bytea)`,
    wanted: `'online'`,
  });
  const rows = await database.rows<{ id: string }>({ name: '', text: 'select id from instance order by id' }, []);
  await database.close();
  return { leases: storage.leases, server: databaseServerOf(folder), ids: rows.map(({ id }) => id) };
};

interface Cost {
  /** The time until the answer. In milliseconds. */
  readonly ms: number;
  /** The processor time of the database server. In milliseconds. */
  readonly database: number;
}

const costOf = async (server: number | null, work: () => Promise<unknown>): Promise<Cost> => {
  const times: number[] = [];
  const before = databaseCpu(server);
  for (let round = 0; round < rounds; round += 1) {
    const begun = performance.now();
    await work();
    times.push(performance.now() - begun);
  }
  return { ms: median(times), database: (databaseCpu(server) - before) / rounds };
};

/** Returns the time that this process needs for a plan after a read of the cluster, if one node owns all instances. In milliseconds. */
const planning = (look: Look, owned: readonly string[], me: string): number => {
  const times = Array.from({ length: rounds }, () => {
    const begun = performance.now();
    const placement = new Placement(look.nodes, usualClusterPolicy.settled);
    planOf({ me, look, placement, owned, room: 10_000, takes: 0, moves: Infinity, draining: false, refusing: new Set(), given: new Set() });
    return performance.now() - begun;
  });
  return median(times);
};

const figure = (name: string, ms: number, most: number | null, details: Figure['details'] = {}): Figure => ({
  name,
  unit: 'ms',
  ours: ms,
  baseline: null,
  ...(most === null ? { judged: 'nothing' as const } : { judged: 'value' as const, bound: { most } }),
  details,
});

/** Returns the nodes with an age at which they get instances. */
const settled = (nodes: readonly LiveNode[]): readonly LiveNode[] => nodes.map((node) => ({ ...node, age: usualClusterPolicy.settled }));

export const leases: Bench = {
  name: 'leases',
  about: `${instances} leases: renewed, looked at, taken and placed`,
  async run(setting) {
    const count = scaled(instances, setting);
    const { leases: store, server, ids } = await open(setting, count);
    const [first, ...others] = nodeNames.map(nodeOf);
    if (first === undefined) throw new Error('no nodes');
    for (const node of [first, ...others]) await store.join(node, leaseMs, null);
    const free = await costOf(server, () => store.look());
    const begun = performance.now();
    for (let from = 0; from < ids.length; from += usualClusterPolicy.takenAtOnce)
      await store.take(first.incarnation, ids.slice(from, from + usualClusterPolicy.takenAtOnce), 'placed');
    const taken = performance.now() - begun;
    const renewed = await costOf(server, () => store.renew({ ...first, load: count }, leaseMs));
    const owned = await costOf(server, () => store.look());
    const look = await store.look();
    if (look.free.length > 0) throw new Error(`${look.free.length} instances are free`);
    const plan = planning({ ...look, nodes: settled(look.nodes) }, ids, first.name);
    return [
      figure(`${count} leases renewed`, renewed.ms, 50, { database: renewed.database }),
      figure(`a look at ${count} instances that are owned`, owned.ms, 50, { database: owned.database }),
      figure(`a look at ${count} instances that nobody owns`, free.ms, 100, { database: free.database }),
      figure(`${count} instances taken`, taken, null, { each: taken / count, atOnce: usualClusterPolicy.takenAtOnce }),
      figure(`places of ${count} instances among ${nodeNames.length} nodes`, plan, 10),
    ];
  },
};
