/**
 * Wrappers around the ports of the couriers. The wrappers batch the statements of all couriers, and count the calls, so that a stop can
 * wait for their end.
 */
import { type OutboxStore, type Receiver, StorageFailure, StorageSlow, type Time } from '../ports.ts';
import type { UnderWay } from '../waiting.ts';
import type { EventConnector } from './courier-host.ts';

// Combines small tasks of many callers into batches. A request that comes while a batch is under way joins the next batch.

interface Ask<T> {
  readonly items: readonly T[];
  readonly settle: PromiseWithResolvers<void>;
}

/**
 * Returns a function that adds items to the next batch. `work` takes a whole batch. If `work` rejects the content, or takes too long, the items of
 * each caller are retried alone. One bad item then costs only its caller. `rest` follows each batch, so that more requests can join the next one. A
 * request that comes when nothing works or rests begins a batch at once.
 */
export function microBatch<T>(
  work: (items: readonly T[]) => Promise<void>,
  rest: () => Promise<void> = () => Promise.resolve(),
): (items: readonly T[]) => Promise<void> {
  let waiting: Ask<T>[] = [];
  let working = false;

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
      await together(asks);
      await rest();
    }
    working = false;
  };

  return (items) => {
    if (items.length === 0) return Promise.resolve();
    const settle = Promise.withResolvers<void>();
    waiting.push({ items, settle });
    if (!working) void run();
    return settle.promise;
  };
}

/**
 * Milliseconds between the end of a batch and the next one. A crash within the pause repeats the events that were delivered meanwhile. Without the
 * pause, most statements would remove the row of one post only.
 */
const restMs = 25;

/** Batches the bookkeeping of deliveries. One write per delivery would cost more than the delivery itself. */
export const batchedOutbox = (outbox: OutboxStore, time: Time): OutboxStore => {
  const rest = (): Promise<void> => new Promise((resolve) => void time.setTimeout(resolve, restMs));
  return {
    ...outbox,
    archive: microBatch((ended) => outbox.archive(ended), rest),
    remove: microBatch((rows) => outbox.remove(rows), rest),
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
