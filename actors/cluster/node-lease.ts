/**
 * Keeps the lease under which this node owns its instances: joins the cluster and renews the lease. For this node the lease ends earlier than for other nodes.
 * `LeaseTerm` says whether the lease is valid now.
 */
import { StorageFailure, type LeaseStore, type Log, type NameHolder, type NodeState, type Time } from '../ports.ts';
import { Renewals } from './lease-check.ts';
import type { LeaseTerm } from './ownership.ts';
import type { ClusterPolicy } from './policy.ts';

export interface NodeLeaseInput {
  readonly store: Pick<LeaseStore, 'join' | 'renew' | 'end' | 'leave'>;
  readonly time: Time;
  readonly log: Log;
  readonly policy: ClusterPolicy;
  readonly term: LeaseTerm;
  readonly node: Pick<NodeState, 'name' | 'capacity' | 'version'>;
  /** Returns a new UUID. */
  newIncarnation(): string;
  /** Returns the number of instances that this node owns. */
  load(): number;
  /** Returns the number of differences between the leases in the database and in memory. */
  astray(): number;
  /** Returns true if the bus is connected. Absent, or returns null, for a node without a bus. */
  bus?(): boolean | null;
  /** Called after each renewal. Never throws. */
  renewed(): void;
  /** Closes all sessions, because the lease ends soon or has ended. The node does not join again before the promise resolves. Never rejects. */
  ended(): Promise<void>;
}

const taken = (name: string): Error =>
  new Error(`Another node named ${name} is running: give each node a NODE_NAME of its own, or stop the other one.`);

export class NodeLease {
  readonly #input: NodeLeaseInput;
  /** The incarnation under which the node is in the cluster, or joins next. */
  #incarnation: string;
  #expiry: unknown = null;
  #running: Promise<void> = Promise.resolve();
  /** Resolves when the sessions of the lost incarnation (`#former`) are closed. */
  #closing: Promise<void> = Promise.resolve();
  /** The incarnation whose lease ended last; null if none ended. */
  #former: string | null = null;

  constructor(input: NodeLeaseInput) {
    this.#input = input;
    this.#incarnation = input.newIncarnation();
  }

  get state(): NodeState {
    const { node, load, astray, bus, term } = this.#input;
    return { ...node, incarnation: this.#incarnation, load: load(), astray: astray(), bus: bus?.() ?? null, draining: term.draining };
  }

  /**
   * Joins the cluster, and then renews the lease regularly. Rejects with a sentence for the operator if a live node has the same name. If a killed node had
   * this name, waits until the lease of that node has ended by the clock of the database. If this node sees no renewal for the length of a lease, it ends that
   * lease itself.
   */
  async start(): Promise<void> {
    const { store, time, policy, node, term } = this.#input;
    const renewals = new Renewals(time, policy.lease);
    for (let before: NameHolder | null = null; ;) {
      const asked = time.monotonic();
      const holder = await this.#join();
      if (holder === null) break;
      if (before !== null && holder.incarnation === before.incarnation && holder.until !== before.until) throw taken(node.name);
      before = holder;
      for (const dead of renewals.note([holder], asked)) await store.end(dead);
      await term.pause.wait(policy.retryEvery);
      if (term.pause.ended) throw new Error('the start was cancelled');
    }
    this.#running = this.#run();
  }

  /** Marks the node as draining and announces this at once. */
  async drain(): Promise<void> {
    this.#input.term.draining = true;
    await this.#renew();
  }

  /** Announces the load of this node to other nodes at once. Never rejects. */
  async announce(): Promise<void> {
    const { term } = this.#input;
    if (term.isJoined && !term.pause.ended) await this.#renew();
  }

  /** Leaves the cluster. The caller closes every session first. Idempotent. Never rejects. */
  async stop(): Promise<void> {
    const { store, time, log, term } = this.#input;
    term.pause.end();
    time.clearTimeout(this.#expiry);
    await this.#running;
    if (!term.isJoined) return;
    this.#forget();
    // The next process of this name can be live as soon as the row is removed.
    term.end();
    await store.leave(this.#incarnation).catch((error: unknown) => log.warn({ error }, 'node.notLeft'));
  }

  async #run(): Promise<void> {
    const { policy, term } = this.#input;
    while (!term.pause.ended) {
      const renewed = term.isJoined ? await this.#renew() : await this.#rejoin();
      await term.pause.wait(renewed ? policy.renewEvery : policy.retryEvery);
    }
  }

  async #join(): ReturnType<LeaseStore['join']> {
    const { store, time, policy, log, node, term } = this.#input;
    const sent = time.monotonic();
    const holder = await store.join(this.state, policy.lease, this.#former);
    if (holder === null) {
      term.joined(this.#incarnation);
      this.#renewed(sent);
      log.info({ node: node.name, incarnation: this.#incarnation }, 'node.joined');
    }
    return holder;
  }

  /** Joins again with a new incarnation, so that the old leases are void. Each instance is taken again with a higher epoch. */
  async #rejoin(): Promise<boolean> {
    try {
      await this.#closing;
      return (await this.#join()) === null;
    } catch (error) {
      return this.#failed(error);
    }
  }

  async #renew(): Promise<boolean> {
    const { store, time, policy, term } = this.#input;
    const [sent, incarnation] = [time.monotonic(), this.#incarnation];
    try {
      const renewed = await store.renew(this.state, policy.lease);
      // The node may have given up the lease during the request, because the database did not answer in time.
      if (!term.isJoined || incarnation !== this.#incarnation) return false;
      if (renewed) {
        this.#renewed(sent);
        this.#input.renewed();
      } else await this.#lose('the lease had ended', true);
      return renewed;
    } catch (error) {
      return this.#failed(error);
    }
  }

  #failed(error: unknown): false {
    const { log } = this.#input;
    if (error instanceof StorageFailure) log.warn({ error }, 'node.notRenewed');
    else log.error({ error }, 'node.notRenewed');
    return false;
  }

  #renewed(sent: number): void {
    const { time, policy, term } = this.#input;
    const goodUntil = term.renewed(sent);
    time.clearTimeout(this.#expiry);
    if (term.pause.ended) return;
    const left = goodUntil - policy.closing - time.monotonic();
    this.#expiry = time.setTimeout(() => void this.#lose('the database did not answer in time', false), left);
  }

  #forget(): void {
    const { term, time } = this.#input;
    term.lost();
    time.clearTimeout(this.#expiry);
  }

  /**
   * Stops takeovers and renewals under this lease. If the database did not answer, the lease counts until its end, so that the sessions can store their data
   * while they close.
   */
  async #lose(reason: string, ended: boolean): Promise<void> {
    const { log, node, newIncarnation, term } = this.#input;
    if (!term.isJoined) return;
    log.warn({ node: node.name, incarnation: this.#incarnation, reason }, 'node.lost');
    this.#forget();
    if (ended) term.end();
    this.#former = this.#incarnation;
    // All attempts to join again use one incarnation. If the reply to an attempt was lost, the database may or may not have stored the attempt.
    this.#incarnation = newIncarnation();
    this.#closing = this.#input.ended();
    await this.#closing;
  }
}
