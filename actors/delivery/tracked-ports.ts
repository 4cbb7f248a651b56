/**
 * Wrappers around the ports of the couriers. The wrappers batch the statements of all couriers, and count the calls, so that a stop can wait for the end of
 * these calls.
 */
import { type OutboxStore, type Receiver, StorageFailure, StorageSlow, type Time } from '../ports.ts';
import { Pause, type UnderWay } from '../waiting.ts';
import type { EventConnector } from './courier-host.ts';

// Combines small tasks of many callers into batches. A request that comes while a batch is under way joins the next batch.

interface Ask<T> {
  readonly items: readonly T[];
  readonly settle: PromiseWithResolvers<void>;
}

/** The pause after each batch, in which more requests can join the next one. */
export interface Rest {
  readonly pause: Pick<Pause, 'wait' | 'cut'>;
  /** The length of the pause. In milliseconds. */
  readonly ms: number;
  /** The number of waiting items that ends the pause. */
  readonly enough: number;
}

/**
 * Returns a function that adds items to the next batch. `work` takes a whole batch. If `work` rejects the content, or takes too long, the items of each
 * caller are retried alone. One bad item then costs only its caller. A request that arrives between two batches, after the pause, begins a batch at once.
 */
export function microBatch<T>(work: (items: readonly T[]) => Promise<void>, rest?: Rest): (items: readonly T[]) => Promise<void> {
  let waiting: Ask<T>[] = [];
  let items = 0;
  let working = false;
  const isEnough = (): boolean => rest === undefined || items >= rest.enough;

  const alone = async ({ items, settle }: Ask<T>): Promise<void> => {
    await work(items).then(settle.resolve, settle.reject);
  };
  const together = async (asks: readonly Ask<T>[]): Promise<void> => {
    try {
      await work(asks.flatMap(({ items }) => items));
      for (const { settle } of asks) settle.resolve();
    } catch (error) {
      const apart = !(error instanceof StorageFailure) || error instanceof StorageSlow;
      if (asks.length > 1 && apart) for (const ask of asks) await alone(ask);
      else for (const { settle } of asks) settle.reject(error);
    }
  };
  const run = async (): Promise<void> => {
    working = true;
    while (waiting.length > 0) {
      const asks = waiting;
      waiting = [];
      items = 0;
      await together(asks);
      if (rest && !isEnough()) await rest.pause.wait(rest.ms);
    }
    working = false;
  };

  return (more) => {
    if (more.length === 0) return Promise.resolve();
    const settle = Promise.withResolvers<void>();
    waiting.push({ items: more, settle });
    items += more.length;
    if (!working) void run();
    else if (isEnough()) rest?.pause.cut();
    return settle.promise;
  };
}

/**
 * The pause between two batches. A kill within the pause repeats the events that were delivered meanwhile. Without the pause, most statements would remove
 * the row of one post only. A batch of 32 rows ends the pause: with 64 rows, each row would save only another 0.016 statements.
 */
const [restMs, enoughRows] = [200, 32] as const;

/** Batches the bookkeeping of deliveries. One write per delivery would cost more than the delivery itself. */
export const batchedOutbox = (outbox: OutboxStore, time: Time): OutboxStore => {
  const rest = (): Rest => ({ pause: new Pause(time), ms: restMs, enough: enoughRows });
  return {
    ...outbox,
    archive: microBatch((ended) => outbox.archive(ended), rest()),
    remove: microBatch((rows) => outbox.remove(rows), rest()),
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
