/** The instances that this node owns, the validity of the lease under which it owns them, and the commands that use them. */
import { type Claim, type InstanceId, type Result, unknownInstance } from '../model.ts';
import type { Time } from '../ports.ts';
import { Pause } from '../waiting.ts';
import type { ClusterPolicy } from './policy.ts';

// Counts the commands that use each instance, with the time of the last use. Before the session of an instance is closed, commands under way get some time
// to end. An instance with a recent use does not count as idle.

interface Use {
  readonly count: number;
  readonly at: number;
  readonly waiting: readonly (() => void)[];
}

const none: Use = { count: 0, at: -Infinity, waiting: [] };

export class Uses {
  readonly #time: Time;
  readonly #uses = new Map<InstanceId, Use>();

  constructor(time: Time) {
    this.#time = time;
  }

  async during<T>(id: InstanceId, work: () => Promise<T>): Promise<T> {
    this.#change(id, 1);
    try {
      return await work();
    } finally {
      this.#change(id, -1);
    }
  }

  note(id: InstanceId): void {
    this.#change(id, 0);
  }

  count(id: InstanceId): number {
    return this.#uses.get(id)?.count ?? 0;
  }

  /** Returns the time of the last use in Unix milliseconds; -Infinity if there was none. */
  lastAt(id: InstanceId): number {
    return this.#uses.get(id)?.at ?? none.at;
  }

  /** Resolves when no command uses the instance. */
  ended(id: InstanceId): Promise<void> {
    const use = this.#uses.get(id);
    if (!use || use.count === 0) return Promise.resolve();
    return new Promise((resolve) => void this.#uses.set(id, { ...use, waiting: [...use.waiting, resolve] }));
  }

  forget(id: InstanceId): void {
    if (this.count(id) === 0) this.#uses.delete(id);
  }

  #change(id: InstanceId, by: number): void {
    const { count, waiting } = this.#uses.get(id) ?? none;
    const left = count + by;
    this.#uses.set(id, { count: left, at: this.#time.now(), waiting: left === 0 ? [] : waiting });
    if (left === 0) for (const resolve of waiting) resolve();
  }
}

// The instances that this node owns, and the validity of its lease. The objects for both are made before all other parts of a node, so that every
// part can query them. `node-lease.ts` changes the validity, and `cluster-node.ts` changes the instances.

/**
 * The validity of the lease of a node. The end is counted on the monotonic clock from the time at which the renewal was sent. A slow answer, or
 * different clocks of two machines, therefore cannot make this end later than in the database. The process may be suspended at any time, so `good`
 * compares times at each call and does not rely on a timer.
 */
export class LeaseTerm {
  readonly #time: Time;
  readonly #policy: Pick<ClusterPolicy, 'lease' | 'margin'>;
  /** The pause between two renewals. A doubt about the clocks cuts the pause short. */
  readonly pause: Pause;
  /** The incarnation that joined; null before a join and after a loss. */
  #joined: string | null = null;
  /** The end of the lease for this node, by the monotonic clock. */
  #goodUntil = -Infinity;
  /** The time of the last renewal by the system clock. The system clock runs while the machine sleeps, but the monotonic clock may stop. */
  #sentAt = 0;
  /** The value of `#sentAt` at the last doubt. One renewal is doubted only once. */
  #doubted = NaN;
  draining = false;

  constructor(time: Time, policy: Pick<ClusterPolicy, 'lease' | 'margin'>) {
    this.#time = time;
    this.#policy = policy;
    this.pause = new Pause(time);
  }

  /** True if this node may act for its instances now. */
  get good(): boolean {
    if (this.#time.monotonic() >= this.#goodUntil) return false;
    if (this.#time.now() - this.#sentAt < this.#policy.lease) return true;
    // The machine slept, or its clock was set. An immediate renewal shows whether the lease is still valid.
    if (this.#doubted !== this.#sentAt) this.pause.cut();
    this.#doubted = this.#sentAt;
    return false;
  }

  /** The time for which the lease is still valid for this node; 0 if it is not valid. In milliseconds. */
  get leftMs(): number {
    return this.good ? this.#goodUntil - this.#time.monotonic() : 0;
  }

  /** The incarnation under which leases are taken; null while the node is not live. */
  get incarnation(): string | null {
    return this.#joined !== null && this.good ? this.#joined : null;
  }

  /** True between a join and the loss of the lease. The lease may have run out meanwhile. */
  get isJoined(): boolean {
    return this.#joined !== null;
  }

  joined(incarnation: string): void {
    this.#joined = incarnation;
  }

  /** Prevents takeovers under this lease. The lease stays valid until its end, so that the sessions can be closed in order. */
  lost(): void {
    this.#joined = null;
  }

  /** Counts the lease from the sending of a renewal, by the monotonic clock. Returns the end of the lease by this clock. */
  renewed(sent: number): number {
    const { lease, margin } = this.#policy;
    this.#goodUntil = sent + lease - margin;
    this.#sentAt = this.#time.now() - (this.#time.monotonic() - sent);
    return this.#goodUntil;
  }

  /** Ends the lease at once, because the database ended it or the node leaves. */
  end(): void {
    this.#goodUntil = -Infinity;
  }
}

/**
 * Returns true if nothing left the process, so that a retry is safe. A command that gets no cell, because its session was closed meanwhile, refuses with
 * `unknownInstance`.
 */
const wasNotSent = (value: unknown): boolean => {
  if (value === unknownInstance) return true;
  const { ok, refusal } = (typeof value === 'object' && value !== null ? value : {}) as Partial<Extract<Result<never>, { ok: false }>>;
  return ok === false && refusal?.reason === 'notSent';
};

export class Ownership {
  readonly lease: LeaseTerm;
  /** Commands under way, by instance. */
  readonly uses: Uses;
  /** Epochs of the instances that this node owns. */
  readonly #owned = new Map<InstanceId, number>();
  /** The last epoch of each instance that this node ever owned, except removed instances. */
  readonly #epochs = new Map<InstanceId, number>();
  /** The closes of sessions under way, by instance. */
  readonly #leaving = new Map<InstanceId, Promise<void>>();

  constructor(time: Time, policy: Pick<ClusterPolicy, 'lease' | 'margin'>) {
    this.lease = new LeaseTerm(time, policy);
    this.uses = new Uses(time);
  }

  /** Returns true if this node may write for the instance now. The result is also true while the session closes for a move to another node. */
  mayAct(id: InstanceId): boolean {
    return this.#owned.has(id) && this.lease.good;
  }

  /** Returns true if this node accepts commands for the instance now. */
  owns(id: InstanceId): boolean {
    return this.#owned.has(id) && !this.#leaving.has(id) && this.lease.good;
  }

  /** Returns the last epoch under which this node owned the instance, or null if it never did. */
  lastEpochOf(id: InstanceId): number | null {
    return this.#owned.get(id) ?? this.#epochs.get(id) ?? null;
  }

  /** Drops the data of a removed instance. */
  forget(id: InstanceId): void {
    this.#epochs.delete(id);
    this.uses.forget(id);
  }

  /** Instances that this node owns, with their epochs. */
  get owned(): ReadonlyMap<InstanceId, number> {
    return this.#owned;
  }

  /** Instances whose sessions are closing, with the ends of their closes. */
  get leaving(): ReadonlyMap<InstanceId, Promise<void>> {
    return this.#leaving;
  }

  /** Leases that this node holds and is not releasing. */
  get held(): readonly Claim[] {
    return [...this.#owned].flatMap(([instanceId, epoch]) => (this.#leaving.has(instanceId) ? [] : [{ instanceId, epoch }]));
  }

  /**
   * Runs a command if this node owns the instance. Returns null if this node does not own the instance, or closed its session for the next owner before the
   * command wrote data. The caller then asks another node.
   */
  async run<T>({ id, here }: { readonly id: InstanceId; here(): Promise<T> }): Promise<{ readonly value: T } | null> {
    // The use counts before the check of ownership, so that the instance is not given away in between.
    return this.uses.during(id, async () => {
      if (!this.owns(id)) return null;
      const value = await here();
      return wasNotSent(value) && !this.owns(id) ? null : { value };
    });
  }

  /** Adds an instance that this node has taken. */
  begin(id: InstanceId, epoch: number): void {
    this.#owned.set(id, epoch);
    this.#epochs.set(id, epoch);
  }

  /** Removes an instance. Returns false if this node did not own the instance. */
  end(id: InstanceId): boolean {
    return this.#owned.delete(id);
  }

  /** Marks the session as leaving while it closes. No command opens the session again meanwhile. */
  leave(id: InstanceId, close: Promise<void>): Promise<void> {
    const leaving: Promise<void> = close.finally(() => {
      if (this.#leaving.get(id) === leaving) this.#leaving.delete(id);
    });
    this.#leaving.set(id, leaving);
    return leaving;
  }

  /** Removes all instances, when the lease of the node has ended. */
  clear(): void {
    this.#owned.clear();
  }
}
