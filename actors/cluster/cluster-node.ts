/** A node of the cluster. The node takes the instances that belong to it, and moves all others to their nodes. */
import type { Claim, InstanceId } from '../model.ts';
import type { LeaseStore, LiveNode, Log, Look, Meter, TakeCause, Time } from '../ports.ts';
import { PeriodicWorker, type SupervisedWorkers } from '../policy/supervised-workers.ts';
import { AskedTakes, type OwnedSessions } from './sessions.ts';
import { type Departure, Departures, Placement, planOf, ReservedSlots } from './placement.ts';
import { LeaseCheck, NodeWatch } from './lease-check.ts';
import { NodeLease, type NodeLeaseInput } from './node-lease.ts';
import type { LeaseTerm, Ownership } from './ownership.ts';
import { type ClusterPolicy, departurePaceOf } from './policy.ts';

interface ClusterNodeInput extends Pick<NodeLeaseInput, 'node' | 'newIncarnation' | 'bus'> {
  readonly store: LeaseStore;
  readonly time: Time;
  readonly log: Log;
  readonly policy: ClusterPolicy;
  readonly ownership: Ownership;
  readonly workers: SupervisedWorkers;
  readonly sessions: OwnedSessions;
  readonly meter: Pick<Meter, 'leases'>;
}

/**
 * The cause of the end of a lease. `moved`, `drained`: the session moves to another node, for balance or because this node drains. `idle`: nothing needs
 * the session. `stopped`: the process stops. `lost`: another node may own the instance.
 */
type EndCause = 'moved' | 'drained' | 'idle' | 'stopped' | 'lost';

/** The pause between two checks for owned instances that need no owner, and for unowned instances with unsent work. In milliseconds. */
const restLookMs = 10_000;

/** The number of consecutive checks without an answer of the database after which a node accepts no sessions. */
const lateLooks = 3;

export class ClusterNode {
  readonly #input: ClusterNodeInput;
  readonly #ownership: Ownership;
  readonly #lease: NodeLease;
  readonly #departures: Departures;
  readonly #watch: NodeWatch;
  readonly #looks: PeriodicWorker;
  /** The placement of the last check of the cluster. */
  #placement = new Placement([], 0);
  #nodes: readonly LiveNode[] = [];
  #lookedAtRestAt = 0;
  /** The time of the last check that the database answered, by the monotonic clock. */
  #lookedAt = -Infinity;
  #taking: Promise<unknown> = Promise.resolve();
  readonly #asked = new AskedTakes({ take: (ids, cause) => this.#take(ids, cause), roomFor: (id) => this.#roomFor(id) });
  /** The key of the last placement by which no instance had to move; '' after a take, so that the next check plans moves again. */
  #balanced = '';
  readonly #reserved: ReservedSlots;
  readonly #check: LeaseCheck;
  /** Nodes that refused a session, with the monotonic time until which they get no offer. By that time these nodes have announced their load. */
  readonly #refusing = new Map<string, number>();
  /** Sessions that another node has promised to take, until that node has them. */
  readonly #promised = new Set<InstanceId>();
  /** Instances that this node gave away since it began to drain. */
  readonly #given = new Set<InstanceId>();

  constructor(input: ClusterNodeInput) {
    this.#input = input;
    this.#ownership = input.ownership;
    this.#reserved = new ReservedSlots(input.time);
    const { store, time, log, policy, workers, ownership } = input;
    const check = this.#createCheck();
    this.#check = check;
    this.#lease = new NodeLease({
      ...input,
      term: ownership.lease,
      load: () => ownership.owned.size,
      astray: () => check.found,
      renewed: () => check.renewed(),
      ended: () => this.#closeAll(true),
    });
    this.#watch = new NodeWatch({ store, time, log, lease: policy.lease, me: input.node.name });
    this.#departures = new Departures({ time, atOnce: policy.leavingAtOnce, leave: (departure) => this.#moveAway(departure) });
    this.#looks = new PeriodicWorker({
      time,
      log,
      workers,
      name: 'cluster',
      everyMs: policy.lookEvery,
      unanswered: 'node.notLooked',
      run: async () => {
        if (this.#term.incarnation === null) return;
        const look = await this.#watch.look(this.#reserved.countBeside(null) > 0);
        this.#lookedAt = time.monotonic();
        await this.#act(look);
      },
    });
  }

  #createCheck(): LeaseCheck {
    return new LeaseCheck({
      ...this.#input,
      incarnation: () => this.#term.incarnation,
      held: () => this.#ownership.held,
      leaving: () => new Set(this.#ownership.leaving.keys()),
      serially: (work) => this.#serially(work),
      giveBack: (incarnation, claims) => this.#giveBack(incarnation, claims),
      drop: (id) => this.#drop(id),
      isServed: (id) => this.#input.sessions.isServed(id),
      serve: (id) => this.#serve(id),
    });
  }

  get #term(): LeaseTerm {
    return this.#ownership.lease;
  }

  /** Joins the cluster. Rejects with a sentence for the operator if a live node has the same name. */
  async join(): Promise<void> {
    await this.#lease.start();
    // Reads the live nodes before the first request, because this request may concern an instance of another node. If the read fails, a later check reports the
    // fault.
    this.#nodes = await this.#watch.look().then(
      ({ nodes }) => nodes,
      () => [],
    );
  }

  /** Starts to take instances. */
  begin(): void {
    this.#looks.start();
    this.look();
  }

  /** Checks the cluster now, without waiting for the next interval. */
  look(): void {
    this.#looks.wake();
  }

  /** Starts to move the sessions to other nodes, a few at a time, as far as other nodes have room. */
  async drain(): Promise<void> {
    await this.#lease.drain();
    this.look();
  }

  /** The live nodes at the last check of the cluster. */
  get nodes(): readonly LiveNode[] {
    return this.#nodes;
  }

  /** True if this node owns an instance that another node would take. */
  get canGiveAway(): boolean {
    return this.#ownership.owned.size > 0 && this.#term.incarnation !== null && this.#placement.hasRoom;
  }

  /** Returns the name of the node that takes an unowned instance. Returns null if no node has room, or if this node is not live. */
  nodeFor(id: InstanceId): string | null {
    return this.#term.incarnation === null ? null : this.#placement.of(id);
  }

  /** The number of differences between the leases in the database and in memory at the last comparison. */
  get astray(): number {
    return this.#check.found;
  }

  /** True if no node had room for more instances at the last check of the cluster. */
  get isClusterFull(): boolean {
    return this.#term.incarnation !== null && !this.#placement.hasRoom;
  }

  /** Reserves a slot for a session of another node. Returns false without a free slot, or without the database, which a take needs. */
  reserveSlot(id: InstanceId): boolean {
    const { time, policy } = this.#input;
    if (time.monotonic() - this.#lookedAt > lateLooks * policy.lookEvery) return false;
    if (this.#term.draining || this.#term.incarnation === null || this.#roomFor(id) <= 0) return false;
    this.#reserved.keep(id);
    return true;
  }

  /** Takes an instance for a request. Returns false if another node owns the instance, or this node may take none. */
  async take(id: InstanceId, cause: TakeCause = 'asked'): Promise<boolean> {
    if (this.#ownership.owns(id)) return true;
    await this.#ownership.leaving.get(id);
    // A request that arrives during the move must not take the instance back, because the session would have to close again.
    if (this.#promised.has(id)) return false;
    if (this.#term.draining || this.#roomFor(id) <= 0) return false;
    await this.#asked.take(id, cause);
    return this.#ownership.owns(id);
  }

  /** Closes the session and ends its lease, for example because the session hibernated. Never rejects. */
  release(id: InstanceId, cause: EndCause): Promise<void> {
    const { owned, leaving } = this.#ownership;
    const known = leaving.get(id);
    if (known) return known;
    if (!owned.has(id)) return Promise.resolve();
    this.#input.sessions.serve(id, false);
    return this.#ownership.leave(id, this.#leave(id, cause));
  }

  /** Closes every session, then leaves the cluster. Never rejects. */
  async stop(): Promise<void> {
    this.#looks.stop();
    this.#departures.plan([], 1);
    await this.#taking;
    await this.#closeAll(false);
    await this.#lease.stop();
  }

  async #act(look: Look): Promise<void> {
    const { node, policy } = this.#input;
    const { draining } = this.#term;
    const { perSecond, turn } = departurePaceOf(policy, look.nodes, { me: node.name, draining });
    this.#nodes = look.nodes;
    const placement = (this.#placement = new Placement(look.nodes, policy.settled));
    const moves = Math.max(1, Math.floor((perSecond * policy.lookEvery) / 1000));
    const here = [...this.#ownership.owned.keys()].filter((id) => !this.#ownership.leaving.has(id));
    const owned = here.filter((id) => !this.#isBeingPaired(id));
    const { take, giveAway } = planOf({
      me: node.name,
      look,
      placement,
      owned,
      room: this.#roomFor(null),
      takes: policy.takenAtOnce,
      moves: placement.key === this.#balanced ? 0 : moves,
      draining,
      refusing: this.#refusingNow(),
      given: this.#given,
    });
    if (giveAway.length === 0 && !draining && this.#refusing.size === 0 && owned.length === here.length) this.#balanced = placement.key;
    this.#departures.plan(giveAway, perSecond, turn);
    // The former owner of a free instance with a reserved slot released the lease, but did not ask this node to take the instance.
    const due = draining ? [] : look.free.filter((id) => this.#reserved.has(id));
    const taken = [...new Set([...due, ...take])];
    if (taken.length > 0) await this.#take(taken, 'placed');
    await this.#lookAtRest();
  }

  /** Returns the number of slots that are neither used by owned instances nor reserved. A slot that is reserved for the given instance counts as free. */
  #roomFor(id: InstanceId | null): number {
    return this.#input.node.capacity - this.#ownership.owned.size - this.#reserved.countBeside(id);
  }

  /** Returns true if the instance stays, because a move would end its pairing. A draining node moves such an instance as well. */
  #isBeingPaired(id: InstanceId): boolean {
    return !this.#term.draining && this.#input.sessions.isPairing(id);
  }

  #refusingNow(): ReadonlySet<string> {
    const now = this.#input.time.monotonic();
    for (const [name, until] of this.#refusing) if (until <= now) this.#refusing.delete(name);
    return new Set(this.#refusing.keys());
  }

  /** Releases owned instances that need no session. Takes unowned instances with pending work, because their owner died or released them as idle. */
  async #lookAtRest(): Promise<void> {
    const { time, sessions, store, node, policy } = this.#input;
    if (time.monotonic() - this.#lookedAtRestAt < restLookMs) return;
    this.#lookedAtRestAt = time.monotonic();
    if (!this.#watch.restShare.isDue(this.#nodes)) return;
    const unsent = await sessions.unsent();
    const isIdle = (id: InstanceId): boolean => !this.#ownership.leaving.has(id) && !unsent.has(id) && sessions.isIdle(id);
    for (const id of [...this.#ownership.owned.keys()].filter(isIdle)) void this.release(id, 'idle');
    const room = Math.min(this.#roomFor(null), policy.takenAtOnce);
    if (this.#term.draining || room <= 0) return;
    const mine = [...unsent].filter((id) => !this.#ownership.owned.has(id) && this.#placement.of(id) === node.name).slice(0, room);
    const free = mine.length === 0 ? [] : await store.unowned(mine);
    if (free.length > 0) await this.#take(free, 'placed');
  }

  /** Takes instances, one batch at a time, so that a stop can wait for the batch. */
  #take(ids: readonly InstanceId[], cause: TakeCause): Promise<void> {
    return this.#serially(async () => {
      const { store, sessions, ownership } = this.#input;
      const { incarnation } = this.#term;
      if (incarnation === null) return;
      // A session that is open or still closing on this node keeps its epoch. If its lease is gone from the database, the lease check ends the
      // session first.
      const absent = ids.filter((id) => !ownership.owned.has(id) && !ownership.leaving.has(id));
      if (absent.length === 0) return;
      const claims = await store.take(incarnation, absent, cause);
      // The lease of the node, and the new leases with it, may have been lost during the statement.
      if (claims.length === 0 || this.#term.incarnation !== incarnation) return;
      const begin = await sessions.prepare(claims).catch(async (error: unknown) => {
        await this.#giveBack(incarnation, claims);
        throw error;
      });
      if (this.#term.incarnation !== incarnation) return;
      for (const { instanceId, epoch, cause: why } of claims) {
        ownership.begin(instanceId, epoch);
        this.#reserved.end(instanceId);
        this.#given.delete(instanceId);
        this.#input.meter.leases('taken', why, 1);
      }
      this.#balanced = '';
      begin();
      for (const { instanceId } of claims) this.#serve(instanceId);
      if (this.#roomFor(null) <= 0) void this.#lease.announce();
    });
  }

  /** Runs the work after earlier takeovers have ended. */
  #serially(work: () => Promise<void>): Promise<void> {
    const taking = this.#taking.then(work);
    this.#taking = taking.catch(() => undefined);
    return taking;
  }

  /** Starts to serve an instance. If this fails, the lease check after the next renewal retries. */
  #serve(id: InstanceId): void {
    try {
      this.#input.sessions.serve(id, true);
    } catch (error) {
      this.#input.log.warn({ instance: id, error }, 'node.notServed');
    }
  }

  /** Stops all writes and sends for the instance at once, because another node may own it. */
  #drop(id: InstanceId): void {
    if (!this.#ownership.end(id)) return;
    const { sessions, meter } = this.#input;
    meter.leases('ended', 'lost', 1);
    sessions.serve(id, false);
    void this.#ownership.leave(id, sessions.close(id, true));
  }

  /** Closes the session if its next owner reserves a slot for it. Otherwise the session stays, and the next check decides again. */
  async #moveAway(departure: Departure): Promise<void> {
    const { sessions, time, policy } = this.#input;
    const { id, to } = departure;
    // Returns true if the move is no longer possible. The session may have been lost or released meanwhile, or a person may have begun to pair it.
    const isVoid = (): boolean => !this.#ownership.owned.has(id) || this.#ownership.leaving.has(id) || this.#isBeingPaired(id);
    if (isVoid() || this.#refusing.has(to)) return;
    const agreed = await sessions.offer(departure);
    if (!agreed) this.#refusing.set(to, time.monotonic() + policy.renewEvery);
    if (!agreed || isVoid()) return;
    const cause = this.#term.draining ? 'drained' : 'moved';
    if (cause === 'drained') this.#given.add(id);
    this.#promised.add(id);
    await this.release(id, cause);
    await sessions.handOver(departure, cause);
    this.#promised.delete(id);
  }

  async #leave(id: InstanceId, cause: EndCause): Promise<void> {
    const [{ incarnation }, epoch] = [this.#term, this.#ownership.owned.get(id)];
    await this.#input.sessions.close(id, false);
    // The lease may have been lost with the lease of the node, and may even have been taken again.
    if (epoch === undefined || incarnation === null || this.#ownership.owned.get(id) !== epoch) return;
    this.#ownership.end(id);
    this.#input.meter.leases('ended', cause, 1);
    await this.#giveBack(incarnation, [{ instanceId: id, epoch }]);
  }

  /** Releases leases. If this fails, the lease check after the next renewal finds these leases. */
  async #giveBack(incarnation: string, claims: readonly Claim[]): Promise<void> {
    const { store, log } = this.#input;
    await store.giveBack(incarnation, claims).catch((error: unknown) => {
      log.warn({ instances: claims.length, error }, 'node.notGivenBack');
    });
  }

  async #closeAll(hurry: boolean): Promise<void> {
    const { owned, leaving } = this.#ownership;
    const ids = [...owned.keys()];
    for (const id of ids) this.#input.sessions.serve(id, false);
    await Promise.all(ids.map((id) => (hurry ? undefined : leaving.get(id)) ?? this.#closeOne(id, hurry)));
    this.#ownership.clear();
  }

  /** Closes one session during a stop or after a loss. The session counts as leaving, so that no command opens it again under a lost lease. */
  #closeOne(id: InstanceId, hurry: boolean): Promise<void> {
    const ownership = this.#ownership;
    const epoch = ownership.owned.get(id);
    const closed = this.#input.sessions.close(id, hurry).then(() => {
      if (epoch === undefined || ownership.owned.get(id) !== epoch) return;
      ownership.end(id);
      this.#input.meter.leases('ended', hurry ? 'lost' : 'stopped', 1);
    });
    return ownership.leave(id, closed);
  }
}
