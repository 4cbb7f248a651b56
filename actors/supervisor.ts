/**
 * The supervisor, one per process. The supervisor creates and stops the registry, the gate, the deliveries, the restore and other parts. The commands
 * of the gateway (`commands/`) use these parts.
 */
import { Connector } from './chatwoot/connector.ts';
import { Dispatcher } from './supervisor/dispatcher.ts';
import { batchedOutbox, trackedConnector, trackedOutbox, trackedReceiver } from './delivery/tracked-ports.ts';
import type { Figures, Numbers } from './views.ts';
import { figuresOf } from './inspection/figures.ts';
import { Inspection } from './inspection/inspection.ts';
import { StepLog } from './inspection/step-log.ts';
import { Watchers } from './inspection/watchers.ts';
import { Cluster, type ClusterOptions } from './cluster/cluster.ts';
import { nodeGate } from './cluster/cluster-gate.ts';
import type { ClusterHost, OperatorAccess } from './cluster/commands.ts';
import { Ownership } from './cluster/ownership.ts';
import { done, type InstanceId, type InstanceRecord, type Message, type Result } from './model.ts';
import type { Gate } from './policy/gate.ts';
import { usualStopGrace, type Policy } from './policy/policy.ts';
import { anotherProxy } from './policy/proxy-choice.ts';
import type { KeptFile, Ports } from './ports.ts';
import { Cell } from './session/cell.ts';
import { Hibernation, hibernationSweeps } from './session/hibernation.ts';
import { type PeriodicWorker, supervisedWorkers, type SupervisedWorkers } from './policy/supervised-workers.ts';
import { beginAnew, type AccountChangeHost } from './supervisor/account-change.ts';
import { Campaigns } from './supervisor/campaigns.ts';
import { Capacity, OutboxSearch, Restore, Waking } from './supervisor/waking.ts';
import { Cells } from './supervisor/cells.ts';
import { Chores } from './supervisor/chores.ts';
import { ClockWatch } from './supervisor/clock-watch.ts';
import { Downloads } from './supervisor/files.ts';
import { CommonFaults } from './supervisor/common-faults.ts';
import { numbersOf } from './commands/numbers.ts';
import { Register } from './commands/register.ts';
import { type InstanceReader, Registry } from './supervisor/registry.ts';
import { UnderWay, within } from './waiting.ts';

interface SupervisorInput {
  readonly ports: Ports;
  readonly policy: Policy;
  readonly baseUrl: string;
  /** The options of a cluster. If absent, this process owns every instance. */
  readonly cluster?: (ClusterOptions & { readonly access: OperatorAccess }) | undefined;
}

export class Supervisor {
  readonly ports: Ports;
  readonly policy: Policy;
  readonly registry: Registry;
  readonly #capacity: Capacity;
  readonly cells: Cells;
  readonly campaigns: Campaigns;
  readonly dispatcher: Dispatcher;
  readonly connector: Connector;
  readonly inspection: Inspection;
  readonly watchers: Watchers;
  readonly #readers: InstanceReader[] = [];
  /** The start of this process. Figures and error histories begin at this time. In Unix milliseconds. */
  readonly since: number;
  accepting = false;
  readonly #gate: Gate;
  /** The background workers of the whole process. */
  readonly workers: SupervisedWorkers;
  /** Counts the posts to receivers that are in flight, and the removals of their rows from the outbox. */
  readonly deliveries: UnderWay;
  readonly #hibernation: Hibernation;
  readonly #sweeps: PeriodicWorker;
  readonly #restore: Restore;
  readonly outboxSearch: OutboxSearch;
  readonly #faults: CommonFaults;
  readonly downloads: Downloads;
  readonly chores: Chores;
  readonly clock: ClockWatch;
  readonly #stepLog: StepLog;
  /** Null without a cluster. This process then owns every instance. */
  readonly #ownership: Ownership | null;
  readonly cluster: Cluster | null;
  readonly register: Register;

  constructor({ ports, policy, baseUrl, cluster }: SupervisorInput) {
    const { time } = ports;
    this.ports = ports;
    this.policy = policy;
    this.since = time.now();
    const ownership = cluster ? new Ownership(time, cluster.policy) : null;
    this.#ownership = ownership;
    this.workers = supervisedWorkers(ports, policy, {});
    this.#stepLog = new StepLog({ ...ports, store: ports.stepLog, workers: this.workers });
    this.clock = new ClockWatch(ports);
    this.chores = new Chores({ ports, policy, clock: this.clock, workers: this.workers, cluster: cluster ?? null });
    this.#gate = nodeGate(ports, policy, cluster);
    const registry = new Registry(
      (record) => this.#createCell(record),
      (id) => ownership?.owns(id) ?? true,
    );
    this.registry = registry;
    this.downloads = this.#createDownloads();
    this.#faults = new CommonFaults({ gate: this.#gate, registry, rule: policy.outage, time });
    const open = (): boolean => this.accepting;
    // In a cluster, each takeover handles the unfinished work of the former owner. With `since` 0, the restore finds no such work.
    this.#restore = new Restore({ ports, registry, since: cluster ? 0 : this.since, open });
    this.outboxSearch = this.#createOutboxSearch(open);
    this.#capacity = new Capacity({ max: policy.maxConnected, registry, open, restore: this.#restore });
    this.#hibernation = new Hibernation({ ports, policy: policy.hibernation, room: () => this.#capacity.room });
    const waking = new Waking({ registry, capacity: this.#capacity, hibernation: this.#hibernation, timeout: policy.wakeTimeout });
    this.cells = new Cells({ registry, capacity: this.#capacity, waking, unlinkTimeout: policy.unlinkTimeout });
    const during: Supervisor['during'] = (id, work) => this.during(id, work);
    const held = (): string => this.clock.hold;
    this.campaigns = new Campaigns({ ports, policy, registry, waking, workers: this.workers, open, during, held });
    this.deliveries = new UnderWay(time);
    this.connector = this.#createConnector();
    this.dispatcher = this.#createDispatcher(baseUrl, () => cluster?.onDuty() ?? true);
    const inspection = this.#createInspection();
    this.inspection = inspection;
    this.watchers = new Watchers({ time, log: ports.log, row: (id) => inspection.row(id), rows: () => inspection.rows() });
    this.cluster = cluster && ownership ? new Cluster(cluster, ownership, this.#clusterHost(cluster.access)) : null;
    this.register = new Register({ ports, registry, cluster: this.cluster, chores: this.chores, forget: (id) => this.forget(id) });
    const sleepers = this.cluster?.sleepers ?? registry;
    this.#sweeps = hibernationSweeps({
      ports,
      policy: policy.hibernation,
      workers: this.workers,
      hibernation: this.#hibernation,
      sleepers,
    });
  }

  #createOutboxSearch(open: () => boolean): OutboxSearch {
    const { ports, registry, workers } = this;
    return new OutboxSearch({ ports, registry, workers, open, nudgeOthers: async (id, ids) => this.cluster?.others.nudge(id, ids) });
  }

  #createDownloads(): Downloads {
    return new Downloads({
      ports: this.ports,
      fetch: (id, { message, quoted }) => this.cells.perform(id, 'message.download', { message, quoted }),
      tell: (id, message, file) => this.#tellFile(id, message, file),
      apiKey: (id) => this.registry.record(id)?.aiApikey ?? '',
    });
  }

  #createDispatcher(baseUrl: string, onDuty: () => boolean): Dispatcher {
    const { ports, policy, registry, workers } = this;
    const outbox = trackedOutbox(batchedOutbox(ports.outbox, ports.time), this.deliveries);
    const receiver = trackedReceiver(ports.receiver, this.deliveries);
    return new Dispatcher({
      ports: { ...ports, outbox, receiver },
      policy,
      baseUrl,
      workers,
      connector: trackedConnector(this.connector, this.deliveries),
      cells: registry.cells,
      record: (id) => registry.record(id),
      open: () => this.accepting,
      owns: registry.owns,
      onDuty,
      agesCount: () => this.clock.trouble === '',
      troubled: (id) => this.watchers.changed(id),
    });
  }

  #clusterHost({ refresh, signIns }: OperatorAccess): ClusterHost {
    const { ports, policy, registry, dispatcher, since, campaigns, workers, watchers, inspection } = this;
    return {
      ports,
      policy,
      workers,
      registry,
      dispatcher,
      since,
      campaigns,
      wake: (cell) => this.#hibernation.wake(cell),
      forget: (id) => this.forget(id),
      forgetBeside: (id) => this.#tellReaders((reader) => reader.forget?.(id)),
      begun: () => this.#tellReaders((reader) => reader.begun?.()),
      async refreshAdmin() {
        if (await refresh()) watchers.end();
      },
      refreshSignIns: () => signIns.look(),
      row: (id) => inspection.rowOf(id),
      watchHere: (id, watcher) => watchers.steps(id, watcher),
    };
  }

  #createInspection(): Inspection {
    const { registry, dispatcher, since, campaigns } = this;
    const { time, logLevels, platform } = this.ports;
    return new Inspection({
      registry,
      dispatcher,
      time,
      logLevels,
      since,
      cooldown: this.policy.crash.cooldown,
      platform,
      stepLog: this.#stepLog,
      campaigns: (id) => campaigns.atWork(id),
      waitsForRoom: (id) => this.#hibernation.waitsForRoom(id),
    });
  }

  /** Loads the registered instances and webhooks. Commands work afterwards, while `restore` restores the sessions. */
  async load(): Promise<void> {
    await this.cluster?.remember();
    await this.clock.begin();
    const [records, webhooks] = await Promise.all([this.ports.instances.all(), this.ports.webhooks.all()]);
    for (const webhook of webhooks) this.dispatcher.webhooks.set(webhook);
    for (const record of records) this.registry.register(record);
    if (this.cluster) await this.cluster.join();
    else this.#restore.begin();
    this.accepting = true;
    this.#sweeps.start();
    this.dispatcher.sweeper.start();
    this.chores.start();
    this.#stepLog.start();
  }

  /** Restores the sessions and the campaigns. In a cluster, begins to take free instances instead, and restores the sessions of the taken instances. */
  async restore(): Promise<void> {
    if (this.cluster) return this.cluster.begin();
    await this.#restore.run((cell) => this.#hibernation.wake(cell));
    await this.campaigns.restore();
  }

  /** Moves sessions to other nodes, within `ms` milliseconds. Has no effect without a cluster. */
  async drain(ms: number): Promise<void> {
    await this.cluster?.drain(ms);
  }

  /**
   * Closes every session. Resolves when accepted work is stored and delivered rows are removed from the outbox. The stop is bounded in time, even if a
   * part does not answer.
   */
  async stop(): Promise<void> {
    this.accepting = false;
    this.#tellReaders((reader) => reader.stop?.());
    this.watchers.end();
    this.#sweeps.stop();
    this.outboxSearch.stop();
    this.campaigns.stop();
    this.register.stop();
    this.workers.stop();
    this.dispatcher.sweeper.stop();
    this.chores.stop();
    await this.cluster?.stop();
    const cells = [...this.registry.cells.values()];
    const delivered = within(this.ports.time, this.policy.stopGrace ?? usualStopGrace, this.deliveries.ended());
    await Promise.all([delivered, ...cells.map((cell) => cell.close())]);
    for (const cell of cells) cell.end();
    await this.#stepLog.stop();
  }

  /** Runs work on an instance. In a cluster, the instance does not move to another node before the work has ended. */
  during<T>(id: InstanceId, work: () => Promise<T>): Promise<T> {
    return this.#ownership?.uses.during(id, work) ?? work();
  }

  /** Removes an instance from memory after its removal from storage. */
  forget(id: InstanceId): void {
    this.registry.forget(id);
    this.watchers.forget(id);
    this.#restore.forget(id);
    this.campaigns.forget(id);
    this.dispatcher.forget(id);
    this.#ownership?.forget(id);
    this.#tellReaders((reader) => reader.forget?.(id));
  }

  /** Attaches a reader, which receives committed events, live sessions, and gained and lost instances (`InstanceReader`). */
  attach(reader: InstanceReader): void {
    this.#readers.push(reader);
  }

  figures(): Promise<Figures> {
    const { ports, registry, dispatcher, cluster, clock } = this;
    return figuresOf({ ports, registry, clock, dispatcher, gate: this.#gate, restore: this.#restore, cluster });
  }

  /** Returns the figures. With `resting`, the list includes instances without actors, which have no figures of their own. */
  numbers(resting = true): Numbers {
    const { ports, registry, dispatcher, since, cluster } = this;
    return numbersOf({ clock: this.clock, ports, registry, gate: this.#gate, dispatcher, workers: this.workers, since, cluster }, resting);
  }

  /** Warnings for the operator about faults that do not stop the gateway. */
  get warnings(): readonly string[] {
    return [...this.clock.warnings, this.ports.disk.warning].filter((warning) => warning !== '');
  }

  get progress(): Restore['progress'] {
    return this.#restore.progress;
  }

  #tellReaders(tell: (reader: InstanceReader) => void): void {
    for (const reader of this.#readers) {
      try {
        tell(reader);
      } catch (error) {
        this.ports.log.error({ error }, 'reader.failed');
      }
    }
  }

  async #tellFile(id: InstanceId, { messageId, chatId }: Message, { url, mimetype }: KeptFile): Promise<void> {
    const at = this.ports.time.now();
    await this.registry.cell(id)?.recorder.tell({ kind: 'downloaded', messageId, chatId, fileUrl: url, mimetype, at });
  }

  #createConnector(): Connector {
    return new Connector({
      ports: this.ports,
      fileBytes: this.policy.chatwoot.fileBytes,
      claim: (id) => ({ instanceId: id, epoch: this.registry.record(id)?.epoch ?? 0 }),
      file: (id, messageId) => this.#fileOf(id, messageId),
    });
  }

  async #fileOf(id: InstanceId, messageId: string): Promise<Result<KeptFile>> {
    const found = await this.downloads.download(id, { messageId, quoted: false, mp3: 'no', transcribe: false, apiKey: '' }, true);
    return found.ok ? done(found.value.file) : found;
  }

  get #accountChange(): AccountChangeHost {
    const { ports, campaigns } = this;
    const forgetBeside = (id: InstanceId): void => this.#tellReaders((reader) => reader.forget?.(id));
    return { ports, campaigns, mayAct: (id) => this.#ownership?.mayAct(id) ?? true, forgetBeside };
  }

  /** Creates the cell of an instance. The registry calls this method only after the constructor has ended, so every part exists by then. */
  #createCell(record: InstanceRecord): Cell {
    return new Cell({
      record,
      since: this.since,
      ports: this.ports,
      policy: this.policy,
      gate: this.#gate,
      couriers: this.dispatcher.couriers,
      webhooks: () => this.dispatcher.webhooks.receiving(record.id),
      held: () => this.clock.hold,
      anotherProxy: ({ region, managedUrl }) => anotherProxy(this.ports, region, managedUrl),
      beginAnew: (...change) => beginAnew(this.#accountChange, ...change),
      published: (event) => this.#tellReaders((reader) => reader.note?.(event, record.epoch)),
      mayAct: () => this.#ownership?.mayAct(record.id) ?? true,
      hasRoom: () => this.#capacity.objection(record.id) === null,
      arriving: (message) => this.downloads.arriving(record.id, message, this.policy.autoDownload),
      downloaded: (message, file) => void this.#tellFile(record.id, message, file),
      live: (cell) => {
        this.#faults.opened();
        void Promise.resolve()
          .then(() => this.#restore.live(cell))
          .then(() => this.campaigns.resume(record.id));
        this.#tellReaders((reader) => reader.live?.(cell));
      },
      closed: (cell, verdict, wasLive) => this.#faults.closed(cell, verdict, wasLive),
      moved: ({ steps }) => {
        this.watchers.moved(record.id, steps);
        this.#stepLog.moved(record.id, steps);
      },
    });
  }
}
