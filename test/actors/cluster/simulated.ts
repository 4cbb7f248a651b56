/** Many nodes on one clock and one store. The simulation kills, pauses and isolates nodes, and fails if two of them hold one session. */
import assert from 'node:assert/strict';
import { ClusterGate } from '#actors/cluster/cluster-gate.ts';
import { ClusterNode } from '#actors/cluster/cluster-node.ts';
import { Ownership } from '#actors/cluster/ownership.ts';
import { usualClusterPolicy, type ClusterPolicy } from '#actors/cluster/policy.ts';
import type { Claim, InstanceId } from '#actors/model.ts';
import { createGate, type Gate } from '#actors/policy/gate.ts';
import { SupervisedWorkers } from '#actors/policy/supervised-workers.ts';
import { FakeLeases } from '#test/fakes/leases.ts';
import { quietMeter } from '#test/fakes/meter.ts';
import { FakeTime } from '#test/fakes/time.ts';
import { quietLog } from '#test/support/database.ts';
import { randomOf } from '#test/support/random.ts';
import { SimulatedProcess } from './simulated-process.ts';

export interface SimulationOptions {
  readonly nodes: number;
  readonly instances: number;
  readonly capacity?: number;
  readonly policy?: Partial<ClusterPolicy>;
  readonly seed?: number;
  /** True if nodes ask each other over a bus. */
  readonly bus?: boolean;
}

export class Simulation {
  readonly time = new FakeTime();
  readonly leases = new FakeLeases(() => this.time.now());
  readonly nodes = new Map<string, SimulatedNode>();
  readonly instances: readonly InstanceId[];
  readonly policy: ClusterPolicy;
  readonly random: () => number;
  /** The node that is logged in at the platform, by instance. */
  readonly logins = new Map<InstanceId, SimulatedNode>();
  /** The number of logins in each second since the start. */
  readonly perSecond = new Map<number, number>();
  /** The number of sessions that were opened. */
  opened = 0;
  /** The longest time from the end of a login to the next login of the same instance. A test sets it to 0. In milliseconds. */
  longestDown = 0;
  /** Instances with waiting work, such as queued messages. */
  unsent: ReadonlySet<InstanceId> = new Set();
  /** Instances that are being paired. */
  pairing: ReadonlySet<InstanceId> = new Set();
  readonly bus: boolean;
  readonly #capacity: number;
  readonly #start: number;
  /** The ends of the last logins, by instance. */
  readonly #downSince = new Map<InstanceId, number>();

  constructor({ nodes, instances, capacity = 2 * Math.ceil(instances / nodes), policy = {}, seed = 1, bus = false }: SimulationOptions) {
    this.bus = bus;
    this.policy = { ...usualClusterPolicy, ...policy };
    this.random = randomOf(seed);
    this.#capacity = capacity;
    this.#start = this.time.now();
    this.instances = Array.from({ length: instances }, (_, at) => `r${at.toString(16).padStart(14, '0')}`);
    for (const id of this.instances) this.leases.register(id);
    for (let at = 0; at < nodes; at += 1) this.add(`node-${at}`);
  }

  add(name: string, wrongBy = 0, capacity = this.#capacity): SimulatedNode {
    const node = new SimulatedNode(this, name, capacity, wrongBy);
    this.nodes.set(name, node);
    return node;
  }

  async start(): Promise<void> {
    await Promise.all([...this.nodes.values()].map((node) => node.start()));
  }

  node(at: number): SimulatedNode {
    const node = [...this.nodes.values()][at];
    assert.ok(node);
    return node;
  }

  login(id: InstanceId, node: SimulatedNode): void {
    const other = this.logins.get(id);
    if (other && other !== node && !other.clock.stoodStill) assert.fail(`${id} is logged in at ${other.name} and at ${node.name}`);
    this.logins.set(id, node);
    this.opened += 1;
    this.longestDown = Math.max(this.longestDown, this.time.now() - (this.#downSince.get(id) ?? this.time.now()));
    this.#downSince.delete(id);
    const second = Math.floor((this.time.now() - this.#start) / 1000);
    this.perSecond.set(second, (this.perSecond.get(second) ?? 0) + 1);
  }

  logout(id: InstanceId, node: SimulatedNode): void {
    if (this.logins.get(id) !== node) return;
    this.logins.delete(id);
    this.#downSince.set(id, this.time.now());
  }

  /** Returns the number of sessions of each node. */
  get loads(): readonly number[] {
    const counts = new Map([...this.nodes.values()].map((node) => [node, 0]));
    for (const node of this.logins.values()) counts.set(node, (counts.get(node) ?? 0) + 1);
    return [...counts.values()];
  }
}

/** Durations of an ordered close of a session, usual and slow. Milliseconds. */
const closeMs = 200;
const slowMs = 2_000;
/** The longest wait for the login of a session that was handed over, and the pause between two checks, as in `actors/cluster/sessions.ts`. Milliseconds. */
const settledMs = 2_500;
const lookMs = 50;

export class SimulatedNode {
  readonly cluster: ClusterNode;
  readonly ownership: Ownership;
  readonly clock: SimulatedProcess;
  readonly name: string;
  reachable = true;
  /** A session that takes its time to close. */
  slow: InstanceId | null = null;
  readonly #simulation: Simulation;
  readonly #gate: Gate;
  /** Sessions of this process that are connected or wait for a connection. */
  readonly #sessions = new Map<InstanceId, AbortController>();

  constructor(simulation: Simulation, name: string, capacity: number, wrongBy: number) {
    this.#simulation = simulation;
    this.name = name;
    this.clock = new SimulatedProcess(simulation.time, wrongBy);
    const { policy, random } = simulation;
    const store = simulation.leases.store(() => this.reachable);
    const common = { store, time: this.clock, log: quietLog, meter: quietMeter };
    const own = createGate({ atOnce: 20, perSecond: 20 }, this.clock);
    this.#gate = new ClusterGate({ ...common, own, rate: policy.admission, random });
    const crash = { limit: 5, window: 60_000, cooldown: 900_000 };
    const reconnect = { min: 1_000, max: 60_000, stable: 60_000, cutEvery: 1_000 };
    this.ownership = new Ownership(this.clock, policy);
    this.cluster = new ClusterNode({
      ...common,
      ownership: this.ownership,
      policy,
      node: { name, capacity, version: '1.0.0' },
      newIncarnation: () => `${name}/${Math.floor(random() * 1e9)}`,
      workers: new SupervisedWorkers({ ...common, policy: { reconnect, crash }, random, fields: {} }),
      sessions: {
        prepare: async (claims) => () => this.#begin(claims),
        close: (id) => this.#close(id),
        isIdle: (id) => simulation.leases.resting.has(id),
        isPairing: (id) => simulation.pairing.has(id),
        serve: () => undefined,
        isServed: () => true,
        offer: async ({ id, to }) => this.#asked(to)?.reserveSlot(id) ?? !simulation.bus,
        handOver: async ({ id, to }, cause) => {
          const taken = await this.#asked(to)?.take(id, cause);
          if (taken === true) await this.#settled(id);
        },
        unsent: async () => simulation.unsent,
      },
    });
  }

  async start(): Promise<void> {
    await this.cluster.join();
    this.cluster.begin();
  }

  /** Kills the process. The platform notices the closed connections. */
  kill(): void {
    this.clock.stopped = true;
    for (const id of this.#sessions.keys()) this.#simulation.logout(id, this);
    this.#sessions.clear();
    this.#simulation.nodes.delete(this.name);
  }

  /** Writes a frame from every session of this process. Returns the number of frames that left. */
  write(): number {
    return [...this.#sessions.keys()].filter((id) => this.ownership.owns(id)).length;
  }

  get size(): number {
    return this.#sessions.size;
  }

  #asked(name: string): ClusterNode | null {
    return (this.#simulation.bus && this.#simulation.nodes.get(name)?.cluster) || null;
  }

  async #settled(id: InstanceId): Promise<void> {
    for (let waited = 0; waited < settledMs && !this.#simulation.logins.has(id); waited += lookMs)
      await new Promise<void>((resolve) => void this.clock.setTimeout(resolve, lookMs));
  }

  #begin(claims: readonly Claim[]): void {
    for (const { instanceId: id } of claims) {
      const session = new AbortController();
      this.#sessions.set(id, session);
      void this.#gate.admit(id, session.signal).then(
        () => this.#open(id, session),
        () => undefined,
      );
    }
  }

  #open(id: InstanceId, session: AbortController): void {
    this.#gate.passed(id);
    // No frame leaves without a valid lease, not even a login.
    if (session.signal.aborted || !this.ownership.owns(id)) return;
    this.#simulation.login(id, this);
  }

  #close(id: InstanceId): Promise<void> {
    const session = this.#sessions.get(id);
    if (session === undefined) return Promise.resolve();
    session.abort(new Error('closed'));
    this.#gate.release(id);
    return new Promise((resolve) => {
      this.clock.setTimeout(
        () => {
          if (this.#sessions.get(id) === session) this.#sessions.delete(id);
          this.#simulation.logout(id, this);
          resolve();
        },
        id === this.slow ? slowMs : closeMs,
      );
    });
  }
}
