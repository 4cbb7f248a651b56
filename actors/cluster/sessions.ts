/** The sessions that this node owns, for as long as it owns them: begun when a lease was taken, closed before one is given back. */
import type { Dispatcher } from '../events/dispatcher.ts';
import type { Claim, InstanceId, InstanceRecord, Message } from '../model.ts';
import { usualStopGrace, type Policy } from '../policy/policy.ts';
import type { LeftWork, LeftWorkStore, Ports } from '../ports.ts';
import type { Cell } from '../session/cell.ts';
import { failInterrupted } from '../session/queue-host.ts';
import { beginningOf } from '../session/status.ts';
import type { Campaigns } from '../supervisor/campaigns.ts';
import type { Registry } from '../supervisor/registry.ts';
import { within } from '../waiting.ts';
import type { OwnedSessions } from './owned-sessions.ts';
import type { Uses } from './uses.ts';

export interface ClusterSessionsInput {
  readonly ports: Ports;
  readonly leftWork: LeftWorkStore;
  readonly policy: Policy;
  readonly registry: Registry;
  readonly dispatcher: Dispatcher;
  readonly campaigns: Pick<Campaigns, 'look' | 'forget'>;
  /** What is under way for an instance. */
  readonly uses: Uses;
  /** Wakes a sleeping session for what waits in its queue. */
  readonly wake: (cell: Cell) => void;
  /** See `ClusterHost`. */
  readonly forgetBeside: (id: InstanceId) => void;
  /** Called after instances were begun. */
  readonly begun: () => void;
  /** See `OwnedSessions`. */
  readonly serve: (id: InstanceId, here: boolean) => void;
  /** See `OwnedSessions`. */
  readonly isServed: (id: InstanceId) => boolean;
  /** Called after an instance was closed here, and waited for before its lease is given back. Never rejects. */
  readonly left: (id: InstanceId) => Promise<void>;
  /** See `OwnedSessions`. */
  readonly offer: OwnedSessions['offer'];
  /** See `OwnedSessions`. */
  readonly handOver: OwnedSessions['handOver'];
}

/** What earlier owners left behind, and the messages whose callers waited for an answer. */
type Left = Omit<LeftWork, 'isInterrupted'> & { readonly interrupted: readonly Message[] };

const nothingLeft = (id: InstanceId): Left => ({ id, queued: 0, webhooks: [], interrupted: [], hasCampaign: false });

const everything = { before: Number.MAX_SAFE_INTEGER, limit: 10_000 };

/** Milliseconds between two looks at couriers whose posts are waited for, and at a session that shall be connected. */
const lookMs = 50;
/** Milliseconds that commands have to record their end after the connection of their session was closed. */
const cutShortMs = 1_000;
/** How long the connection of a session is waited for that another node has handed over; shorter than that node waits for the answer. */
const settledMs = 2_500;
/** How long an instance that needs no session stays here after its last use. Clients ask more than once. */
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
    // No session of this node is open yet, so that nothing of what is found is its own.
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
    await this.#close(id, hurry);
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

  /** Resolves when a session that was taken is connected or has no reason to be, and after some seconds. */
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

  async #close(id: InstanceId, hurry: boolean): Promise<void> {
    const { registry, uses, ports, policy, campaigns, forgetBeside } = this.#input;
    const grace = policy.stopGrace ?? usualStopGrace;
    // Nothing new is begun, and what is under way has its end here.
    campaigns.forget(id);
    forgetBeside(id);
    if (!hurry) await within(ports.time, grace, uses.ended(id));
    const cell = registry.cells.get(id);
    if (!cell) return uses.forget(id);
    await cell.close(hurry);
    if (!hurry && uses.count(id) > 0) {
      // Commands that the close has cut short free their keys and record what became of them, before the recorder ends.
      await within(ports.time, cutShortMs, uses.ended(id));
      await cell.stored();
    }
    if (!hurry) await this.#posted(cell, Math.max(grace, policy.postTimeout ?? 0));
    uses.forget(id);
    cell.end();
    registry.drop(id);
    // What came in while it was closed is read by the next owner.
    forgetBeside(id);
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
    if (wanted !== 'online' && wanted !== 'unlinked' && !hasWork) return;
    const cell = registry.cell(record.id);
    if (!cell) return;
    failInterrupted(cell, interrupted).catch((error: unknown) => ports.log.warn({ instance: record.id, error }, 'queue.unread'));
    if (queued > 0) cell.queue.restore(queued);
    if (queued > 0 && cell.view.status === 'hibernated') wake(cell);
    for (const webhook of webhooks) cell.nudge(webhook);
  }

  /** Waits for posts under way, so that the next owner does not post the same events beside them. */
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
