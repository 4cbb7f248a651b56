/** One a process: puts the registry, the gate, the deliveries and the restore together, and stops them. Commands of the gateway start here. */
import { Dispatcher } from './events/dispatcher.ts';
import { batchedOutbox, trackedOutbox, trackedReceiver } from './events/tracked-ports.ts';
import type { Figures, InstanceView, Numbers, Unlinked } from './face.ts';
import { figuresOf } from './inspection/figures.ts';
import { Inspection } from './inspection/inspection.ts';
import { Watchers } from './inspection/watchers.ts';
import { perform } from './commands/perform.ts';
import type { InstanceId, InstanceRecord, Message, Result } from './model.ts';
import { createGate, type Gate } from './policy/gate.ts';
import { usualStopGrace, type Policy, type Retention } from './policy/policy.ts';
import { anotherProxy } from './policy/proxy-choice.ts';
import type { KeptFile, Ports } from './ports.ts';
import type { PeriodicWorker } from './periodic-worker.ts';
import { Cell } from './session/cell.ts';
import { Hibernation } from './session/hibernation.ts';
import { askForPicture, writeTyping } from './session/perform.ts';
import { queueHostOf } from './session/queue-host.ts';
import { supervisedWorkers, type SupervisedWorkers } from './supervised-workers.ts';
import { Capacity } from './supervisor/capacity.ts';
import { Downloads } from './supervisor/downloads.ts';
import { expiry, type Perishable } from './supervisor/expiry.ts';
import { FileKeeper } from './supervisor/file-keeper.ts';
import { CommonFaults } from './supervisor/common-faults.ts';
import { numbersOf } from './supervisor/numbers.ts';
import { Registry } from './supervisor/registry.ts';
import { Restore } from './supervisor/restore.ts';
import { RowRemover } from './supervisor/row-remover.ts';
import { Waking } from './supervisor/waking.ts';
import { UnderWay, within } from './waiting.ts';

export interface SupervisorInput {
  readonly ports: Ports;
  readonly policy: Policy;
  readonly baseUrl: string;
}

/** What is kept for a time that the settings say; nothing of what is kept for ever. */
const perishables = ({ messageExpiry, files }: Ports, retention: Retention): readonly Perishable[] =>
  [
    { name: 'messages', age: retention.messages, expire: (before: number, limit: number) => messageExpiry.expire(before, limit) },
    { name: 'files', age: retention.files, expire: (before: number, limit: number) => files.removeUnused(before, limit) },
  ].filter(({ age }) => age > 0);

export class Supervisor {
  readonly ports: Ports;
  readonly policy: Policy;
  readonly registry: Registry;
  readonly capacity: Capacity;
  readonly waking: Waking;
  readonly dispatcher: Dispatcher;
  readonly inspection: Inspection;
  readonly watchers: Watchers;
  /** Since when delivery errors are kept. */
  readonly since: number;
  accepting = false;
  /** Instances that are being removed, which may take a while. */
  readonly removals = new Map<InstanceId, Promise<Result<Unlinked>>>();
  readonly #gate: Gate;
  /** Workers of the whole process. */
  readonly #workers: SupervisedWorkers;
  /** Posts to receivers, and what takes their rows out of the outbox. */
  readonly #deliveries: UnderWay;
  readonly #hibernation: Hibernation;
  readonly #restore: Restore;
  readonly #faults: CommonFaults;
  readonly #expiry: PeriodicWorker;
  readonly #fileKeeper: FileKeeper;
  readonly downloads: Downloads;
  /** Woken by every removal. */
  readonly rowRemover: RowRemover;

  constructor({ ports, policy, baseUrl }: SupervisorInput) {
    const { time, chance } = ports;
    this.ports = ports;
    this.policy = policy;
    this.since = time.now();
    this.#workers = supervisedWorkers(ports, policy, {});
    this.rowRemover = new RowRemover({ ...ports, workers: this.#workers });
    const { sendKeys, recipients, pictures } = ports;
    const lookupAge = Math.max(policy.lookups.knownFor, policy.lookups.absentFor);
    this.#expiry = expiry({
      ...ports,
      workers: this.#workers,
      perishables: [
        { name: 'sendKeys', age: policy.sendKeyAge, expire: (before, limit) => sendKeys.expire(before, limit) },
        { name: 'lookups', age: lookupAge, expire: (before, limit) => recipients.expire(before, limit) },
        { name: 'pictures', age: policy.pictures.age, expire: (before, limit) => pictures.expire(before, limit) },
        ...perishables(ports, policy.retention),
      ],
    });
    this.#fileKeeper = new FileKeeper({ ...ports, most: policy.retention.fileBytes, workers: this.#workers });
    this.downloads = new Downloads({
      ports,
      fetch: (id, { message, quoted }) => perform(this, id, 'message.download', { message, quoted }),
      tell: (id, message, file) => this.#tellFile(id, message, file),
      apiKey: (id) => registry.record(id)?.aiApikey ?? '',
    });
    this.#gate = createGate(policy.handshakes, time, () => chance.random());
    const registry = new Registry((record) => this.#makeCell(record));
    this.registry = registry;
    this.#faults = new CommonFaults({ gate: this.#gate, registry, rule: policy.outage, time });
    const open = (): boolean => this.accepting;
    this.capacity = new Capacity({ max: policy.maxConnected, registry, open, restoring: () => this.#restore.restoring });
    this.#hibernation = new Hibernation({ ports, policy: policy.hibernation, registry, room: () => this.capacity.room });
    this.waking = new Waking({ registry, capacity: this.capacity, hibernation: this.#hibernation, timeout: policy.wakeTimeout });
    this.#restore = new Restore({ ports, registry, since: this.since, open, wake: (cell) => this.#hibernation.wake(cell) });
    this.#deliveries = new UnderWay(time);
    const outbox = trackedOutbox(batchedOutbox(ports.outbox, time), this.#deliveries);
    const receiver = trackedReceiver(ports.receiver, this.#deliveries);
    this.dispatcher = new Dispatcher({
      ports: { ...ports, outbox, receiver },
      policy,
      baseUrl,
      workers: this.#workers,
      cells: registry.cells,
      record: (id) => registry.record(id),
      open,
    });
    const { log, logLevels } = ports;
    const cooldown = policy.crash.cooldown;
    const picture = (id: InstanceId): string => ports.platform.picture(id)?.tag ?? '';
    const inspection = new Inspection({ registry, dispatcher: this.dispatcher, time, logLevels, since: this.since, cooldown, picture });
    this.inspection = inspection;
    this.watchers = new Watchers({ time, log, row: (id) => inspection.row(id), rows: () => inspection.rows() });
  }

  /** Reads what is registered. After it commands work; `restore` brings the sessions back meanwhile. */
  async load(): Promise<void> {
    const [records, webhooks] = await Promise.all([this.ports.instances.all(), this.ports.webhooks.all()]);
    for (const webhook of webhooks) this.dispatcher.webhooks.set(webhook);
    for (const record of records) this.registry.register(record);
    this.#restore.begin();
    this.accepting = true;
    this.#hibernation.start();
    this.dispatcher.sweeper.start();
    this.#expiry.start();
    this.#fileKeeper.start();
    this.rowRemover.wake();
  }

  restore(): Promise<void> {
    return this.#restore.run();
  }

  /** Closes every session; what was accepted is stored, what receivers took is taken out of the outbox. Bounded, whatever does not answer. */
  async stop(): Promise<void> {
    this.accepting = false;
    this.watchers.end();
    this.#hibernation.stop();
    this.#workers.stop();
    this.dispatcher.sweeper.stop();
    this.#expiry.stop();
    this.#fileKeeper.stop();
    this.rowRemover.stop();
    const cells = [...this.registry.cells.values()];
    const delivered = within(this.ports.time, this.policy.stopGrace ?? usualStopGrace, this.#deliveries.ended());
    await Promise.all([delivered, ...cells.map((cell) => cell.close())]);
    for (const cell of cells) cell.end();
  }

  cell(id: InstanceId): Cell | null {
    return this.registry.cell(id);
  }

  view(id: InstanceId): InstanceView | null {
    return this.registry.view(id);
  }

  /** The instance, awake: a hibernated one is woken and waited for. */
  awake(id: InstanceId): Promise<Result<Cell>> {
    return this.waking.awake(id);
  }

  /** The instance and what belongs to it is gone from the storage. */
  forget(id: InstanceId): void {
    this.registry.forget(id);
    this.watchers.forget(id);
    this.#restore.forget(id);
    this.dispatcher.forget(id);
  }

  figures(): Promise<Figures> {
    const { ports, registry, dispatcher } = this;
    return figuresOf({ ports, registry, dispatcher, gate: this.#gate, restore: this.#restore });
  }

  /** `resting`: with the instances that have no actors, and so no figures of their own. */
  numbers(resting = true): Numbers {
    const { ports, registry, dispatcher, since } = this;
    return numbersOf({ ports, registry, gate: this.#gate, dispatcher, workers: this.#workers, since }, resting);
  }

  /** How far the restore is. */
  get progress(): Restore['progress'] {
    return this.#restore.progress;
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.ports.time.setTimeout(resolve, ms));
  }

  async #tellFile(id: InstanceId, { messageId, chatId }: Message, { url, mimetype }: KeptFile): Promise<void> {
    const at = this.ports.time.now();
    await this.registry.cell(id)?.recorder.tell({ kind: 'downloaded', messageId, chatId, fileUrl: url, mimetype, at });
  }

  #makeCell(record: InstanceRecord): Cell {
    return new Cell({
      record,
      since: this.since,
      ports: this.ports,
      policy: this.policy,
      gate: this.#gate,
      couriers: this.dispatcher.couriers,
      webhooks: () => this.dispatcher.webhooks.receiving(record.id),
      queueHost: queueHostOf(this.ports, this.policy.queue),
      writeTyping,
      anotherProxy: ({ region, managedUrl }) => anotherProxy(this.ports, region, managedUrl),
      askForPicture,
      hasRoom: () => this.capacity.objection(record.id) === null,
      arriving: (message) => this.downloads.arriving(record.id, message, this.policy.autoDownload),
      downloaded: (message, file) => void this.#tellFile(record.id, message, file),
      live: (cell) => {
        this.#faults.opened();
        void Promise.resolve().then(() => this.#restore.live(cell));
      },
      closed: (cell, verdict, wasLive) => this.#faults.closed(cell, verdict, wasLive),
      moved: ({ steps }) => this.watchers.moved(record.id, steps),
    });
  }
}
