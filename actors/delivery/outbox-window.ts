/**
 * The part of the outbox that one courier holds in memory, bounded in rows and bytes. A parked row holds its lane, which then takes no memory. If a page of
 * the outbox shows later rows of a held lane, these rows are parked until the same time, so that no page shows them twice.
 *
 * The outbox is the source of truth: a row stays in the outbox until it is delivered, given up or dropped. While the window holds all due rows, committed
 * rows enter the window at once. Otherwise rows are read page by page, when there is room again.
 */
import type { Claim, Delivery, LastAttempt } from '../model.ts';
import type { DeliveryPolicy } from '../policy/policy.ts';
import type { HeldRow, OutboxStore, Time } from '../ports.ts';
import { storageRetryMs } from '../waiting.ts';
import { Alarm } from './alarm.ts';
import { EarlyTries } from './early-tries.ts';
import { FinishedDeliveries } from './finished-deliveries.ts';
import { HeldLanes, Lanes } from './lanes.ts';
import { longestParking } from './receiver-health.ts';

/** The largest number of held lanes that are known by name: 1 MB at 100 bytes each. With more lanes, every row is read from the outbox. */
const mostHeld = 10_000;
/** A time after all times of parked rows. */
const anyTime = Number.MAX_SAFE_INTEGER - 1;

export interface WindowHost {
  readonly outbox: OutboxStore;
  readonly time: Time;
  readonly policy: DeliveryPolicy;
  readonly webhookId: string;
  readonly instanceId: string;
  claim(): Claim;
  /** Returns false for an older row that the webhook no longer wants. */
  wants(row: Delivery): boolean;
  /** Reports that rows may be ready to send, or that there may be room for more. */
  changed(): void;
  /** Runs a task in the background. Calls `again` after a pause if storage failed. */
  run(task: () => Promise<void>, again: () => void): void;
}

/**
 * Returns a clock in Unix milliseconds that starts with the wall clock and runs with the monotonic clock. A step of the wall clock neither lengthens nor
 * shortens a wait. For another process, a stored time of this clock may be off by the step.
 */
const steadyClock = (time: Pick<Time, 'now' | 'monotonic'>): (() => number) => {
  const ahead = time.now() - time.monotonic();
  return () => Math.round(time.monotonic() + ahead);
};

export class OutboxWindow {
  readonly #host: WindowHost;
  readonly #lanes = new Lanes();
  readonly #held = new HeldLanes();
  readonly #now: () => number;
  readonly #finished: FinishedDeliveries;
  /** Rings when a parked row is due. */
  readonly #due: Alarm;
  /** Rows that left the window or the outbox while a page was read. The page may still show these rows. */
  readonly #leftMeanwhile = new Set<number>();
  /** True if due rows are missing in memory. */
  #isBehind = true;
  /**
   * The rows for later that the next page includes: none, those of held lanes that may be tried early, or all. The first page includes all, because the state
   * of the receiver is unknown.
   */
  #early: 'none' | 'ready' | 'all' = 'all';
  readonly #earlyTries: EarlyTries;
  /** The time from which a page may include the held lanes that may be tried early. A receiver that flaps therefore causes few reads. */
  #readyFrom = 0;
  /** The time at which a held lane may be tried early; Infinity if no lane waits for such a time. */
  #nextReady = Infinity;
  /** Ended rows that the outbox still stores as parked. No page is read until these rows are removed, because they still hold their lanes in the outbox. */
  readonly #gone = new Set<number>();
  /** The page that is read now. The page is old if rows were committed meanwhile. Such rows may be missing both in the page and in memory. */
  #page: 'none' | 'current' | 'old' = 'none';
  #isStopped = false;
  /** The time at which rows that are parked for longer than the back-off allows are tried (see `#ringAt`). */
  #earlyFrom = Infinity;

  constructor(host: WindowHost) {
    this.#host = host;
    this.#finished = new FinishedDeliveries(host.outbox, host.policy, () => host.claim());
    this.#earlyTries = new EarlyTries(host.policy.circuit.min);
    this.#now = steadyClock(host.time);
    this.#due = new Alarm(host.time, () => this.#dueNow(), this.#now);
  }

  /** The number of rows in memory. */
  get size(): number {
    return this.#lanes.size;
  }

  /** True if due rows are, or may be, missing in memory. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** Returns true if the row is parked for later. */
  isEarly(row: Delivery): boolean {
    return row.notBefore > this.#now();
  }

  /** True if a parked row holds a lane. */
  get isHolding(): boolean {
    return !this.#held.isEmpty;
  }

  /** The number of lanes with a row under way. */
  get underWay(): number {
    return this.#lanes.underWay;
  }

  /** Takes committed rows. An empty list means that rows may wait in the outbox. */
  add(rows: readonly Delivery[]): void {
    if (rows.length === 0) this.#isBehind = true;
    if (this.#page !== 'none') this.#page = 'old';
    else for (const row of rows) this.#addCommitted(row);
    this.#host.changed();
  }

  /** Forgets all rows except those under way, and reads the outbox again. */
  readAgain(): void {
    this.#lanes.clear();
    if (this.#page !== 'none') this.#page = 'old';
    this.readMore();
  }

  /** Searches the outbox for rows as soon as there is room. */
  readMore(): void {
    this.#isBehind = true;
    this.#host.changed();
  }

  /** Makes the next page include rows that are parked for later, because the receiver may be back. Has no effect if no such row can exist. */
  readEarly(): void {
    this.#readHeld('all');
  }

  /** Tries each held lane once more, because the receiver accepted an event after a failure. Lanes that rest are tried when their rest ends. */
  recovered(): void {
    this.#earlyTries.recovered();
    if (this.#readyFrom <= this.#now()) this.#readHeld('ready');
    else if (this.#mayHold) this.#ringReady(this.#readyFrom);
  }

  /** False if no row is parked for later. While rows are missing in memory, held lanes are not known by name. */
  get #mayHold(): boolean {
    return !this.#held.isEmpty || this.#isBehind;
  }

  #readHeld(early: 'ready' | 'all'): void {
    if (!this.#mayHold) return;
    if (this.#early !== 'all') this.#early = early;
    if (this.#page !== 'none') this.#page = 'old';
    this.#isBehind = true;
  }

  #ringReady(at: number): void {
    this.#nextReady = Math.min(this.#nextReady, at);
    this.#due.set(this.#nextReady);
  }

  /** Reads the next page if due rows are missing in memory, and half of the memory is free. */
  fill(): void {
    const { policy } = this.#host;
    const isHalfFull = this.#lanes.size > policy.inMemory / 2 || this.#lanes.bytes > policy.inMemoryBytes / 2;
    if (!this.#isBehind || this.#page !== 'none' || this.#isStopped || isHalfFull || this.#gone.size > 0) return;
    this.#page = 'current';
    this.#held.beginRead();
    this.#host.run(
      () => this.#readPage(),
      () => this.fill(),
    );
  }

  /** Takes the head of a ready lane, or returns null. The lane stays taken until `putBack`, `release`, `finish`, `park` or `leave`. */
  take(): Delivery | null {
    return this.#lanes.take();
  }

  /** True if no delivered row is left in the outbox. */
  get isClean(): boolean {
    return this.#finished.isEmpty;
  }

  /** Makes the given version of the row the head of its lane again. */
  putBack(row: Delivery): void {
    this.#lanes.putBack(row);
  }

  /** Removes the row and all later rows of its lane from memory, and keeps them in the outbox, from which they are read again. */
  release(row: Delivery): void {
    this.#lanes.drop(row);
    if (this.#page !== 'none') this.#page = 'old';
    this.readMore();
  }

  /** Ends a row that was delivered or (`dead`) given up. The row leaves the outbox soon. Its lane continues. */
  finish(row: Delivery, last: LastAttempt, dead: boolean): void {
    this.#finished.add(row.seq, { ...last, seq: row.seq, dead, endedAt: this.#host.time.now() });
    this.#noteGone(row);
    this.#removeFinished();
    this.#lanes.finish(row);
    this.#earlyTries.ended(row.lane);
    if (this.#held.has(row.lane)) this.#isBehind = true;
    this.#noteLeft(row.seq);
    this.#host.changed();
  }

  /** Postpones the row, and holds its lane. */
  async park(row: Delivery, delay: number, last: LastAttempt): Promise<void> {
    const notBefore = this.#now() + delay;
    try {
      await this.#held.whileParking(row.lane, () => this.#host.outbox.postpone({ seq: row.seq, ...this.#host.claim() }, notBefore, last));
      if (!this.#isStopped) this.#ringAt(notBefore);
    } finally {
      this.#drop(row);
    }
  }

  /** Leaves a parked row parked. Its lane stays held. */
  leave(row: Delivery): void {
    this.#held.add(row.lane);
    this.#ringAt(row.notBefore);
    this.#drop(row);
  }

  stop(): void {
    this.#isStopped = true;
    this.#due.clear();
  }

  #addCommitted(row: Delivery): void {
    const { inMemory, inMemoryBytes } = this.#host.policy;
    if (this.#lanes.size >= inMemory || this.#lanes.bytes >= inMemoryBytes) this.#isBehind = true;
    if (!this.#isBehind && !this.#held.has(row.lane)) this.#lanes.add(row);
  }

  #drop(row: Delivery): void {
    this.#lanes.drop(row);
    this.#noteLeft(row.seq);
    this.#host.changed();
  }

  #noteLeft(seq: number): void {
    if (this.#page !== 'none') this.#leftMeanwhile.add(seq);
  }

  async #readPage(): Promise<void> {
    const { outbox, policy, webhookId, instanceId } = this.#host;
    const [early, now] = [this.#early, this.#now()];
    this.#early = 'none';
    if (early === 'ready') this.#readyFrom = now + policy.circuit.min;
    let [added, isRead, isOld, isStale, hasTries] = [0, false, false, false, false];
    try {
      const most = { rows: policy.inMemory, bytes: policy.inMemoryBytes };
      const { rows, held, more } = await outbox.due(webhookId, instanceId, early === 'none' ? now : anyTime, most);
      await this.#hold(held);
      const next = more ? null : await outbox.nextDue(webhookId, instanceId);
      const lanes = next === null ? [] : await outbox.heldLanes(webhookId, instanceId, now, mostHeld);
      const ready = early === 'ready' ? this.#ready(rows, now) : rows;
      for (const row of ready) {
        if (!this.#addRead(row)) continue;
        added += 1;
        if (early !== 'ready' || !this.isEarly(row)) continue;
        this.#earlyTries.began(row.lane, now);
        hasTries = true;
      }
      isStale = rows.some(({ seq }) => this.#leftMeanwhile.has(seq));
      this.#held.endRead(lanes);
      // More lanes may be ready than one page holds. A lane is tried once after a recovery, so these pages end.
      if (hasTries && more) this.#readHeld('ready');
      // The next page parks the rows behind resting lanes.
      isOld = this.#page === 'old' || (more && ready.length < rows.length);
      this.#isBehind = more || isOld || lanes.length === mostHeld;
      isRead = true;
      // A parked row that is already due is on this page and under way. Until the row is removed, `next` is its time, not the time of a later row. The
      // window therefore reads again after a pause.
      if (next !== null && !this.#isStopped) this.#ringAt(Math.max(next, this.#now() + storageRetryMs));
    } finally {
      if (early !== 'none' && !isRead) this.#readHeld(early);
      this.#page = 'none';
      this.#leftMeanwhile.clear();
    }
    // If all rows of a full page are leaving the outbox, the page adds nothing. The next page is read when these rows are removed. If a row was removed
    // during the read, its removal has already been reported, so the next page is read now.
    if (added > 0 || isOld || isStale) this.#host.changed();
  }

  /**
   * Parks rows until the time of the row that holds their lane, so that the next page begins after these rows. Rows of lanes in memory are not parked,
   * because they are posted soon.
   */
  async #hold(held: readonly HeldRow[]): Promise<void> {
    const rows = held.filter(({ lane }) => !this.#lanes.has(lane));
    if (rows.length === 0) return;
    await this.#host.outbox.hold(rows.map((row) => ({ ...row, ...this.#host.claim() })));
    this.#page = 'old';
  }

  /** Leaves out the parked rows of lanes that may not be tried early yet, and the later rows of these lanes. Rings when the rest of such a lane ends. */
  #ready(rows: readonly Delivery[], now: number): readonly Delivery[] {
    const resting = new Set<string>();
    return rows.filter((row) => {
      const from = this.isEarly(row) ? this.#earlyTries.from(row.lane) : 0;
      if (from > now) resting.add(row.lane);
      if (from > now && from < Infinity) this.#ringReady(from);
      return !resting.has(row.lane);
    });
  }

  #addRead(row: Delivery): boolean {
    if (this.#finished.has(row.seq) || this.#leftMeanwhile.has(row.seq) || this.#held.isFresh(row.lane)) return false;
    if (this.#host.wants(row)) return this.#lanes.add(row);
    this.#finished.add(row.seq, null);
    this.#noteGone(row);
    this.#removeFinished();
    return false;
  }

  #noteGone(row: Delivery): void {
    if (this.isEarly(row)) this.#gone.add(row.seq);
  }

  /**
   * Sets the alarm for a parked row. Another process whose clock was ahead may have parked the row for longer than the back-off allows. Such a row is tried
   * at the latest time that the back-off allows.
   */
  #ringAt(notBefore: number): void {
    const latest = this.#now() + longestParking(this.#host.policy);
    if (notBefore > latest) this.#earlyFrom = Math.min(this.#earlyFrom, latest);
    this.#due.set(Math.min(notBefore, latest));
  }

  #dueNow(): void {
    if (this.#now() >= this.#earlyFrom) {
      this.#earlyFrom = Infinity;
      this.readEarly();
    }
    if (this.#now() >= this.#nextReady) {
      this.#nextReady = Infinity;
      this.#readHeld('ready');
    } else if (this.#nextReady < Infinity) this.#due.set(this.#nextReady);
    this.readMore();
  }

  /** Removes finished rows from the outbox. */
  #removeFinished(): void {
    if (this.#isStopped || !this.#finished.waiting) return;
    this.#host.run(
      async () => {
        for (const seq of await this.#finished.takeOut()) {
          this.#noteLeft(seq);
          this.#gone.delete(seq);
        }
        this.#removeFinished();
        this.#host.changed();
      },
      () => this.#removeFinished(),
    );
  }
}
