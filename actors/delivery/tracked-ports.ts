/**
 * Wrappers around the ports of the couriers. The wrappers batch the statements of all couriers, and count the calls, so that a stop can wait for the end of
 * these calls.
 */
import { type OutboxStore, type Receiver, StorageFailure, StorageSlow, type Time } from '../ports.ts';
import { Pause, type UnderWay } from '../waiting.ts';
import type { EventConnector } from './courier-host.ts';

/** A request of one caller. */
interface Ask<T> {
  readonly items: readonly T[];
  readonly settle: PromiseWithResolvers<void>;
}

/** The pause after each batch, in which more requests can join the next batch. */
export interface Rest {
  readonly pause: Pick<Pause, 'wait' | 'cut'>;
  /** The length of the pause. In milliseconds. */
  readonly ms: number;
  /** The number of waiting items that ends the pause. */
  readonly enough: number;
}

/**
 * Combines small tasks of many callers into batches. A request that comes during a batch, or during the pause after it, joins the next batch. Any other
 * request begins a batch at once.
 */
export class MicroBatch<T> {
  readonly #work: (items: readonly T[]) => Promise<void>;
  readonly #rest: Rest | undefined;
  #waiting: Ask<T>[] = [];
  #items = 0;
  #isWorking = false;

  /**
   * `work` takes a whole batch. If `work` rejects the content, or takes too long, the items of each caller are retried alone. One bad item then costs only
   * its caller.
   */
  constructor(work: (items: readonly T[]) => Promise<void>, rest?: Rest) {
    this.#work = work;
    this.#rest = rest;
  }

  /** Adds items to the next batch. Resolves when `work` has handled these items. */
  add(items: readonly T[]): Promise<void> {
    if (items.length === 0) return Promise.resolve();
    const settle = Promise.withResolvers<void>();
    this.#waiting.push({ items, settle });
    this.#items += items.length;
    if (!this.#isWorking) void this.#run();
    else if (this.#isEnough) this.#rest?.pause.cut();
    return settle.promise;
  }

  get #isEnough(): boolean {
    return this.#rest === undefined || this.#items >= this.#rest.enough;
  }

  async #run(): Promise<void> {
    this.#isWorking = true;
    while (this.#waiting.length > 0) {
      const asks = this.#waiting;
      this.#waiting = [];
      this.#items = 0;
      await this.#together(asks);
      if (this.#rest && !this.#isEnough) await this.#rest.pause.wait(this.#rest.ms);
    }
    this.#isWorking = false;
  }

  async #together(asks: readonly Ask<T>[]): Promise<void> {
    try {
      await this.#work(asks.flatMap(({ items }) => items));
      for (const { settle } of asks) settle.resolve();
    } catch (error) {
      const apart = !(error instanceof StorageFailure) || error instanceof StorageSlow;
      if (asks.length > 1 && apart) for (const ask of asks) await this.#alone(ask);
      else for (const { settle } of asks) settle.reject(error);
    }
  }

  async #alone({ items, settle }: Ask<T>): Promise<void> {
    await this.#work(items).then(settle.resolve, settle.reject);
  }
}

/**
 * The pause between two batches. A kill within the pause repeats the events that were delivered meanwhile. Without the pause, most statements would remove the
 * row of one post only. 32 waiting rows end the pause early. With 64 rows, each row would save only another 0.016 statements. The pause is in milliseconds.
 */
const [restMs, enoughRows] = [200, 32] as const;

type Items<Name extends 'archive' | 'remove'> = Parameters<OutboxStore[Name]>[0][number];

/** Batches the bookkeeping of deliveries. One write per delivery would cost more than the delivery itself. */
export const batchedOutbox = (outbox: OutboxStore, time: Time): OutboxStore => {
  const rest = (): Rest => ({ pause: new Pause(time), ms: restMs, enough: enoughRows });
  const archive = new MicroBatch<Items<'archive'>>((ended) => outbox.archive(ended), rest());
  const remove = new MicroBatch<Items<'remove'>>((rows) => outbox.remove(rows), rest());
  return {
    ...outbox,
    archive: (ended) => archive.add(ended),
    remove: (rows) => remove.add(rows),
  };
};

export const trackedOutbox = (outbox: OutboxStore, underWay: UnderWay): OutboxStore => ({
  due: (webhookId, instanceId, now, most) => outbox.due(webhookId, instanceId, now, most),
  hold: (rows) => underWay.track(outbox.hold(rows)),
  heldLanes: (webhookId, instanceId, now, limit) => outbox.heldLanes(webhookId, instanceId, now, limit),
  nextDue: (webhookId, instanceId) => outbox.nextDue(webhookId, instanceId),
  remove: (rows) => underWay.track(outbox.remove(rows)),
  archive: (ended) => underWay.track(outbox.archive(ended)),
  postpone: (row, notBefore, last) => underWay.track(outbox.postpone(row, notBefore, last)),
  pending: () => outbox.pending(),
});

export const trackedReceiver = (receiver: Receiver, underWay: UnderWay): Receiver => ({
  post: (url, body, headers, cuts) => underWay.track(receiver.post(url, body, headers, cuts)),
  objection: (url) => receiver.objection(url),
});

export const trackedConnector = (connector: EventConnector, underWay: UnderWay): EventConnector => ({
  deliver: (webhook, row) => underWay.track(connector.deliver(webhook, row)),
});
