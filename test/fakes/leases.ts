/** The store of leases in memory, as one database for any number of nodes. */
import type { Claim, InstanceId } from '#actors/model.ts';
import {
  StorageUnavailable,
  type AdmissionRate,
  type KnownNode,
  type LeaseCause,
  type LeaseDifference,
  type TakeCause,
  type TakenLease,
  type LeaseStore,
  type LiveNode,
  type Look,
  type NameHolder,
  type NodeState,
} from '#actors/ports.ts';

interface Row extends NodeState {
  readonly until: number;
  readonly started: number;
  readonly ended: boolean;
}

interface Lease {
  readonly incarnation: string;
  readonly epoch: number;
  readonly cause: LeaseCause;
  readonly since: number;
}

export class FakeLeases {
  readonly #now: () => number;
  readonly #nodes = new Map<string, Row>();
  readonly leases = new Map<InstanceId, Lease>();
  /** The epochs of all instances. */
  readonly #epochs = new Map<InstanceId, number>();
  /** Instances that are not wanted online. A node takes the lease of such an instance only while work waits for the instance. */
  readonly resting = new Set<InstanceId>();
  /** Instances without a valid lease at the end of the last statement. */
  readonly #free = new Set<InstanceId>();
  /** Incarnations of the nodes that were live at the last statement. */
  #were: ReadonlySet<string> = new Set();
  #admittedUntil = 0;
  /** The number of statements that read all free instances. */
  freeReads = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  register(id: InstanceId, epoch = 1): void {
    this.#epochs.set(id, epoch);
    this.#free.add(id);
  }

  epochOf(id: InstanceId): number {
    return this.#epochs.get(id) ?? 0;
  }

  /** Returns the store as one node sees it. `reachable` may change at any time. A statement that is already running still gets its answer. */
  store(reachable: () => boolean = () => true): LeaseStore {
    const reach =
      <A extends readonly unknown[], T>(work: (...args: A) => T) =>
      async (...args: A): Promise<T> => {
        if (!reachable()) throw new StorageUnavailable('the database is not available');
        return work(...args);
      };
    return {
      join: reach((node, ms, former) => this.#join(node, ms, former)),
      renew: reach((node, ms) => this.#renew(node, ms)),
      end: reach((holder) => this.#endNode(holder)),
      leave: reach((incarnation) => this.#leave(incarnation)),
      look: reach((wantsFree) => this.#look(wantsFree)),
      known: reach(() => this.#known()),
      anyUnsigned: reach(() => false),
      leaseOf: reach((id) => {
        const lease = this.leases.get(id);
        const node = [...this.#nodes.values()].find(({ incarnation, ended }) => incarnation === lease?.incarnation && !ended);
        return lease && node
          ? { node: node.name, since: lease.since, heldMs: this.#now() - lease.since, leftMs: node.until - this.#now(), cause: lease.cause }
          : null;
      }),
      epochOf: reach((id) => this.#epochs.get(id) ?? null),
      unowned: reach((ids) => this.#unowned(ids)),
      take: reach((incarnation, ids, cause) => this.#take(incarnation, ids, cause)),
      compare: reach((incarnation, held) => this.#compare(incarnation, held)),
      giveBack: reach((incarnation, claims) => this.#giveBack(incarnation, claims)),
      admit: reach((asked, rate) => this.#admit(asked, rate)),
    };
  }

  /** Returns the incarnations of live nodes. Marks the instances of nodes that are no longer live as free. */
  get #live(): ReadonlySet<string> {
    const live = new Set([...this.#nodes.values()].filter(({ ended }) => !ended).map(({ incarnation }) => incarnation));
    if ([...this.#were].some((incarnation) => !live.has(incarnation)))
      for (const [id, { incarnation }] of this.leases) if (!live.has(incarnation)) this.#free.add(id);
    return (this.#were = live);
  }

  #join(node: NodeState, ms: number, former: string | null): NameHolder | null {
    const row = this.#nodes.get(node.name);
    const isLive = row && !row.ended && row.until > this.#now() - 3_600_000;
    if (isLive && row.incarnation !== node.incarnation && row.incarnation !== former)
      return { incarnation: row.incarnation, until: row.until };
    this.#nodes.set(node.name, { ...node, until: this.#now() + ms, started: this.#now(), ended: false });
    return null;
  }

  #renew(node: NodeState, ms: number): boolean {
    const row = this.#nodes.get(node.name);
    if (!row || row.incarnation !== node.incarnation || row.ended) return false;
    this.#nodes.set(node.name, { ...row, ...node, until: this.#now() + ms });
    return true;
  }

  #endNode({ incarnation, until }: NameHolder): boolean {
    const row = [...this.#nodes.values()].find((node) => node.incarnation === incarnation);
    if (!row || row.until !== until || row.ended) return false;
    this.#nodes.set(row.name, { ...row, ended: true });
    return true;
  }

  #leave(incarnation: string): void {
    for (const [name, node] of this.#nodes) if (node.incarnation === incarnation) this.#nodes.delete(name);
    for (const [id, lease] of this.leases) if (lease.incarnation === incarnation) this.#end(id);
  }

  #look(wantsFree?: (nodes: readonly LiveNode[]) => boolean): Look {
    const [now, live] = [this.#now(), this.#live];
    const nodes = [...this.#nodes.values()]
      .filter(({ incarnation }) => live.has(incarnation))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map((node): LiveNode => ({ ...node, age: now - node.started }));
    if (wantsFree?.(nodes) === false) return { nodes, free: [] };
    this.freeReads += 1;
    return { nodes, free: [...this.#free].filter((id) => !this.resting.has(id)) };
  }

  #unowned(ids: readonly InstanceId[]): readonly InstanceId[] {
    const live = this.#live;
    return ids.filter((id) => !live.has(this.leases.get(id)?.incarnation ?? ''));
  }

  #known(): readonly KnownNode[] {
    const now = this.#now();
    return [...this.#nodes.values()]
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ name, version, capacity, load, astray, bus = null, draining, incarnation, until, started, ended }) => {
        const taken: Partial<Record<LeaseCause, number>> = {};
        for (const lease of this.leases.values())
          if (lease.incarnation === incarnation && lease.since > now - 3_600_000) taken[lease.cause] = (taken[lease.cause] ?? 0) + 1;
        return { name, version, capacity, load, astray, bus, draining, ended, leftMs: until - now, age: now - started, taken };
      });
  }

  #take(incarnation: string, ids: readonly InstanceId[], cause: TakeCause): readonly TakenLease[] {
    const live = this.#live;
    if (!live.has(incarnation)) return [];
    const claims: TakenLease[] = [];
    for (const instanceId of new Set(ids)) {
      const [epoch, lease] = [this.#epochs.get(instanceId), this.leases.get(instanceId)];
      if (epoch === undefined || (lease && live.has(lease.incarnation))) continue;
      this.#epochs.set(instanceId, epoch + 1);
      this.#free.delete(instanceId);
      const taken = { epoch: epoch + 1, cause: lease ? ('failover' as const) : cause };
      this.leases.set(instanceId, { incarnation, ...taken, since: this.#now() });
      claims.push({ instanceId, ...taken });
    }
    return claims;
  }

  #compare(incarnation: string, held: readonly Claim[]): LeaseDifference {
    const leased = [...this.leases].filter(([, lease]) => lease.incarnation === incarnation);
    const isSame = (instanceId: InstanceId, epoch: number): boolean =>
      held.some((claim) => claim.instanceId === instanceId && claim.epoch === epoch);
    const unheld = leased.filter(([id, { epoch }]) => !isSame(id, epoch)).map(([instanceId, { epoch }]) => ({ instanceId, epoch }));
    const has = ({ instanceId, epoch }: Claim): boolean => leased.some(([id, lease]) => id === instanceId && lease.epoch === epoch);
    return { unheld, unleased: held.filter((claim) => !has(claim)) };
  }

  #giveBack(incarnation: string, claims: readonly Claim[]): void {
    for (const { instanceId, epoch } of claims) {
      const lease = this.leases.get(instanceId);
      if (lease?.incarnation === incarnation && lease.epoch === epoch) this.#end(instanceId);
    }
  }

  #end(id: InstanceId): void {
    this.leases.delete(id);
    this.#free.add(id);
  }

  #admit(asked: number, { perSecond, burst }: AdmissionRate): number {
    const [now, place] = [this.#now(), 1000 / perSecond];
    const start = Math.min(Math.max(this.#admittedUntil, now - burst * place), now);
    const count = Math.min(asked, Math.floor((now - start) / place));
    this.#admittedUntil = start + count * place;
    return count;
  }
}
