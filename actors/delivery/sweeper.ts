/** Keeps the stored rows of webhooks within their bounds, in batches, and counts the dropped events. */
import { eventTypes, type EventType } from '../model.ts';
import type { DeliveryPolicy } from '../policy/policy.ts';
import { StorageFailure, type DeliveryStore, type Log, type Tally, type Time } from '../ports.ts';
import { Ages, type Due } from './ages.ts';
import { PeriodicWorker, type SupervisedWorkers } from '../policy/supervised-workers.ts';

/**
 * Ranks of the event types; rank 0 is dropped first. Types that are soon stale, or can be requested again, are dropped before single facts. Messages are
 * dropped last.
 */
const ranks: Readonly<Record<EventType, number>> = {
  presence: 0,
  history: 0,
  contacts: 1,
  chats: 1,
  labels: 1,
  chat_labels: 1,
  groups: 1,
  connection: 2,
  sender: 2,
  call: 2,
  messages_update: 2,
  newsletter_messages: 2,
  messages: 3,
};

/** Types in the order in which they are dropped. */
const classes: readonly (readonly EventType[])[] = [0, 1, 2, 3].map((rank) => eventTypes.filter((type) => ranks[type] === rank));

/** The number of sweeps after which ages and past deliveries are checked again. */
const roundsPerForget = 6;

/** The largest number of batches of one kind for one webhook in a sweep. The limit lets a sweep reach all webhooks. */
const piecesPerRound = 25;

/** The number of consecutive webhooks without an answer of storage after which the sweep ends. */
const mostUnanswered = 3;

export interface SweeperHost {
  readonly deliveries: DeliveryStore;
  readonly time: Time;
  readonly log: Log;
  readonly policy: Pick<DeliveryPolicy, 'bounds' | 'kept' | 'sweepEvery'>;
  /** Reports that rows of this webhook were removed. Couriers may still have these rows in memory. */
  trimmed(webhookId: string): void;
  readonly workers: SupervisedWorkers;
  /** False for a webhook that was removed, perhaps during the sweep. */
  isKnown?(webhookId: string): boolean;
  /** Returns true if this process does the work that only one node of the cluster does. */
  onDuty?(): boolean;
  /** False while the clock is in doubt. Nothing expires then. */
  agesCount?(): boolean;
}

export interface Outstanding {
  readonly waiting: number;
  readonly parked: number;
}

const notDue: Due = { waiting: false, delivered: false, dead: false };

const nothing: Outstanding = { waiting: 0, parked: 0 };

export type Dropped = Readonly<Record<string, number>>;

const isNothing = (dropped: Dropped): boolean => Object.keys(dropped).length === 0;

/** Adds counts to a sum. Returns false if no count was added. */
const add = (sum: Record<string, number>, more: Dropped): boolean => {
  for (const [type, count] of Object.entries(more)) sum[type] = (sum[type] ?? 0) + count;
  return !isNothing(more);
};

export const sumOfDropped = (all: readonly Dropped[]): Dropped => {
  const sum: Record<string, number> = {};
  for (const one of all) add(sum, one);
  return sum;
};

export class Sweeper {
  readonly #host: SweeperHost;
  readonly #dropped = new Map<string, Dropped>();
  #outstanding = nothing;
  #oldestAt: number | null = null;
  /** The counts of the last sweep, by webhook. */
  #counted: ReadonlyMap<string, Outstanding> = new Map();
  #rounds = 0;
  readonly #ages: Ages;
  readonly #worker: PeriodicWorker;

  constructor(host: SweeperHost) {
    this.#host = host;
    this.#ages = new Ages(host.deliveries);
    const { time, log, workers, policy, onDuty = () => true } = host;
    const unanswered = 'webhook.notSwept';
    this.#worker = new PeriodicWorker({
      time,
      log,
      workers,
      name: 'sweeper',
      everyMs: policy.sweepEvery,
      unanswered,
      onDuty,
      run: () => this.sweep(),
    });
  }

  start(): void {
    this.#worker.start();
  }

  stop(): void {
    this.#worker.stop();
  }

  /** Returns how many events this process dropped since its start, by type. */
  dropped(webhookId: string): Dropped {
    return this.#dropped.get(webhookId) ?? {};
  }

  /** Forgets a webhook that is gone. */
  forget(webhookId: string): void {
    this.#dropped.delete(webhookId);
  }

  /** The counts of all webhooks in the last sweep. The counts are zero on a node that is not on duty, so that sums over nodes count each delivery once. */
  get outstanding(): Outstanding {
    return this.#isCurrent ? this.#outstanding : nothing;
  }

  /** The time of the oldest waiting event in the last sweep; null if there was none. In Unix milliseconds. */
  get oldestAt(): number | null {
    return this.#isCurrent ? this.#oldestAt : null;
  }

  /** Returns the counts of one webhook in the last sweep. */
  counted(webhookId: string): Outstanding {
    return (this.#isCurrent ? this.#counted.get(webhookId) : undefined) ?? nothing;
  }

  /** False if another node took over the duty. The results of the last sweep are then stale. */
  get #isCurrent(): boolean {
    return this.#host.onDuty?.() ?? true;
  }

  /**
   * Runs one sweep over all webhooks, even if the sweep of one webhook fails. Stops after `mostUnanswered` webhooks in a row whose storage did not answer.
   * Rejects afterwards with the first unexpected error. Rejects with a `StorageFailure` if storage does not answer the first queries.
   */
  async sweep(): Promise<void> {
    const surprises: unknown[] = [];
    let unanswered = 0;
    const agesToo = this.#rounds % roundsPerForget === 0 && (this.#host.agesCount?.() ?? true);
    this.#rounds += 1;
    const tallies = await this.#tallies();
    const due = agesToo ? await this.#due(tallies) : null;
    for (const tally of tallies) {
      try {
        await this.#keepWithin(tally, due && (due.get(tally.webhookId) ?? notDue));
        unanswered = 0;
      } catch (error) {
        this.#host.log.warn({ webhook: tally.webhookId, error }, 'webhook.notSwept');
        if (!(error instanceof StorageFailure)) surprises.push(error);
        else if ((unanswered += 1) === mostUnanswered) break;
      }
    }
    if (surprises.length > 0) throw surprises[0];
  }

  async #tallies(): Promise<readonly Tally[]> {
    const { deliveries } = this.#host;
    await deliveries.foldTallies();
    const tallies = await deliveries.tally(null);
    this.#oldestAt = await deliveries.oldest();
    const sum = (of: 'waiting' | 'parked'): number => tallies.reduce((all, tally) => all + tally[of], 0);
    this.#counted = new Map(tallies.map(({ webhookId, waiting, parked }) => [webhookId, { waiting, parked }]));
    this.#outstanding = { waiting: sum('waiting'), parked: sum('parked') };
    return tallies;
  }

  #due(tallies: readonly Tally[]): Promise<ReadonlyMap<string, Due>> {
    const { policy, time } = this.#host;
    const now = time.now();
    return this.#ages.due(tallies, {
      waiting: now - policy.bounds.age,
      delivered: now - policy.kept.delivered,
      dead: now - policy.kept.dead,
    });
  }

  /** Trims the rows of one webhook. `due` is null in a sweep that checks no ages. */
  async #keepWithin(tally: Tally, due: Due | null): Promise<void> {
    const { kept } = this.#host.policy;
    const now = this.#host.time.now();
    const { webhookId } = tally;
    const dropped: Record<string, number> = {};
    try {
      await this.#trim(tally, dropped);
      if (due?.waiting) await this.#trimAges(webhookId, dropped);
    } finally {
      if (!isNothing(dropped)) this.#note(webhookId, dropped);
    }
    if (due === null) return;
    const excess = { delivered: tally.delivered - kept.rows, dead: tally.dead - kept.rows };
    if (due.delivered || excess.delivered > 0) await this.#forget(webhookId, false, excess.delivered, now - kept.delivered);
    if (due.dead || excess.dead > 0) await this.#forget(webhookId, true, excess.dead, now - kept.dead);
  }

  #note(webhookId: string, dropped: Dropped): void {
    if (this.#host.isKnown?.(webhookId) === false) return;
    const sum = { ...this.dropped(webhookId) };
    add(sum, dropped);
    this.#dropped.set(webhookId, sum);
    this.#host.log.warn({ webhook: webhookId, dropped }, 'webhook.dropped');
    this.#host.trimmed(webhookId);
  }

  /** Removes rows above the bounds of rows and bytes. Couriers deliver meanwhile, so each batch begins with a fresh tally. */
  #trim(first: Tally, dropped: Record<string, number>): Promise<void> {
    const { deliveries, policy } = this.#host;
    const { webhookId } = first;
    let tally: Tally | undefined = first;
    return this.#inPieces(async () => {
      const { waiting, parked, bytes } = tally ?? (await deliveries.tally([webhookId]))[0] ?? { waiting: 0, parked: 0, bytes: 0 };
      tally = undefined;
      const excess = { rows: waiting + parked - policy.bounds.rows, bytes: bytes - policy.bounds.bytes, before: 0 };
      if (excess.rows <= 0 && excess.bytes <= 0) return true;
      for (const types of classes) if (add(dropped, await deliveries.trim(webhookId, types, excess))) return false;
      return true;
    });
  }

  #trimAges(webhookId: string, dropped: Record<string, number>): Promise<void> {
    const { deliveries, policy, time } = this.#host;
    const excess = { rows: 0, bytes: 0, before: time.now() - policy.bounds.age };
    return this.#inPieces(async () => !add(dropped, await deliveries.trim(webhookId, eventTypes, excess)));
  }

  #forget(webhookId: string, dead: boolean, rows: number, before: number): Promise<void> {
    return this.#inPieces(async () => (await this.#host.deliveries.forget(webhookId, dead, { rows: Math.max(0, rows), before })) === 0);
  }

  /** Runs batches until a batch returns true (nothing is left), or until `piecesPerRound` batches have run. */
  async #inPieces(piece: () => Promise<boolean>): Promise<void> {
    for (let count = 0; count < piecesPerRound; count += 1) if (await piece()) return;
  }
}
