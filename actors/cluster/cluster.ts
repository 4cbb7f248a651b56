/** The view of the cluster for the supervisor of one node: the instances that it may act for, and the ways to own more. */
import type { NodeFigures } from '../views/server.ts';
import { done, refuse, type InstanceId, type InstanceRecord, type Result } from '../model.ts';
import type { Gate } from '../policy/gate.ts';
import type { Bus, ChangeStore, LeaseStore, LeftWorkStore, LiveNode, NodeState, Ports, SignInStore } from '../ports.ts';
import type { Cell } from '../session/cell.ts';
import { beginningOf } from '../session/status.ts';
import type { Sleepers } from '../session/hibernation.ts';
import type { Registry } from '../supervisor/registry.ts';
import { type ClusterHost, type Command, type Performer, Uses } from './host.ts';
import { ClusterCommands } from './commands.ts';
import { ClusterGate } from './cluster-gate.ts';
import { ClusterNode } from './cluster-node.ts';
import type { ClusterPolicy } from './policy.ts';
import { ClusterMemory, type MemoryHost } from './memory.ts';
import { OtherNodes, Overview } from './other-nodes.ts';
import { Remote, streamMethod } from './remote.ts';
import { fileMethod, RemoteFiles } from './remote-files.ts';
import { ClusterStreams, type Asked } from './streams.ts';
import { ClusterRows, type ClusterRowsInput, ClusterSteps, type ClusterStepsInput } from './inspector.ts';
import { SharedSignIns } from './sign-ins.ts';
import { ClusterSessions } from './sessions.ts';
import { within } from '../waiting.ts';

/** Options that make a gateway a node of a cluster. */
export interface ClusterOptions {
  readonly node: Pick<NodeState, 'name' | 'capacity' | 'version'>;
  readonly policy: ClusterPolicy;
  readonly leases: LeaseStore;
  readonly leftWork: LeftWorkStore;
  readonly changes: ChangeStore;
  readonly signIns: SignInStore;
  /** Returns a new UUID. */
  newIncarnation(): string;
  /** Returns true if this node does the work that one node does for the cluster. */
  onDuty(): boolean;
  /** True if every node can read the files that any node has stored. */
  readonly sharesFiles: boolean;
  /** Null if the nodes have no bus. Commands on instances of other nodes are then refused. */
  readonly bus: { readonly bus: Bus; readonly prefix: string; readonly keptFor: number } | null;
}

/** Pause between two checks of a drain. In milliseconds. */
const drainLookMs = 100;
/** Longest wait for a look at the changes of other nodes. In milliseconds. */
const refreshMs = 1_000;

export class Cluster {
  readonly uses: Uses;
  readonly signIns: SharedSignIns;
  readonly overview: Overview;
  /** Reads the admin token again. */
  refreshAdmin: () => Promise<void> = async () => undefined;
  /** Called when this node owns more instances than before. */
  onTaken: () => void = () => undefined;
  readonly #options: ClusterOptions;
  readonly #ports: Ports;
  /** The node, set when the supervisor is put together. The cluster owns nothing before. */
  #node: ClusterNode | null = null;
  readonly files: RemoteFiles;
  readonly #remote: Remote | null;
  readonly #commands: ClusterCommands;
  #memory: ClusterMemory | null = null;
  /** Null without a bus. */
  streams: ClusterStreams | null = null;
  /** Rows for the inspector; null before `show`. */
  rows: ClusterRows | null = null;
  steps: ClusterSteps | null = null;
  /** Null before `attach`. */
  others: OtherNodes | null = null;
  #performer: Performer | null = null;

  constructor(options: ClusterOptions, ports: Ports) {
    this.#options = options;
    this.#ports = ports;
    this.uses = new Uses(ports.time);
    this.signIns = new SharedSignIns(options.signIns);
    this.overview = new Overview(options.leases, ports.time);
    this.#remote = this.#makeRemote();
    this.files = new RemoteFiles({
      files: ports.files,
      owns: (id) => this.owns(id),
      ask: async (id, args) => this.#remote?.fetch(id, fileMethod, args) ?? null,
    });
    this.#commands = this.#makeCommands();
  }

  set performer(performer: Performer) {
    this.#performer = performer;
  }

  /** Connects the cluster with the gateway of this node. The caller calls this method once. */
  attach(host: ClusterHost): void {
    const { node, policy, leases: store, newIncarnation } = this.#options;
    const { time, log, meter } = this.#ports;
    const sessions = new ClusterSessions({
      ...host,
      leftWork: this.#options.leftWork,
      uses: this.uses,
      begun: () => this.onTaken(),
      serve: (id, here) => this.#serve(id, here),
      isServed: (id) => this.#remote?.serves(id) ?? true,
      left: async (id) => this.streams?.left(id),
      // The answer while the bus is unavailable. A drain continues, but sessions that only move for balance can wait.
      offer: async ({ id, to }) => (await this.#remote?.offer(to, id, this.draining)) ?? true,
      // The next owner takes the instance at once, without waiting for its next look.
      handOver: async ({ id, to }, cause) => void (await this.#remote?.ask(to, { ask: 'take', id, cause, settled: true })),
    });
    this.streams = this.#makeStreams(host.registry);
    this.others = this.#makeOthers(host, sessions);
    this.#memory = new ClusterMemory({
      ...this.#ports,
      changes: this.#options.changes,
      workers: host.workers,
      every: policy.memoryEvery,
      host: this.#memoryHost(host),
    });
    const bus = (): boolean | null => this.#options.bus?.bus.connected ?? null;
    this.#node = new ClusterNode({ store, time, log, meter, policy, node, newIncarnation, bus, workers: host.workers, sessions });
  }

  /** Sets up the inspector of this node and, through the bus, of other nodes. The caller calls this method once. */
  show({ row, actor, watchHere }: Pick<ClusterRowsInput, 'row'> & Pick<ClusterStepsInput, 'actor' | 'watchHere'>): void {
    const { time, log } = this.#ports;
    const owns = (id: InstanceId): boolean => this.owns(id);
    this.rows = new ClusterRows({
      me: this.#options.node.name,
      time,
      owns,
      row,
      nodes: () => this.nodes,
      ask: async (node, question) => this.#remote?.ask(node, question),
      owned: () => this.#node?.owned.keys() ?? [],
    });
    this.steps = new ClusterSteps({ time, log, owns, actor, watchHere });
  }

  /** Returns the gate of the node behind the gate of the cluster. */
  gate(own: Gate): Gate {
    const { leases: store, policy } = this.#options;
    const { time, log, chance } = this.#ports;
    return new ClusterGate({ own, store, rate: policy.admission, time, log, random: () => chance.random() });
  }

  /** Returns the same as `mayAct` of `ClusterNode`. */
  mayAct(id: InstanceId): boolean {
    return this.#node?.mayAct(id) ?? false;
  }

  /** Takes an instance that no live node owns. Returns true if this node owns it afterwards. */
  async take(id: InstanceId): Promise<boolean> {
    return (await this.#node?.take(id)) ?? false;
  }

  /** Returns the name of the live node that owns the instance; null if there is none. */
  async ownerOf(id: InstanceId): Promise<string | null> {
    return (await this.#options.leases.leaseOf(id))?.node ?? null;
  }

  /** Returns the same as `owns` of `ClusterNode`. */
  owns(id: InstanceId): boolean {
    return this.#node?.owns(id) ?? false;
  }

  /**
   * Returns true if this node counts the instance in its figures. The node counts the instances that it owns, and those that need no owner and belong
   * to this node. Each instance is thus counted on one node.
   */
  counts(record: InstanceRecord): boolean {
    const wanted = beginningOf(record);
    const needsOwner = wanted === 'online' || wanted === 'unlinked';
    return this.#node?.owned.has(record.id) || (!needsOwner && this.#node?.nodeFor(record.id) === this.#options.node.name);
  }

  /** Figures of this node, from memory. */
  get figures(): NodeFigures {
    const { name, capacity } = this.#options.node;
    return {
      name,
      capacity,
      owned: this.#node?.owned.size ?? 0,
      astray: this.#node?.astray ?? 0,
      busConnected: this.#options.bus?.bus.connected ?? null,
      draining: this.draining,
      leaseLeftMs: this.#node?.lease.leftMs ?? 0,
      nodes: { live: this.nodes.filter((node) => !node.draining).length, draining: this.nodes.filter((node) => node.draining).length },
    };
  }

  get onDuty(): boolean {
    return this.#options.onDuty();
  }

  /** Time for which a node is live after a renewal. In milliseconds. */
  get lease(): number {
    return this.#options.policy.lease;
  }

  get sharesFiles(): boolean {
    return this.#options.sharesFiles;
  }

  /** Starts to follow the changes of other nodes. The caller calls this method before it loads the data that a node caches. */
  async remember(): Promise<void> {
    await this.#memory?.begin();
  }

  /** Waits until the changes that other nodes made before this call are known. Waits for a second at most, also without an answer of the database. */
  async refreshed(): Promise<void> {
    const { time } = this.#ports;
    await within(time, refreshMs, this.#memory?.refreshed() ?? Promise.resolve());
  }

  /** Joins the cluster. Rejects with a sentence for the operator if a live node has the same name. */
  async join(): Promise<void> {
    await this.#node?.join();
    this.#remote?.serveNode(this.#options.node.name);
  }

  /** Starts to take instances. */
  begin(): void {
    this.#node?.begin();
  }

  /** Runs a command (see `ClusterCommands`). */
  command<T>(command: Command<Result<T>>): Promise<Result<T>> {
    return this.#commands.command(command);
  }

  /** Answers a question (see `ClusterCommands`). */
  question<T>(question: Command<T>): Promise<T> {
    return this.#commands.question(question);
  }

  #serve(id: InstanceId, here: boolean): void {
    // The events of the instance are sent even if the bus refuses the subscription for its commands.
    if (here) this.streams?.owned(id);
    this.#remote?.serve(id, here);
  }

  #makeCommands(): ClusterCommands {
    const { node, policy, leases } = this.#options;
    return new ClusterCommands({
      me: node.name,
      time: this.#ports.time,
      policy,
      leases,
      uses: this.uses,
      remote: this.#remote,
      owns: (id) => this.owns(id),
      nodeFor: (id) => this.#node?.nodeFor(id) ?? null,
      isFull: () => this.#node?.isClusterFull ?? false,
      take: async (id) => (await this.#node?.take(id)) ?? false,
    });
  }

  #makeStreams(registry: Registry): ClusterStreams | null {
    const { bus } = this.#options;
    if (bus === null) return null;
    const { time, log } = this.#ports;
    return new ClusterStreams({
      ...bus,
      time,
      log,
      mayAct: (id) => this.mayAct(id),
      epochOf: (id) => this.#node?.lastEpochOf(id) ?? null,
      token: (id) => registry.record(id)?.token ?? null,
      ask: async (id, ...missed) => ((await this.#remote?.stream(id, missed)) ?? null) as Asked | null,
    });
  }

  #makeOthers({ registry, dispatcher, since }: ClusterHost, sessions: ClusterSessions): OtherNodes {
    return new OtherNodes({
      me: this.#options.node.name,
      nodes: () => this.nodes,
      ask: async (node, question) => this.#remote?.ask(node, question),
      owns: (id) => this.owns(id),
      owned: () => this.#node?.owned.keys() ?? [],
      view: (id) => registry.view(id),
      rows: (after) => this.rows?.piece(after) ?? null,
      globalErrors: () => ({ since, errors: dispatcher.globalHistory.errors }),
      dropped: (webhookId) => dispatcher.sweeper.dropped(webhookId),
      nudge: (id, webhookId) => registry.cell(id)?.nudge(webhookId),
      take: async (id, cause) => (await this.#node?.take(id, cause)) ?? false,
      reserveSlot: (id) => this.#node?.reserveSlot(id) ?? false,
      settled: (id) => sessions.settled(id),
      drain: async () => this.#node?.drain(),
    });
  }

  #memoryHost({ registry, dispatcher, forget }: ClusterHost): MemoryHost {
    return {
      owns: (id) => this.mayAct(id),
      instanceIds: () => registry.ids,
      webhookIds: () => dispatcher.webhooks.ids,
      setInstance: (record) => registry.register(record),
      forgetInstance: forget,
      setWebhook: (webhook) => dispatcher.set(webhook),
      forgetWebhook: (id) => dispatcher.remove(id),
      refreshAdmin: () => this.refreshAdmin(),
    };
  }

  #makeRemote(): Remote | null {
    const { bus } = this.#options;
    if (bus === null) return null;
    return new Remote({
      ...bus,
      log: this.#ports.log,
      origin: this.#options.newIncarnation(),
      epochOf: (id) => ({ epoch: this.#node?.lastEpochOf(id) ?? null, isGood: this.mayAct(id) }),
      knows: (method) => method === streamMethod || method === fileMethod || (this.#performer?.knows(method) ?? false),
      answer: async (question) => this.others?.answer(question),
      perform: (id, method, args) => {
        const here = async (): Promise<unknown> => {
          if (method === streamMethod) return this.streams?.send(id, ...args);
          return method === fileMethod ? this.files.answer(...(args as [unknown])) : this.#performer?.run(method, args);
        };
        return this.#commands.hereIfOwned({ id, here });
      },
    });
  }

  /** Takes a hibernated instance that is due to wake, and wakes it if it is still due afterwards. Never rejects. */
  #fetch(id: InstanceId, registry: Registry, before: number, wake: (cell: Cell) => void): void {
    const fetched = async (): Promise<void> => {
      if (!(await this.#node?.take(id))) return;
      const cell = registry.cell(id);
      if (cell?.view.status === 'hibernated' && cell.record.lastActiveAt <= before) wake(cell);
    };
    fetched().catch((error: unknown) => this.#ports.log.warn({ instance: id, error }, 'node.notFetched'));
  }

  /** Returns the hibernated instances that this node wakes. */
  sleepers(registry: Registry, wake: (cell: Cell) => void): Sleepers {
    let lastBefore = 0;
    return {
      cells: registry.cells,
      resting: (before) => {
        lastBefore = before;
        return registry.resting(before).filter((id) => this.#node?.nodeFor(id) === this.#options.node.name);
      },
      cell: (id) => {
        if (this.owns(id)) return registry.cell(id);
        this.#fetch(id, registry, lastBefore, wake);
        return null;
      },
    };
  }

  get draining(): boolean {
    return this.#node?.lease.draining ?? false;
  }

  /** Live nodes at the last look. */
  get nodes(): readonly LiveNode[] {
    return this.#node?.nodes ?? [];
  }

  /** Makes a node give its sessions away. The node takes none until its next start. */
  async drainNode(name: string): Promise<Result<null>> {
    // The query is fresh, because the node may have joined or left since the last look.
    const known = await this.#options.leases.known();
    if (!known.some((node) => node.name === name && !node.ended)) return refuse('notFound', 'there is no live node of this name');
    const isOwn = name === this.#options.node.name;
    const drained = isOwn ? await this.others?.answer({ ask: 'drain' }) : await this.#remote?.ask(name, { ask: 'drain' });
    return drained === true ? done(null) : refuse('unavailable', 'the node does not answer', { retryAfter: 2 });
  }

  /** Moves the sessions to other nodes. Resolves when all sessions have left, when no node takes them, or after `ms` milliseconds. */
  async drain(ms: number): Promise<void> {
    const node = this.#node;
    if (!node) return;
    const { time, log } = this.#ports;
    await node.drain().catch((error: unknown) => log.warn({ error }, 'node.notDrained'));
    const until = time.monotonic() + ms;
    while (node.canGiveAway && time.monotonic() < until) await new Promise<void>((resolve) => void time.setTimeout(resolve, drainLookMs));
  }

  /** Closes every session, then leaves the cluster. Never rejects. */
  async stop(): Promise<void> {
    this.#memory?.stop();
    this.#remote?.stop();
    await this.#node?.stop();
    // The streams stop last, so that the final events of the sessions are sent.
    this.streams?.stop();
  }
}
