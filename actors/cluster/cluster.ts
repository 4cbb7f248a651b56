/** The cluster, as the supervisor of one node uses it: the instances for which this node may act, and methods that take instances or give them away. */
import type { NodeFigures } from '../views/server.ts';
import { done, refuse, type InstanceId, type InstanceRecord, type Result, unknownInstance } from '../model.ts';
import type { Bus, ChangeStore, LeaseStore, LeftWorkStore, LiveNode, NodeState, SignInStore } from '../ports.ts';
import { beginningOf } from '../session/status.ts';
import type { Sleepers } from '../session/hibernation.ts';
import { ClusterCommands, type ClusterHost, type Command } from './commands.ts';
import { ClusterNode } from './cluster-node.ts';
import type { ClusterPolicy } from './policy.ts';
import { ClusterMemory, type MemoryHost } from './memory.ts';
import { fileMethod, OtherNodes, Overview, RemoteFiles } from './other-nodes.ts';
import type { Ownership } from './ownership.ts';
import { type CommandHandler, Remote, streamMethod } from './remote.ts';
import { ClusterStreams, type Asked } from './streams.ts';
import { ClusterRows, type ClusterStepsInput, shownOwner, watchSteps } from './inspector.ts';
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
  /** Returns true if this node does the work that only one node of the cluster does. */
  onDuty(): boolean;
  /** True if every node can read the files that any node has stored. */
  readonly sharesFiles: boolean;
  /** Null if the nodes have no bus. Commands on instances of other nodes are then refused. */
  readonly bus: { readonly bus: Bus; readonly prefix: string; readonly keptFor: number } | null;
}

/** The pause between two checks of a drain. In milliseconds. */
const drainLookMs = 100;
/** The longest wait until the changes of other nodes are read. In milliseconds. */
const refreshMs = 1_000;

const remoteOf = ({ bus, newIncarnation }: ClusterOptions, ownership: Ownership, { ports }: ClusterHost): Remote | null =>
  bus && new Remote({ ...bus, log: ports.log, ownership, origin: newIncarnation() });

export class Cluster {
  readonly ownership: Ownership;
  readonly overview: Overview;
  readonly files: RemoteFiles;
  /** Null without a bus. */
  readonly streams: ClusterStreams | null;
  /** Rows for the inspector. */
  readonly rows: ClusterRows;
  readonly others: OtherNodes;
  readonly #options: ClusterOptions;
  readonly #host: ClusterHost;
  /** Null without a bus. */
  readonly #remote: Remote | null;
  readonly #node: ClusterNode;
  readonly #commands: ClusterCommands;
  readonly #memory: ClusterMemory;

  constructor(options: ClusterOptions, ownership: Ownership, host: ClusterHost) {
    const { ports, workers } = host;
    this.#options = options;
    this.#host = host;
    this.ownership = ownership;
    this.overview = new Overview(options.leases, ports.time);
    this.#remote = remoteOf(options, ownership, host);
    this.files = this.#createFiles();
    this.streams = this.#createStreams();
    const sessions = this.#createSessions();
    this.#node = new ClusterNode({
      ...ports,
      ...options,
      store: options.leases,
      bus: () => options.bus?.bus.connected ?? null,
      workers,
      ownership,
      sessions,
    });
    this.#commands = this.#createCommands();
    this.rows = this.#createRows();
    this.others = this.#createOthers(sessions);
    this.#memory = new ClusterMemory({
      ...ports,
      changes: options.changes,
      workers,
      every: options.policy.memoryEvery,
      host: this.#memoryHost(),
    });
    this.handle(streamMethod, async (id, args) => this.streams?.send(id, ...args));
    this.handle(fileMethod, async (_id, args) => this.files.answer(...(args as [unknown])));
  }

  /** Adds a command that other nodes may send for the instances of this node. */
  handle(method: string, handler: CommandHandler): void {
    this.#remote?.handle(method, handler);
  }

  /** Takes an instance that no live node owns. Returns true if this node owns the instance afterwards. */
  async take(id: InstanceId): Promise<boolean> {
    return this.#node.take(id);
  }

  /** Returns the instances that no live node owns. */
  unowned(ids: readonly InstanceId[]): Promise<readonly InstanceId[]> {
    return this.#options.leases.unowned(ids);
  }

  /** Returns the name of the live node that owns the instance; null if there is none. */
  async ownerOf(id: InstanceId): Promise<string | null> {
    return (await this.#options.leases.leaseOf(id))?.node ?? null;
  }

  /**
   * Returns true if this node counts the instance in its figures. The node counts the instances that it owns, and those that need no owner and belong to this
   * node. Each instance is thus counted on one node at most.
   */
  counts(record: InstanceRecord): boolean {
    const wanted = beginningOf(record);
    const needsOwner = wanted === 'online' || wanted === 'unlinked';
    return this.ownership.owned.has(record.id) || (!needsOwner && this.#node.nodeFor(record.id) === this.#options.node.name);
  }

  /** Figures of this node, from memory. */
  get figures(): NodeFigures {
    const { name, capacity } = this.#options.node;
    return {
      name,
      capacity,
      owned: this.ownership.owned.size,
      astray: this.#node.astray,
      busConnected: this.#options.bus?.bus.connected ?? null,
      draining: this.draining,
      leaseLeftMs: this.ownership.lease.leftMs,
      nodes: { live: this.nodes.filter((node) => !node.draining).length, draining: this.nodes.filter((node) => node.draining).length },
    };
  }

  get onDuty(): boolean {
    return this.#options.onDuty();
  }

  /** The time for which a node is live after a renewal. In milliseconds. */
  get lease(): number {
    return this.#options.policy.lease;
  }

  get sharesFiles(): boolean {
    return this.#options.sharesFiles;
  }

  /** Starts to follow the changes of other nodes. The caller calls this method before it loads the data that a node caches. */
  async remember(): Promise<void> {
    await this.#memory.begin();
  }

  /** Waits until the changes that other nodes made before this call are known. Waits for a second at most, also without an answer of the database. */
  async refreshed(): Promise<void> {
    await within(this.#host.ports.time, refreshMs, this.#memory.refreshed());
  }

  /** Joins the cluster. Rejects with a sentence for the operator if a live node has the same name. */
  async join(): Promise<void> {
    await this.#node.join();
    this.#remote?.serveNode(this.#options.node.name, (question) => this.others.answer(question));
  }

  /** Starts to take instances. */
  begin(): void {
    this.#node.begin();
  }

  /** Runs a command (see `ClusterCommands`). */
  command<T>(command: Command<Result<T>>): Promise<Result<T>> {
    return this.#commands.command(command);
  }

  /** Answers a question (see `ClusterCommands`). */
  question<T>(question: Command<T>): Promise<T> {
    return this.#commands.question(question);
  }

  /** Watches the steps of an instance for the inspector, on any node. Returns the function that ends the watch. */
  watchSteps(id: InstanceId, watcher: Parameters<ClusterHost['watchHere']>[1]): () => void {
    const { ports, watchHere } = this.#host;
    // Asks the owner. This node gives no answer of its own, because only the answer of the owner counts.
    const actor: ClusterStepsInput['actor'] = () =>
      this.question({ id, method: 'actor', args: async () => done([id]), here: async () => unknownInstance });
    return watchSteps({ ...ports, owns: (one) => this.ownership.owns(one), actor, watchHere }, id, watcher);
  }

  /** Returns the owner and the lease of an instance for the inspector. */
  shownOwner(id: InstanceId): ReturnType<typeof shownOwner> {
    return shownOwner(this.overview, this.ownership, id);
  }

  #serve(id: InstanceId, here: boolean): void {
    // The events of the instance are sent even if the bus refuses the subscription for its commands.
    if (here) this.streams?.owned(id);
    this.#remote?.serve(id, here);
  }

  #createFiles(): RemoteFiles {
    return new RemoteFiles({
      files: this.#host.ports.files,
      owns: (id) => this.ownership.owns(id),
      ask: async (id, args) => this.#remote?.fetch(id, fileMethod, args) ?? null,
    });
  }

  #createStreams(): ClusterStreams | null {
    const { bus } = this.#options;
    const { ports, registry } = this.#host;
    if (bus === null) return null;
    return new ClusterStreams({
      ...bus,
      time: ports.time,
      log: ports.log,
      mayAct: (id) => this.ownership.mayAct(id),
      epochOf: (id) => this.ownership.lastEpochOf(id),
      token: (id) => registry.record(id)?.token ?? null,
      ask: async (id, ...missed) => ((await this.#remote?.stream(id, missed)) ?? null) as Asked | null,
    });
  }

  #createSessions(): ClusterSessions {
    return new ClusterSessions({
      ...this.#host,
      leftWork: this.#options.leftWork,
      uses: this.ownership.uses,
      serve: (id, here) => this.#serve(id, here),
      isServed: (id) => this.#remote?.serves(id) ?? true,
      left: async (id) => this.streams?.left(id),
      // Offers the instance to another node. Returns true without a bus, because the other node cannot be asked then. While the bus is unavailable, a drain
      // continues, and a move for balance waits.
      offer: async ({ id, to }) => (await this.#remote?.offer(to, id, this.draining)) ?? true,
      // Makes the next owner take the instance at once, before its next check of the cluster.
      handOver: async ({ id, to }, cause) => void (await this.#remote?.ask(to, { ask: 'take', id, cause, settled: true })),
    });
  }

  #createCommands(): ClusterCommands {
    const { node, policy, leases } = this.#options;
    return new ClusterCommands({
      me: node.name,
      time: this.#host.ports.time,
      policy,
      leases,
      remote: this.#remote,
      ownership: this.ownership,
      nodeFor: (id) => this.#node.nodeFor(id),
      isFull: () => this.#node.isClusterFull,
      take: (id) => this.#node.take(id),
    });
  }

  #createRows(): ClusterRows {
    return new ClusterRows({
      me: this.#options.node.name,
      time: this.#host.ports.time,
      owns: (id) => this.ownership.owns(id),
      row: this.#host.row,
      nodes: () => this.nodes,
      ask: async (node, question) => this.#remote?.ask(node, question),
      owned: () => this.ownership.owned.keys(),
    });
  }

  #createOthers(sessions: ClusterSessions): OtherNodes {
    const { registry, dispatcher, since } = this.#host;
    return new OtherNodes({
      me: this.#options.node.name,
      nodes: () => this.nodes,
      ask: async (node, question) => this.#remote?.ask(node, question),
      owns: (id) => this.ownership.owns(id),
      owned: () => this.ownership.owned.keys(),
      view: (id) => registry.view(id),
      rows: (after) => this.rows.piece(after),
      globalErrors: () => ({ since, errors: dispatcher.globalHistory.errors }),
      dropped: (webhookId) => dispatcher.sweeper.dropped(webhookId),
      nudge: (id, webhookId) => registry.cell(id)?.nudge(webhookId),
      take: (id, cause) => this.#node.take(id, cause),
      reserveSlot: (id) => this.#node.reserveSlot(id),
      settled: (id) => sessions.settled(id),
      drain: () => this.#node.drain(),
    });
  }

  #memoryHost(): MemoryHost {
    const { registry, dispatcher, forget, refreshAdmin, refreshSignIns } = this.#host;
    return {
      owns: (id) => this.ownership.mayAct(id),
      instanceIds: () => registry.ids,
      webhookIds: () => dispatcher.webhooks.ids,
      setInstance: (record) => registry.register(record),
      forgetInstance: forget,
      setWebhook: (webhook) => dispatcher.set(webhook),
      forgetWebhook: (id) => dispatcher.remove(id),
      refreshAdmin,
      refreshSignIns,
    };
  }

  /** Takes a hibernated instance that is due to wake, and wakes it if it is still due afterwards. Never rejects. */
  #fetch(id: InstanceId, before: number): void {
    const { registry, wake, ports } = this.#host;
    const fetched = async (): Promise<void> => {
      if (!(await this.#node.take(id))) return;
      const cell = registry.cell(id);
      if (cell?.view.status === 'hibernated' && cell.record.lastActiveAt <= before) wake(cell);
    };
    fetched().catch((error: unknown) => ports.log.warn({ instance: id, error }, 'node.notFetched'));
  }

  /** The hibernated instances that this node wakes. */
  get sleepers(): Sleepers {
    const { registry } = this.#host;
    return {
      cells: registry.cells,
      resting: (before) => registry.resting(before).filter((id) => this.#node.nodeFor(id) === this.#options.node.name),
      cell: (id, before) => {
        if (this.ownership.owns(id)) return registry.cell(id);
        this.#fetch(id, before);
        return null;
      },
    };
  }

  get draining(): boolean {
    return this.ownership.lease.draining;
  }

  /** The live nodes at the last check of the cluster. */
  get nodes(): readonly LiveNode[] {
    return this.#node.nodes;
  }

  /** Makes a node give its sessions away. The node takes no sessions until its next start. */
  async drainNode(name: string): Promise<Result<null>> {
    // The query is fresh, because the node may have joined or left since the last check.
    const known = await this.#options.leases.known();
    if (!known.some((node) => node.name === name && !node.ended)) return refuse('notFound', 'there is no live node of this name');
    const isOwn = name === this.#options.node.name;
    const drained = isOwn ? await this.others.answer({ ask: 'drain' }) : await this.#remote?.ask(name, { ask: 'drain' });
    return drained === true ? done(null) : refuse('unavailable', 'the node does not answer', { retryAfter: 2 });
  }

  /** Moves the sessions to other nodes. Resolves when all sessions have left, when no node takes them, or after `ms` milliseconds. */
  async drain(ms: number): Promise<void> {
    const node = this.#node;
    const { time, log } = this.#host.ports;
    await node.drain().catch((error: unknown) => log.warn({ error }, 'node.notDrained'));
    const until = time.monotonic() + ms;
    while (node.canGiveAway && time.monotonic() < until) await new Promise<void>((resolve) => void time.setTimeout(resolve, drainLookMs));
  }

  /** Closes every session, then leaves the cluster. Never rejects. */
  async stop(): Promise<void> {
    this.#memory.stop();
    this.#remote?.stop();
    await this.#node.stop();
    // The streams stop last, so that the final events of the sessions are sent.
    this.streams?.stop();
  }
}
