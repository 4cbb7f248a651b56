/**
 * The part of the outbox that one courier holds in memory, bounded in rows and bytes. A lane whose first row is parked is held: it takes no memory, and
 * those of its rows that a page shows are parked until the same time, so that no page shows them twice.
 *
 * The outbox decides what is delivered: each row stays in it until it was delivered, given up or dropped. New rows come in by their commit while the
 * window holds everything that is due; otherwise they are read from the outbox, page by page, when there is room again.
 */
import type { Claim, Delivery, LastAttempt } from '../model.ts';
import type { DeliveryPolicy } from '../policy/policy.ts';
import type { HeldRow, OutboxStore, Time } from '../ports.ts';
import { storageRetryMs } from '../waiting.ts';
import { Alarm } from './alarm.ts';
import { FinishedDeliveries } from './finished-deliveries.ts';
import { HeldLanes } from './held-lanes.ts';
import { Lanes } from './lanes.ts';

/** Held lanes that are known by name: 1 MB at 100 bytes each. With more of them every row is read from the outbox. */
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
  /** False for a row of an earlier time that the webhook does not want any more. */
  wants(row: Delivery): boolean;
  /** Rows may be ready to be sent, or there may be room for more. */
  changed(): void;
  /** Runs what nobody awaits; `again` is called after a pause when storage failed. */
  run(task: () => Promise<void>, again: () => void): void;
}

export class OutboxWindow {
  readonly #host: WindowHost;
  readonly #lanes = new Lanes();
  readonly #held = new HeldLanes();
  readonly #finished: FinishedDeliveries;
  /** A parked row is due. */
  readonly #due: Alarm;
  /** Rows that left the window or the outbox while a page was read: the page may hold them as they were before. */
  readonly #leftMeanwhile = new Set<number>();
  /** Rows are due that are not in memory. */
  #isBehind = true;
  #isReading = false;
  /** The next page shows rows that are parked for later too. So does the first one, since nothing is known of the receiver yet. */
  #isEarly = true;
  /** Rows that are over and still stand in the outbox as parked for later: there they hold their lanes. */
  readonly #gone = new Set<number>();
  /** Rows were committed while a page was read: neither the page nor memory may hold them. */
  #isPageOld = false;
  #isStopped = false;

  constructor(host: WindowHost) {
    this.#host = host;
    this.#finished = new FinishedDeliveries(host.outbox, host.policy, () => host.claim());
    this.#due = new Alarm(host.time, () => this.readMore());
  }

  /** Rows in memory. */
  get size(): number {
    return this.#lanes.size;
  }

  /** Rows are due, or may be, that are not in memory. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** A lane is held by a parked row. */
  get isHolding(): boolean {
    return !this.#held.isEmpty;
  }

  /** Lanes with a row that is being sent. */
  get underWay(): number {
    return this.#lanes.underWay;
  }

  /** Takes committed rows. Without any, rows may wait in the outbox. */
  add(rows: readonly Delivery[]): void {
    if (rows.length === 0) this.#isBehind = true;
    if (this.#isReading) this.#isPageOld = true;
    else for (const row of rows) this.#addCommitted(row);
    this.#host.changed();
  }

  /** Forgets what is not under way and reads it again. */
  readAgain(): void {
    this.#lanes.clear();
    this.#isPageOld = true;
    this.readMore();
  }

  /** Looks for rows in the outbox, when there is room. */
  readMore(): void {
    this.#isBehind = true;
    this.#host.changed();
  }

  /** Reads one page with what is parked for later, when anything may be: the receiver may be back. */
  readEarly(): void {
    if (this.#held.isEmpty && !this.#isBehind) return;
    this.#isEarly = true;
    this.#isBehind = true;
  }

  /** Reads the next page when rows are due that are not in memory, and half of it is free. */
  fill(): void {
    const { policy } = this.#host;
    const isHalfFull = this.#lanes.size > policy.inMemory / 2 || this.#lanes.bytes > policy.inMemoryBytes / 2;
    if (!this.#isBehind || this.#isReading || this.#isStopped || isHalfFull || this.#gone.size > 0) return;
    this.#isReading = true;
    this.#isPageOld = false;
    this.#held.beginRead();
    this.#host.run(
      () => this.#readPage(),
      () => this.fill(),
    );
  }

  /** The head of a lane that has no row under way; the lane is taken until the row comes back by one of the methods below. */
  take(): Delivery | null {
    return this.#lanes.take();
  }

  /** No row that was delivered is left in the outbox. */
  get isClean(): boolean {
    return this.#finished.isEmpty;
  }

  /** The row, as it is now, is the head of its lane again. */
  putBack(row: Delivery): void {
    this.#lanes.putBack(row);
  }

  /** The row leaves memory and stays in the outbox; its lane goes on. */
  release(row: Delivery): void {
    this.#lanes.finish(row);
    if (this.#held.has(row.lane)) this.#isBehind = true;
    this.#noteLeft(row.seq);
    this.#host.changed();
  }

  /** The row was delivered, or (`dead`) given up: it leaves the outbox soon. Its lane goes on. */
  finish(row: Delivery, { attempts, status, error }: LastAttempt, dead: boolean): void {
    this.#finished.add(row.seq, { seq: row.seq, attempts, status, error, dead, endedAt: this.#host.time.now() });
    this.#noteGone(row);
    this.#removeFinished();
    this.release(row);
  }

  /** Sets the row back to a later time, and holds its lane. */
  async park(row: Delivery, delay: number, last: LastAttempt): Promise<void> {
    const notBefore = this.#host.time.now() + delay;
    try {
      await this.#held.whileParking(row.lane, () => this.#host.outbox.postpone({ seq: row.seq, ...this.#host.claim() }, notBefore, last));
      if (!this.#isStopped) this.#due.set(notBefore);
    } finally {
      this.#drop(row);
    }
  }

  /** The row, which is parked for later, stays so; its lane is held. */
  leave(row: Delivery): void {
    this.#held.add(row.lane);
    this.#due.set(row.notBefore);
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
    if (this.#isReading) this.#leftMeanwhile.add(seq);
  }

  async #readPage(): Promise<void> {
    const { outbox, time, policy, webhookId, instanceId } = this.#host;
    const [isEarly, now] = [this.#isEarly, time.now()];
    this.#isEarly = false;
    let [added, isRead] = [0, false];
    try {
      const most = { rows: policy.inMemory, bytes: policy.inMemoryBytes };
      const { rows, held, more } = await outbox.due(webhookId, instanceId, isEarly ? anyTime : now, most);
      await this.#hold(held);
      const next = more ? null : await outbox.nextDue(webhookId, instanceId);
      const lanes = next === null ? [] : await outbox.heldLanes(webhookId, instanceId, now, mostHeld);
      for (const row of rows) if (this.#addRead(row)) added += 1;
      this.#held.endRead(lanes);
      this.#isBehind = more || this.#isPageOld || lanes.length === mostHeld;
      isRead = true;
      // A parked row that is due is on this page and under way. Until it is gone it hides the parked rows after it.
      if (next !== null && !this.#isStopped) this.#due.set(Math.max(next, time.now() + storageRetryMs));
    } finally {
      if (isEarly && !isRead) this.#isEarly = true;
      this.#isReading = false;
      this.#leftMeanwhile.clear();
    }
    // A full page of rows that are all leaving the outbox adds nothing; the next one is read when they are gone.
    if (added > 0 || this.#isPageOld) this.#host.changed();
  }

  /** Parks rows until the time of the one that holds them, so that the next page begins behind them. Those of lanes in memory have their turn soon. */
  async #hold(held: readonly HeldRow[]): Promise<void> {
    const rows = held.filter(({ lane }) => !this.#lanes.has(lane));
    if (rows.length === 0) return;
    await this.#host.outbox.hold(rows.map((row) => ({ ...row, ...this.#host.claim() })));
    this.#isPageOld = true;
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
    if (row.notBefore > this.#host.time.now()) this.#gone.add(row.seq);
  }

  /** Takes finished rows out of the outbox, one statement after the other. */
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
