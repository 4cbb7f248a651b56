/** One a process: the registry of instances, admission, restore and stop. Commands of the gateway find their cell here. */
import { Dispatcher } from './events/dispatcher.ts';
import { batchedOutbox, trackedOutbox, trackedReceiver } from './events/tracked-ports.ts';
import type { InstanceView, Numbers } from './face.ts';
import { done, refuse, type InstanceId, type InstanceRecord, type Refusal, type Result } from './model.ts';
import type { Verdict } from './policy/close-cause.ts';
import { createGate, createOutageWatch, type Gate } from './policy/gate.ts';
import { usualStopGrace, type Policy } from './policy/policy.ts';
import { type Ports, StorageUnavailable } from './ports.ts';
import { Cell } from './session/cell.ts';
import { Hibernation } from './session/hibernation.ts';
import { cancelInterrupted, queueHostOf, restoreQueues } from './session/sending.ts';
import { beginningOf, restingView } from './session/status.ts';
import { restingVitals } from './session/vitals.ts';
import { supervisedWorkers, type SupervisedWorkers } from './supervised-workers.ts';
import { storageRetryMs, UnderWay, within } from './waiting.ts';

export interface SupervisorInput {
  readonly ports: Ports;
  readonly policy: Policy;
  readonly baseUrl: string;
}

/** Cells made in one turn of the loop at start; making one and asking for admission takes some 100 µs. */
const cellsPerTurn = 50;

export class Supervisor {
  readonly ports: Ports;
  readonly policy: Policy;
  readonly gate: Gate;
  readonly dispatcher: Dispatcher;
  /** Since when delivery errors are kept. */
  readonly since: number;
  accepting = false;
  /** Instances that are being removed, which may take a while. */
  readonly removals = new Map<InstanceId, Promise<Result<null>>>();
  /** Workers of the whole process. */
  readonly #workers: SupervisedWorkers;
  readonly #records = new Map<InstanceId, InstanceRecord>();
  readonly #cells = new Map<InstanceId, Cell>();
  readonly #tokens = new Map<string, InstanceId>();
  /** Instances that this start has to bring back, and those of them that are still on their way. */
  #restoreTotal = 0;
  readonly #restoring = new Set<InstanceId>();
  /** Posts to receivers, and what takes their rows out of the outbox. */
  readonly #deliveries: UnderWay;
  readonly #outage: (now: number, live: number) => boolean;
  readonly #hibernation: Hibernation;

  constructor({ ports, policy, baseUrl }: SupervisorInput) {
    this.ports = ports;
    this.policy = policy;
    this.since = ports.time.now();
    this.#workers = supervisedWorkers(ports, policy, {});
    this.gate = createGate(policy.handshakes, ports.time, () => ports.chance.random());
    this.#outage = createOutageWatch(policy.outage);
    this.#hibernation = new Hibernation({
      ports,
      policy: policy.hibernation,
      cells: () => this.#cells.values(),
      resting: (before) => this.#resting(before),
      cell: (id) => this.cell(id),
      room: () => policy.maxConnected - this.#counted().size,
    });
    this.#deliveries = new UnderWay(ports.time);
    const outbox = trackedOutbox(batchedOutbox(ports.outbox, ports.time), this.#deliveries);
    const receiver = trackedReceiver(ports.receiver, this.#deliveries);
    this.dispatcher = new Dispatcher({
      ports: { ...ports, outbox, receiver },
      policy,
      baseUrl,
      workers: this.#workers,
      cells: this.#cells,
      record: (id) => this.#record(id),
      open: () => this.accepting,
    });
  }

  /** Reads what is registered. After it commands work; `restore` brings the sessions back meanwhile. */
  async load(): Promise<void> {
    const [records, webhooks] = await Promise.all([this.ports.instances.all(), this.ports.webhooks.all()]);
    for (const webhook of webhooks) this.dispatcher.webhooks.set(webhook);
    for (const record of records) this.#register(record);
    for (const record of records) if (beginningOf(record) === 'online') this.#restoring.add(record.id);
    this.#restoreTotal = this.#restoring.size;
    this.accepting = true;
    this.#hibernation.start();
    this.dispatcher.sweeper.start();
  }

  /**
   * Makes the actors of sessions that shall be online, most recently active first; each asks the gate before it connects. An instance at rest has
   * nothing to do, and gets its actors when somebody asks for them. Then continues what waits in the outbox.
   */
  async restore(): Promise<void> {
    const online = [...this.#records.values()].filter((record) => beginningOf(record) === 'online');
    const order = online.toSorted((a, b) => b.lastActiveAt - a.lastActiveAt);
    for (const [index, record] of order.entries()) {
      if (!this.accepting) return;
      this.cell(record.id);
      if (index % cellsPerTurn === cellsPerTurn - 1) await this.pause(0);
    }
    await restoreQueues(
      this.ports,
      (id) => (this.accepting ? this.cell(id) : null),
      this.since,
      (cell) => this.#hibernation.wake(cell),
      (work) => this.#patiently(work),
    );
    const pending = await this.#patiently(() => this.ports.outbox.pending());
    if (this.accepting) for (const { instanceId, webhookId } of pending) this.cell(instanceId)?.nudge(webhookId);
  }

  /** Closes every session; what was accepted is stored, what receivers took is taken out of the outbox. Bounded, whoever does not answer. */
  async stop(): Promise<void> {
    this.accepting = false;
    this.#hibernation.stop();
    this.#workers.stop();
    this.dispatcher.sweeper.stop();
    const cells = [...this.#cells.values()];
    const delivered = within(this.ports.time, this.policy.stopGrace ?? usualStopGrace, this.#deliveries.ended());
    await Promise.all([delivered, ...cells.map((cell) => cell.close())]);
    for (const cell of cells) cell.end();
  }

  /** The cell of a registered instance, made when it is first asked for; null when there is no such instance. */
  cell(id: InstanceId): Cell | null {
    const known = this.#cells.get(id);
    if (known) return known;
    const record = this.#records.get(id);
    if (!record) return null;
    const cell = new Cell({
      record,
      since: this.since,
      ports: this.ports,
      policy: this.policy,
      gate: this.gate,
      couriers: this.dispatcher.couriers,
      webhooks: () => this.dispatcher.webhooks.hearing(id),
      queueHost: queueHostOf(this.ports),
      live: (live) => void Promise.resolve().then(() => this.#live(live)),
      closed: (closed, verdict, wasLive) => this.#closed(closed, verdict, wasLive),
    });
    this.#cells.set(id, cell);
    return cell;
  }

  /** Looking at instances makes no cells: that is for the restore, in its order, or for a command. */
  views(): readonly InstanceView[] {
    return [...this.#records.values()].map((record) => this.#cells.get(record.id)?.view ?? restingView(record));
  }

  view(id: InstanceId): InstanceView | null {
    const record = this.#records.get(id);
    return record ? (this.#cells.get(id)?.view ?? restingView(record)) : null;
  }

  add(record: InstanceRecord): Cell {
    this.#register(record);
    const cell = this.cell(record.id);
    if (!cell) throw new Error('a registered instance has a cell');
    return cell;
  }

  forget(id: InstanceId): void {
    this.#tokens.delete(this.#record(id)?.token ?? '');
    this.#cells.delete(id);
    this.#records.delete(id);
    this.#restoring.delete(id);
    this.dispatcher.forget(id);
  }

  byToken(token: string): InstanceId | null {
    const id = this.#tokens.get(token);
    if (id === undefined) return null;
    return this.#record(id)?.token === token ? id : null;
  }

  /** The record's token changed; the old one is void, whatever order two rotations ended in. */
  addToken(token: string, id: InstanceId): void {
    this.#tokens.set(token, id);
    for (const [old, owner] of this.#tokens) if (owner === id && old !== this.cell(id)?.record.token) this.#tokens.delete(old);
  }

  /** Null when one more session may connect; sessions that are being restored count. */
  full(id: InstanceId): { readonly ok: false; readonly refusal: Refusal } | null {
    const counted = this.#counted();
    counted.delete(id);
    if (counted.size < this.policy.maxConnected) return null;
    return refuse('capped', `Maximum number of connected instances reached (${this.policy.maxConnected})`, { retryAfter: 60 });
  }

  /** Somebody needs the session: it does not go back to sleep until it is idle again. */
  keepAwake(cell: Cell): void {
    this.#hibernation.keep(cell);
    cell.touch();
  }

  /** The instance, awake: a hibernated one is woken and waited for. Whether it is connected is for the caller's request to find out. */
  async awake(id: InstanceId): Promise<Result<Cell>> {
    const cell = this.cell(id);
    if (!cell) return refuse('notFound', 'instance not found');
    await cell.waitFor((other) => !other.closing, this.policy.wakeTimeout); // on its way to sleep, perhaps
    this.keepAwake(cell);
    if (cell.view.status === 'hibernated') {
      const full = this.full(id) ?? (await this.#wake(cell));
      if (full) return full;
    }
    if (!cell.waking) return done(cell);
    const over = (other: Cell): boolean => other.view.connected || other.view.status === 'disconnected';
    const awake = await cell.waitFor(over, this.policy.wakeTimeout);
    return awake ? done(cell) : refuse('notSent', 'the instance did not wake in time');
  }

  /** Others may take the last place, or wake the session, while it is stored that it shall be online. */
  async #wake(cell: Cell): Promise<ReturnType<Supervisor['full']>> {
    await cell.keeper.save({ wanted: 'online' });
    await cell.waitFor((other) => !other.closing, this.policy.wakeTimeout);
    if (cell.view.status !== 'hibernated') return null;
    const filled = this.full(cell.record.id);
    if (filled) cell.keeper.note({ wanted: 'asleep' });
    else cell.connect({});
    return filled;
  }

  /** `resting`: with the instances that have no actors, and so nothing to tell. */
  numbers(resting = true): Numbers {
    const restingMs = this.ports.time.now() - this.since;
    const counts = { disconnected: 0, connecting: 0, connected: 0, hibernated: 0, failed: 0 };
    const instances: Numbers['instances'][number][] = [];
    for (const record of this.#records.values()) {
      const cell = this.#cells.get(record.id);
      const status = cell?.status ?? restingView(record).status;
      counts[status] += 1;
      if (cell?.failed) counts.failed += 1;
      if (cell || resting) instances.push({ id: record.id, status, ...(cell?.numbers ?? restingVitals(status, restingMs)) });
    }
    return {
      registered: this.#records.size,
      ...counts,
      handshakesWaiting: this.gate.waiting,
      barrier: this.gate.barrier,
      loopLagMs: this.ports.loopLagMs(),
      outbox: this.dispatcher.sweeper.outstanding,
      workerCrashes: this.#workers.crashes,
      instances,
    };
  }

  ready(): { readonly restored: number; readonly total: number } {
    for (const id of this.#restoring) {
      const status = this.#cells.get(id)?.status;
      if (status !== undefined && status !== 'connecting') this.#restoring.delete(id);
    }
    return { restored: this.#restoreTotal - this.#restoring.size, total: this.#restoreTotal };
  }

  /** Outlasts a storage that is away: what an earlier run left would wait for the next start otherwise. */
  async #patiently<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof StorageUnavailable) || !this.accepting) throw error;
      }
      await this.pause(storageRetryMs);
    }
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.ports.time.setTimeout(resolve, ms));
  }

  /** As it is now: what was read at start is old once there is a cell. */
  #record(id: InstanceId): InstanceRecord | undefined {
    return this.#cells.get(id)?.record ?? this.#records.get(id);
  }

  /** Sessions that are connected or on their way; those that are being restored count. */
  #counted(): Set<InstanceId> {
    const counted = new Set(this.#restoring);
    for (const [id, { status }] of this.#cells) if (status === 'connected' || status === 'connecting') counted.add(id);
    return counted;
  }

  /** Sleeping instances that have no cell, last active before this time or then. */
  #resting(before: number): readonly InstanceId[] {
    const due: InstanceId[] = [];
    for (const [id, record] of this.#records)
      if (record.lastActiveAt <= before && !this.#cells.has(id) && beginningOf(record) === 'asleep') due.push(id);
    return due;
  }

  #register(record: InstanceRecord): void {
    this.#records.set(record.id, record);
    this.#tokens.set(record.token, record.id);
  }

  /** A close that is not this session's alone puts the barrier up; while it is up, any failed try of the canary makes the next pause longer. */
  #closed(cell: Cell, verdict: Verdict, wasLive: boolean): void {
    const { id } = cell.record;
    if (verdict.reaction === 'gate') return this.gate.raise(verdict.cause, id);
    if (verdict.reaction !== 'backOff') return;
    if (this.gate.barrier !== '') return this.gate.raise(this.gate.barrier, id);
    if (!wasLive) return;
    const live = [...this.#cells.values()].filter((other) => other !== cell && other.view.connected).length;
    if (this.#outage(this.ports.time.now(), live)) this.gate.raise('outage', id);
  }

  async #live(cell: Cell): Promise<void> {
    this.#restoring.delete(cell.record.id);
    try {
      await this.#patiently(() => cancelInterrupted(this.ports, cell, this.since));
    } catch (error) {
      this.ports.log.warn({ instance: cell.record.id, error }, 'queue.unread');
    }
    cell.queue.resume();
  }
}
