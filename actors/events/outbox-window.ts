/**
 * The part of the outbox that one courier holds in memory, bounded in rows and bytes.
 *
 * The outbox decides what is delivered: each row stays in it until it was delivered, given up or dropped. New rows come in by their commit while the
 * window holds everything that is due; otherwise they are read from the outbox, page by page, when there is room again.
 */
import type { Claim, Delivery, LastAttempt } from '../model.ts';
import type { DeliveryPolicy } from '../policy/policy.ts';
import type { OutboxStore, Time } from '../ports.ts';
import { storageRetryMs } from '../waiting.ts';
import { Alarm } from './alarm.ts';
import { FinishedDeliveries } from './finished-deliveries.ts';
import { Lanes } from './lanes.ts';

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
  readonly #finished: FinishedDeliveries;
  /** A parked row is due. */
  readonly #due: Alarm;
  /** Rows that left the window or the outbox while a page was read: the page may hold them as they were before. */
  readonly #leftMeanwhile = new Set<number>();
  /** Rows are due that are not in memory. */
  #isBehind = true;
  #isReading = false;
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

  /** Reads the next page when rows are due that are not in memory, and half of it is free. */
  fill(): void {
    const { policy } = this.#host;
    const isHalfFull = this.#lanes.size > policy.inMemory / 2 || this.#lanes.bytes > policy.inMemoryBytes / 2;
    if (!this.#isBehind || this.#isReading || this.#isStopped || isHalfFull) return;
    this.#isReading = true;
    this.#isPageOld = false;
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
    this.#noteLeft(row.seq);
    this.#host.changed();
  }

  /** The row was delivered, or (`dead`) given up: it leaves the outbox soon. Its lane goes on. */
  finish(row: Delivery, { attempts, status, error }: LastAttempt, dead: boolean): void {
    this.#finished.add(row.seq, { seq: row.seq, attempts, status, error, dead, endedAt: this.#host.time.now() });
    this.#removeFinished();
    this.release(row);
  }

  /** Sets the row back to a later time; its lane goes on. */
  async park(row: Delivery, delay: number, last: LastAttempt): Promise<void> {
    const notBefore = this.#host.time.now() + delay;
    try {
      await this.#host.outbox.postpone({ seq: row.seq, ...this.#host.claim() }, notBefore, last);
      if (!this.#isStopped) this.#due.set(notBefore);
    } finally {
      this.release(row);
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#due.clear();
  }

  #addCommitted(row: Delivery): void {
    const { inMemory, inMemoryBytes } = this.#host.policy;
    if (this.#lanes.size >= inMemory || this.#lanes.bytes >= inMemoryBytes) this.#isBehind = true;
    if (!this.#isBehind) this.#lanes.add(row);
  }

  #noteLeft(seq: number): void {
    if (this.#isReading) this.#leftMeanwhile.add(seq);
  }

  async #readPage(): Promise<void> {
    const { outbox, time, policy, webhookId, instanceId } = this.#host;
    let added = 0;
    try {
      const { rows, more } = await outbox.due(webhookId, instanceId, time.now(), { rows: policy.inMemory, bytes: policy.inMemoryBytes });
      const next = more ? null : await outbox.nextDue(webhookId, instanceId);
      for (const row of rows) if (this.#addRead(row)) added += 1;
      this.#isBehind = more || this.#isPageOld;
      // A parked row that is due is on this page and under way. Until it is gone it hides the parked rows after it.
      if (next !== null && !this.#isStopped) this.#due.set(Math.max(next, time.now() + storageRetryMs));
    } finally {
      this.#isReading = false;
      this.#leftMeanwhile.clear();
    }
    // A full page of rows that are all leaving the outbox adds nothing; the next one is read when they are gone.
    if (added > 0 || this.#isPageOld) this.#host.changed();
  }

  #addRead(row: Delivery): boolean {
    if (this.#finished.has(row.seq) || this.#leftMeanwhile.has(row.seq)) return false;
    if (this.#host.wants(row)) return this.#lanes.add(row);
    this.#finished.add(row.seq, null);
    this.#removeFinished();
    return false;
  }

  /** Takes finished rows out of the outbox, one statement after the other. */
  #removeFinished(): void {
    if (this.#isStopped || !this.#finished.waiting) return;
    this.#host.run(
      async () => {
        for (const seq of await this.#finished.takeOut()) this.#noteLeft(seq);
        this.#removeFinished();
        this.#host.changed();
      },
      () => this.#removeFinished(),
    );
  }
}
