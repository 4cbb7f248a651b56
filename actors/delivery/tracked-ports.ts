/**
 * Wrappers around the ports of the couriers. The wrappers batch the statements of all couriers, and count the calls, so that a stop can wait for
 * their end.
 */
import type { OutboxStore, Receiver, Time } from '../ports.ts';
import type { UnderWay } from '../waiting.ts';
import type { EventConnector } from './courier-host.ts';
import { microBatch } from './micro-batch.ts';

/**
 * Pause between two batches. A crash within the pause repeats a few more events. Without the pause, each statement would remove the rows of two or
 * three posts only. In milliseconds.
 */
const restMs = 10;

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
