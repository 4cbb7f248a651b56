/**
 * The lease of this node, under which it owns its instances: joined, renewed, and known to have ended before the database lets another node in.
 *
 * The end is counted on the monotonic clock from the moment in which the renewal was sent, so that neither a slow answer nor the clocks of two
 * machines make it later than the database's. The process may have stood still meanwhile: `good` compares at each call and waits for no timer.
 */
import { StorageFailure, type LeaseStore, type Log, type NameHolder, type NodeState, type Time } from '../ports.ts';
import { Pause } from '../waiting.ts';
import { Renewals } from './node-watch.ts';
import type { ClusterPolicy } from './policy.ts';

export interface NodeLeaseInput {
  readonly store: Pick<LeaseStore, 'join' | 'renew' | 'end' | 'leave'>;
  readonly time: Time;
  readonly log: Log;
  readonly policy: ClusterPolicy;
  readonly node: Pick<NodeState, 'name' | 'capacity' | 'version'>;
  /** A new UUID. */
  newIncarnation(): string;
  /** Instances that this node owns. */
  load(): number;
  /** Differences between the leases in the database and those that this node holds. */
  astray(): number;
  /** Called after each renewal. Never throws. */
  renewed(): void;
  /** The lease ends soon, or has ended: closes all sessions. Nothing is joined again before this has resolved. Never rejects. */
  ended(): Promise<void>;
}

const taken = (name: string): Error =>
  new Error(`Another node named ${name} is running: give each node a NODE_NAME of its own, or stop the other one.`);

export class NodeLease {
  readonly #input: NodeLeaseInput;
  readonly #pause: Pause;
  #incarnation: string;
  #joined = false;
  /** Monotonic. */
  #goodUntil = -Infinity;
  /** By the system's clock, which runs while the machine sleeps; the monotonic one may not. */
  #sentAt = 0;
  /** The renewal of which the system's clock says that it is too old. */
  #doubted = NaN;
  #expiry: unknown = null;
  #running: Promise<void> = Promise.resolve();
  /** The sessions of the incarnation that was lost. */
  #closing: Promise<void> = Promise.resolve();
  /** The incarnation that was lost. */
  #former: string | null = null;
  draining = false;

  constructor(input: NodeLeaseInput) {
    this.#input = input;
    this.#pause = new Pause(input.time);
    this.#incarnation = input.newIncarnation();
  }

  /** Whether this node may act for what it owns, at this moment. */
  get good(): boolean {
    const { time, policy } = this.#input;
    if (time.monotonic() >= this.#goodUntil) return false;
    if (time.now() - this.#sentAt < policy.lease) return true;
    // The machine slept, or its clock was set: the database says which, at once.
    if (this.#doubted !== this.#sentAt) this.#pause.cut();
    this.#doubted = this.#sentAt;
    return false;
  }

  /** Milliseconds that the lease still counts for this node; 0 when it does not. */
  get leftMs(): number {
    return this.good ? this.#goodUntil - this.#input.time.monotonic() : 0;
  }

  /** Under which leases are taken; null while the node is not live. */
  get incarnation(): string | null {
    return this.#joined && this.good ? this.#incarnation : null;
  }

  get state(): NodeState {
    const { node, load, astray } = this.#input;
    return { ...node, incarnation: this.#incarnation, load: load(), astray: astray(), draining: this.draining };
  }

  /**
   * Joins, and renews from then on. Rejects with a sentence for the operator when a live node has the name. One that was killed is waited for: its
   * lease ends by the clock of the database, or is not renewed for its whole length by the clock of this node.
   */
  async start(): Promise<void> {
    const { store, time, policy, node } = this.#input;
    const renewals = new Renewals(time, policy.lease);
    for (let before: NameHolder | null = null; ;) {
      const asked = time.monotonic();
      const holder = await this.#join();
      if (holder === null) break;
      if (before !== null && holder.incarnation === before.incarnation && holder.until !== before.until) throw taken(node.name);
      before = holder;
      for (const dead of renewals.note([holder], asked)) await store.end(dead);
      await this.#pause.wait(policy.retryEvery);
      if (this.#pause.ended) throw new Error('the start was given up');
    }
    this.#running = this.#run();
  }

  /** A draining node is announced at once. */
  async drain(): Promise<void> {
    this.draining = true;
    await this.#renew();
  }

  /** The others know at once what this node has. Never rejects. */
  async announce(): Promise<void> {
    if (this.#joined && !this.#pause.ended) await this.#renew();
  }

  /** The node is no longer live; call it when every session is closed. Idempotent. Never rejects. */
  async stop(): Promise<void> {
    const { store, time, log } = this.#input;
    this.#pause.end();
    time.clearTimeout(this.#expiry);
    await this.#running;
    if (!this.#joined) return;
    this.#forget();
    await store.leave(this.#incarnation).catch((error: unknown) => log.warn({ error }, 'node.notLeft'));
  }

  async #run(): Promise<void> {
    const { policy } = this.#input;
    while (!this.#pause.ended) {
      const renewed = this.#joined ? await this.#renew() : await this.#rejoin();
      await this.#pause.wait(renewed ? policy.renewEvery : policy.retryEvery);
    }
  }

  async #join(): ReturnType<LeaseStore['join']> {
    const { store, time, policy, log, node } = this.#input;
    const sent = time.monotonic();
    const holder = await store.join(this.state, policy.lease, this.#former);
    if (holder === null) {
      this.#joined = true;
      this.#renewed(sent);
      log.info({ node: node.name, incarnation: this.#incarnation }, 'node.joined');
    }
    return holder;
  }

  /** The incarnation whose lease was lost is replaced, so that its leases are void; they are taken anew, each with a higher epoch. */
  async #rejoin(): Promise<boolean> {
    try {
      await this.#closing;
      return (await this.#join()) === null;
    } catch (error) {
      return this.#failed(error);
    }
  }

  async #renew(): Promise<boolean> {
    const { store, time, policy } = this.#input;
    const [sent, incarnation] = [time.monotonic(), this.#incarnation];
    try {
      const renewed = await store.renew(this.state, policy.lease);
      // Meanwhile the lease may have been given up, as one that nobody answers for.
      if (!this.#joined || incarnation !== this.#incarnation) return false;
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
    const { time, policy } = this.#input;
    this.#goodUntil = sent + policy.lease - policy.margin;
    this.#sentAt = time.now() - (time.monotonic() - sent);
    time.clearTimeout(this.#expiry);
    if (this.#pause.ended) return;
    const left = this.#goodUntil - policy.closing - time.monotonic();
    this.#expiry = time.setTimeout(() => void this.#lose('the database did not answer in time', false), left);
  }

  #forget(): void {
    this.#joined = false;
    this.#input.time.clearTimeout(this.#expiry);
  }

  /** Nothing is taken or renewed under this lease any more. One that was not answered for counts until its end, so that sessions close in order. */
  async #lose(reason: string, ended: boolean): Promise<void> {
    if (!this.#joined) return;
    const { log, node, newIncarnation } = this.#input;
    log.warn({ node: node.name, incarnation: this.#incarnation, reason }, 'node.lost');
    this.#forget();
    if (ended) this.#goodUntil = -Infinity;
    this.#former = this.#incarnation;
    // One for all tries to join again: of a try whose answer was lost nobody knows whether the database took it.
    this.#incarnation = newIncarnation();
    this.#closing = this.#input.ended();
    await this.#closing;
  }
}
