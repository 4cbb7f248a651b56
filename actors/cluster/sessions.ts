/** The sessions that this node owns. A session begins when its lease is taken, and closes before the lease is released. */
import { MicroBatch } from '../delivery/tracked-ports.ts';
import type { Claim, InstanceId, InstanceRecord, Message } from '../model.ts';
import { type Policy, usualStopGrace } from '../policy/policy.ts';
import type { LeftWork, LeftWorkStore, Ports, TakeCause } from '../ports.ts';
import type { Cell } from '../session/cell.ts';
import { failInterrupted } from '../session/queue-host.ts';
import { beginningOf, isCutPairing, isToBeSetAside, setAsideDamaged } from '../session/status.ts';
import type { Campaigns } from '../supervisor/campaigns.ts';
import type { Dispatcher } from '../supervisor/dispatcher.ts';
import type { Registry } from '../supervisor/registry.ts';
import { within } from '../waiting.ts';
import type { Departure } from './placement.ts';
import type { Uses } from './ownership.ts';

/** Operations of a node on the sessions of its leases. */
export interface OwnedSessions {
  /**
   * Reads the data of taken instances. Resolves with a function that begins their sessions. The caller calls this function when the node owns the
   * instances.
   */
  prepare(claims: readonly Claim[]): Promise<() => void>;
  /**
   * Closes the session. Waits for running work, stored data and deliveries, each within a time limit. With `hurry`, the lease is about to end, and the
   * method waits only for the close and the stored data. Never rejects.
   */
  close(id: InstanceId, hurry: boolean): Promise<void>;
  /** Returns true if the instance needs no owner, by the data in memory. */
  isIdle(id: InstanceId): boolean;
  /** Returns true if a person is pairing the instance, by the data in memory. */
  isPairing(id: InstanceId): boolean;
  /** Starts or stops to take commands for the instance from the bus. */
  serve(id: InstanceId, here: boolean): void;
  /** Returns true if this node takes commands for the instance from the bus. */
  isServed(id: InstanceId): boolean;
  /** Resolves with true if the next owner reserves a slot for the session, or cannot be asked. Never rejects. */
  offer(departure: Departure): Promise<boolean>;
  /**
   * Asks the next owner to take an instance whose lease was released. Resolves when its session is connected on that node, or after some seconds. Never
   * rejects.
   */
  handOver(departure: Departure, cause: TakeCause): Promise<void>;
  /** Returns the instances with events or messages that wait to be sent. */
  unsent(): Promise<ReadonlySet<InstanceId>>;
}

interface ClusterSessionsInput {
  readonly ports: Ports;
  readonly leftWork: LeftWorkStore;
  readonly policy: Policy;
  readonly registry: Registry;
  readonly dispatcher: Dispatcher;
  readonly campaigns: Pick<Campaigns, 'look' | 'forget'>;
  /** Commands under way, by instance. */
  readonly uses: Uses;
  /** Wakes a hibernated session that has messages in its queue. */
  readonly wake: (cell: Cell) => void;
  /** Implements `ClusterHost.forgetBeside`. */
  readonly forgetBeside: (id: InstanceId) => void;
  /** Called after the sessions of taken instances were begun. */
  readonly begun: () => void;
  /** Implements `OwnedSessions.serve`. */
  readonly serve: (id: InstanceId, here: boolean) => void;
  /** Implements `OwnedSessions.isServed`. */
  readonly isServed: (id: InstanceId) => boolean;
  /** Called after the session of an instance was closed. Its lease is released when the promise resolves. Never rejects. */
  readonly left: (id: InstanceId) => Promise<void>;
  /** Implements `OwnedSessions.offer`. */
  readonly offer: OwnedSessions['offer'];
  /** Implements `OwnedSessions.handOver`. */
  readonly handOver: OwnedSessions['handOver'];
}

/** The unfinished work of earlier owners, with the interrupted messages whose callers waited for an answer. */
type Left = Omit<LeftWork, 'isInterrupted'> & { readonly interrupted: readonly Message[] };

const nothingLeft = (id: InstanceId): Left => ({ id, queued: 0, webhooks: [], interrupted: [], hasCampaign: false });

const everything = { before: Number.MAX_SAFE_INTEGER, limit: 10_000 };

/** The pause between two checks of couriers with posts under way, and of a session that is connecting. In milliseconds. */
const lookMs = 50;
/** The time that commands get to record their end after the connection of their session was closed. In milliseconds. */
const cutShortMs = 1_000;
/** The longest wait for the connection of a session that another node handed over. Shorter than the wait of that node for the answer. In milliseconds. */
const settledMs = 2_500;
/** The time for which an idle instance stays on this node after its last use. Clients often ask again. In milliseconds. */
const keptMs = 60_000;

export class ClusterSessions implements OwnedSessions {
  readonly #input: ClusterSessionsInput;

  constructor(input: ClusterSessionsInput) {
    this.#input = input;
  }

  async prepare(claims: readonly Claim[]): Promise<() => void> {
    const { ports, leftWork } = this.#input;
    const ids = claims.map(({ instanceId }) => instanceId);
    const [records, found] = await Promise.all([ports.instances.some(ids), leftWork.of(ids)]);
    // No session of this node is open yet, so all found work was left by earlier owners.
    const all = await Promise.all(found.map(async (work) => ({ ...work, interrupted: await this.#interruptedOf(work) })));
    const left = new Map(all.map((one) => [one.id, one]));
    return () => {
      for (const record of records) this.#begin(record, left.get(record.id) ?? nothingLeft(record.id));
      this.#input.begun();
    };
  }

  async #interruptedOf({ id, isInterrupted }: LeftWork): Promise<readonly Message[]> {
    return isInterrupted ? this.#input.ports.messages.interrupted(id, everything.before, everything.limit) : [];
  }

  async close(id: InstanceId, hurry: boolean): Promise<void> {
    if (!(await this.#close(id, hurry))) return;
    const left = this.#input.left(id);
    if (!hurry) await left;
  }

  isIdle(id: InstanceId): boolean {
    const { registry, uses, ports } = this.#input;
    if (ports.time.now() - uses.lastAt(id) < keptMs || uses.count(id) > 0) return false;
    const [record, cell] = [registry.record(id), registry.cells.get(id)];
    if (record === undefined) return true;
    const wanted = beginningOf(record);
    if (wanted === 'online' || wanted === 'unlinked') return false;
    return cell === undefined || this.#isAtRest(cell);
  }

  isPairing(id: InstanceId): boolean {
    const { registry } = this.#input;
    return registry.record(id)?.jid === '' && registry.cells.get(id)?.status === 'connecting';
  }

  serve(id: InstanceId, here: boolean): void {
    this.#input.serve(id, here);
  }

  isServed(id: InstanceId): boolean {
    return this.#input.isServed(id);
  }

  offer(...given: Parameters<OwnedSessions['offer']>): Promise<boolean> {
    return this.#input.offer(...given);
  }

  handOver(...given: Parameters<OwnedSessions['handOver']>): Promise<void> {
    return this.#input.handOver(...given);
  }

  /** Resolves when a taken session is connected or is not connecting any more, or after some seconds. */
  async settled(id: InstanceId): Promise<void> {
    const { registry, ports } = this.#input;
    for (let waited = 0; waited < settledMs && registry.cells.get(id)?.status === 'connecting'; waited += lookMs)
      await new Promise<void>((resolve) => void ports.time.setTimeout(resolve, lookMs));
  }

  async unsent(): Promise<ReadonlySet<InstanceId>> {
    const { ports, registry } = this.#input;
    const { outbox, campaigns, chatwootRows, messages } = ports;
    const [pending, working, replying, queueing] = await Promise.all([
      outbox.pending(),
      campaigns.working(),
      chatwootRows.replying(),
      messages.queueing(),
    ]);
    // A session that needs a person sends nothing from its queue until that person connects it.
    const wakeable = queueing.filter(({ id, queued }) => {
      const record = registry.record(id);
      return queued > 0 && record !== undefined && beginningOf(record) === 'asleep';
    });
    return new Set([...pending.map(({ instanceId }) => instanceId), ...working, ...replying, ...wakeable.map(({ id }) => id)]);
  }

  /** Returns false if a hurried close overtook this close, and the node has taken the instance again since. */
  async #close(id: InstanceId, hurry: boolean): Promise<boolean> {
    const { registry, uses, ports, policy, campaigns, dispatcher, forgetBeside } = this.#input;
    const grace = policy.stopGrace ?? usualStopGrace;
    const cell = registry.cells.get(id);
    const isOvertaken = (): boolean => registry.cells.has(id) && registry.cells.get(id) !== cell;
    // New work is refused first, then work under way gets time to end.
    campaigns.forget(id);
    forgetBeside(id);
    if (!hurry) await within(ports.time, grace, uses.ended(id));
    if (isOvertaken()) return false;
    if (!cell || !registry.cells.has(id)) {
      uses.forget(id);
      return true;
    }
    await cell.close(hurry);
    if (!hurry && uses.count(id) > 0) {
      // Commands that the close cut short free their idempotency keys and record their outcome before the recorder ends.
      await within(ports.time, cutShortMs, uses.ended(id));
      await cell.stored();
    }
    if (!hurry) await this.#posted(cell, Math.max(grace, policy.postTimeout ?? 0));
    if (isOvertaken()) return false;
    uses.forget(id);
    cell.end();
    registry.drop(id);
    dispatcher.leave(id);
    // Data that arrived during the close is dropped from the caches. The next owner reads this data.
    forgetBeside(id);
    return true;
  }

  #isAtRest(cell: Cell): boolean {
    const { status } = cell;
    const isDown = status === 'disconnected' || status === 'hibernated';
    return isDown && !cell.closing && !cell.busy && !cell.failed && cell.recorder.waiting === 0 && cell.keeper.waiting === 0;
  }

  #begin(record: InstanceRecord, { queued, webhooks, interrupted, hasCampaign }: Left): void {
    const { registry, uses, ports, wake, campaigns } = this.#input;
    registry.register(record);
    uses.note(record.id);
    if (hasCampaign) campaigns.look(record.id);
    const wanted = beginningOf(record);
    const hasWork = queued > 0 || webhooks.length > 0 || interrupted.length > 0;
    const isDamaged = isToBeSetAside(record);
    const isCut = isCutPairing(record);
    if (wanted !== 'online' && wanted !== 'unlinked' && !hasWork && !isDamaged && !isCut) return;
    const cell = registry.cell(record.id);
    if (!cell) return;
    if (isDamaged) setAsideDamaged(cell, ports.time.now());
    // If the record stayed `online`, nodes would take the instance again and again.
    else if (isCut) cell.keeper.note({ wanted: 'offline' });
    failInterrupted(cell, interrupted).catch((error: unknown) => ports.log.warn({ instance: record.id, error }, 'queue.unread'));
    if (queued > 0) cell.queue.restore(queued);
    if (queued > 0 && cell.view.status === 'hibernated') wake(cell);
    for (const webhook of webhooks) cell.nudge(webhook);
  }

  /** Waits for posts under way, so that the next owner does not post the same events concurrently. */
  async #posted(cell: Cell, most: number): Promise<void> {
    const { dispatcher, ports } = this.#input;
    const isQuiet = (): boolean =>
      dispatcher.webhooks.receiving(cell.record.id).every(({ id }) => {
        const view = cell.courier(id);
        return view === null || view === 'down' || view.isQuiet;
      });
    for (let waited = 0; waited < most && !isQuiet(); waited += lookMs)
      await new Promise<void>((resolve) => void ports.time.setTimeout(resolve, lookMs));
  }
}

// Takeovers of instances that requests need. Requests that arrive during a takeover share the next takeover.

interface AskedTakesInput {
  take(ids: readonly InstanceId[], cause: TakeCause): Promise<void>;
  /** Returns how many more instances the node may own. A slot that is reserved for this instance counts as free. */
  roomFor(id: InstanceId): number;
}

export class AskedTakes {
  readonly #input: AskedTakesInput;
  readonly #batches = new Map<TakeCause, MicroBatch<InstanceId>>();

  constructor(input: AskedTakesInput) {
    this.#input = input;
  }

  /** Resolves when the take has ended, even if another node owns the instance then. */
  take(id: InstanceId, cause: TakeCause): Promise<void> {
    const batch = this.#batches.get(cause) ?? new MicroBatch<InstanceId>((asked) => this.#take([...new Set(asked)], cause));
    this.#batches.set(cause, batch);
    return batch.add([id]);
  }

  async #take(asked: readonly InstanceId[], cause: TakeCause): Promise<void> {
    const ids = asked.filter((id, at) => this.#input.roomFor(id) > at);
    if (ids.length > 0) await this.#input.take(ids, cause);
  }
}
