/** Starts the sessions that should run: restores those of an earlier run, and wakes hibernated sessions for calls that need them. */
import { done, type InstanceId, notConnected, type Refusal, refuse, type Result, unknownInstance, type Wanted } from '../model.ts';
import { capRetryMs } from '../policy/policy.ts';
import type { SupervisedWorker, SupervisedWorkers } from '../policy/supervised-workers.ts';
import type { Ports } from '../ports.ts';
import type { Cell } from '../session/cell.ts';
import type { Hibernation } from '../session/hibernation.ts';
import { failAllInterrupted, restoreQueues } from '../session/queue-host.ts';
import { beginningOf, damageOf, isToBeSetAside, setAsideDamaged } from '../session/status.ts';
import { Pause, untilStored } from '../waiting.ts';
import type { Registry } from './registry.ts';

// Restores the sessions of an earlier run, with their actors, their queues and the pending rows of the outbox.

interface RestoreInput {
  readonly ports: Ports;
  readonly registry: Registry;
  /** The start of this process, in Unix milliseconds. Work that was accepted before belongs to an earlier run. */
  readonly since: number;
  /** Returns false during a stop. Nothing more is restored then. */
  readonly open: () => boolean;
}

/** The number of cells that are made in one turn of the event loop. A cell and the request for its admission take some 100 µs. */
const cellsPerTurn = 50;

export class Restore {
  readonly #input: RestoreInput;
  /** The number of sessions that were online before the start. `#restoring` has those that are not restored yet. */
  #total = 0;
  readonly #restoring = new Set<InstanceId>();

  constructor(input: RestoreInput) {
    this.#input = input;
  }

  /** Counts the sessions that `run` restores. The caller registers all records first. */
  begin(): void {
    for (const id of this.#wanted('online')) this.#restoring.add(id);
    this.#total = this.#restoring.size;
  }

  /**
   * Makes the actors of sessions that were online, most recently active first. Sessions whose unlinking was interrupted come next. Each session asks the
   * gate before it connects. An instance at rest gets its actors with the first call that needs them. At the end, the method restores the queues and
   * resumes the deliveries in the outbox. `wake` wakes a hibernated session that has messages in its queue.
   */
  async run(wake: (cell: Cell) => void): Promise<void> {
    const { ports, registry, open } = this.#input;
    const activeAt = (id: InstanceId): number => registry.record(id)?.lastActiveAt ?? 0;
    const order = this.#wanted('online').toSorted((a, b) => activeAt(b) - activeAt(a));
    this.#setAsideDamaged();
    for (const [index, id] of [...order, ...this.#wanted('unlinked')].entries()) {
      if (!open()) return;
      registry.cell(id);
      if (index % cellsPerTurn === cellsPerTurn - 1) await this.#pause(0);
    }
    const cellOf = (id: InstanceId): Cell | null => (open() ? registry.cell(id) : null);
    await restoreQueues(ports, { cells: registry.cells, cellOf, wake, untilStored: (work) => this.#untilStored(work) });
    const pending = await this.#untilStored(() => ports.outbox.pending());
    if (open()) for (const { instanceId, webhookId } of pending) registry.cell(instanceId)?.nudge(webhookId);
  }

  /** Fails the interrupted messages of an earlier run, and then resumes the queue. Called when the session is live. Never rejects. */
  async live(cell: Cell): Promise<void> {
    const { ports, since } = this.#input;
    this.forget(cell.record.id);
    try {
      await this.#untilStored(() => failAllInterrupted(ports, cell, since));
    } catch (error) {
      ports.log.warn({ instance: cell.record.id, error }, 'queue.unread');
    }
    cell.queue.resume();
  }

  forget(id: InstanceId): void {
    this.#restoring.delete(id);
  }

  /** Sessions that are not restored yet. */
  get restoring(): ReadonlySet<InstanceId> {
    return this.#restoring;
  }

  get progress(): { readonly restored: number; readonly total: number } {
    for (const id of this.#restoring) {
      const status = this.#input.registry.cells.get(id)?.status;
      if (status !== undefined && status !== 'connecting') this.#restoring.delete(id);
    }
    return { restored: this.#total - this.#restoring.size, total: this.#total };
  }

  #setAsideDamaged(): void {
    const { registry, ports } = this.#input;
    for (const id of registry.ids) {
      const record = registry.record(id);
      const cell = record !== undefined && isToBeSetAside(record) ? registry.cell(id) : null;
      if (cell) setAsideDamaged(cell, ports.time.now());
    }
  }

  #wanted(wanted: Wanted): readonly InstanceId[] {
    const { registry } = this.#input;
    return [...registry.ids].filter((id) => {
      const record = registry.record(id);
      return record !== undefined && beginningOf(record) === wanted;
    });
  }

  /** Retries while storage is unavailable. Without retries, pending work of an earlier run would wait for the next start. */
  #untilStored<T>(work: () => Promise<T>): Promise<T> {
    const { open } = this.#input;
    const pause = {
      get ended() {
        return !open();
      },
      wait: (ms: number) => this.#pause(ms),
    };
    return untilStored(pause, work);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#input.ports.time.setTimeout(resolve, ms));
  }
}

// The search for deliveries of which no courier knows. After an outage, the outbox may have rows of commits without an answer. The database may also have
// lost the removal of delivered rows, because these commits do not wait for the disk.

interface OutboxSearchInput {
  readonly ports: Pick<Ports, 'outbox' | 'time'>;
  readonly registry: Registry;
  readonly workers: SupervisedWorkers;
  /** Returns false before the instances are loaded and during a stop. Nothing is searched then. */
  readonly open: () => boolean;
  /** Makes the couriers on other nodes read the outbox; does nothing without a cluster. Never rejects. */
  readonly nudgeOthers: (webhookId: string, ids: readonly InstanceId[]) => Promise<void>;
}

/** The pause before a search. Statements that PostgreSQL still executes for lost connections end during the pause. In milliseconds. */
const searchAfterMs = 5_000;

export class OutboxSearch {
  readonly #input: OutboxSearchInput;
  readonly #worker: SupervisedWorker;
  readonly #pause: Pause;
  /** Webhooks whose rows may belong to instances of other nodes. */
  readonly #shared = new Set<string>();

  constructor(input: OutboxSearchInput) {
    this.#input = input;
    this.#pause = new Pause(input.ports.time);
    this.#worker = input.workers.supervise({ name: 'outboxSearch', run: () => this.#run() });
  }

  /** Searches the outbox after some seconds. `webhookId`: a webhook whose couriers on other nodes read the outbox too. */
  wake(webhookId?: string): void {
    if (webhookId !== undefined) this.#shared.add(webhookId);
    this.#worker.wake();
  }

  stop(): void {
    this.#worker.stop();
    this.#pause.end();
  }

  async #run(): Promise<void> {
    const { ports, registry, open, nudgeOthers } = this.#input;
    await this.#pause.wait(searchAfterMs);
    const shared = [...this.#shared];
    const pending = open() ? await untilStored(this.#pause, () => ports.outbox.pending()) : [];
    if (!open()) return;
    for (const { instanceId, webhookId } of pending) registry.cell(instanceId)?.nudge(webhookId);
    for (const id of shared) {
      this.#shared.delete(id);
      const elsewhere = pending.filter(({ webhookId, instanceId }) => webhookId === id && !registry.owns(instanceId));
      await nudgeOthers(
        id,
        elsewhere.map(({ instanceId }) => instanceId),
      );
    }
  }
}

// Counts the sessions that are connected or connecting, and compares the number with the cap (MAX_CONNECTED_INSTANCES).

interface CapacityInput {
  readonly max: number;
  readonly registry: Registry;
  /** Returns false during a stop. */
  readonly open: () => boolean;
  /** The restore. Sessions that it has not restored yet count even before they have a cell. */
  readonly restore: Pick<Restore, 'restoring'>;
}

export class Capacity {
  readonly #input: CapacityInput;

  constructor(input: CapacityInput) {
    this.#input = input;
  }

  /** The number of further sessions that may connect now. */
  get room(): number {
    if (!this.#input.open()) return 0;
    return this.#input.max - this.#count(null);
  }

  /** Returns a refusal if this session may not connect, else null. */
  objection(id: InstanceId): { readonly ok: false; readonly refusal: Refusal } | null {
    const { max, open } = this.#input;
    if (!open()) return refuse('unavailable', 'the server is stopping');
    if (this.#count(id) < max) return null;
    return refuse('capped', `Maximum number of connected instances reached (${max})`, { retryAfter: capRetryMs / 1000 });
  }

  #count(except: InstanceId | null): number {
    const { registry, restore } = this.#input;
    let count = 0;
    for (const [id, { status }] of registry.cells) if (id !== except && (status === 'connected' || status === 'connecting')) count += 1;
    for (const id of restore.restoring) if (id !== except && !registry.cells.has(id)) count += 1;
    return count;
  }
}

interface WakingInput {
  readonly registry: Registry;
  readonly capacity: Capacity;
  readonly hibernation: Hibernation;
  /** The longest time that a call waits for the session to wake. In milliseconds. */
  readonly timeout: number;
}

export class Waking {
  readonly #input: WakingInput;

  constructor(input: WakingInput) {
    this.#input = input;
  }

  /** Keeps the session from hibernating until it is idle again. */
  keepAwake(cell: Cell): void {
    this.#input.hibernation.keepAwake(cell);
    cell.touch();
  }

  /**
   * Returns the cell of the instance after waking a hibernated session, or waiting for a starting one. The session may still be unconnected. The request of the
   * caller is then refused.
   */
  async awake(id: InstanceId): Promise<Result<Cell>> {
    const { registry, capacity, timeout } = this.#input;
    const cell = registry.cell(id);
    if (!cell) return unknownInstance;
    const objection = damageOf(cell);
    if (objection) return objection;
    await cell.waitFor((other) => !other.closing, timeout); // The session may be about to hibernate.
    this.keepAwake(cell);
    if (cell.view.status === 'hibernated') {
      const refusal = capacity.objection(id) ?? (await this.#wake(cell));
      if (refusal) return refusal;
    }
    if (!cell.waking) return done(cell);
    const over = (other: Cell): boolean => other.view.connected || other.view.status === 'disconnected';
    const awake = await cell.waitFor(over, timeout);
    return awake ? done(cell) : notConnected;
  }

  /**
   * Stores that the session shall be online, then connects it. During the store, other sessions may take the last slot, or another call may wake
   * this session.
   */
  async #wake(cell: Cell): Promise<ReturnType<Capacity['objection']>> {
    const { capacity, timeout } = this.#input;
    await cell.keeper.save({ wanted: 'online' });
    await cell.waitFor((other) => !other.closing, timeout);
    if (cell.view.status !== 'hibernated') return null;
    const objection = capacity.objection(cell.record.id);
    if (objection) cell.keeper.note({ wanted: 'asleep' });
    else cell.connect({}, 'call');
    return objection;
  }
}
