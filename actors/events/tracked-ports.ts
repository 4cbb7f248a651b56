/** What couriers do to the world: gathered where one statement serves all of them, and counted, so that a stop can wait for the end of it. */
import type { OutboxStore, Receiver, Time } from '../ports.ts';
import type { UnderWay } from '../waiting.ts';
import type { EventConnector } from './courier-host.ts';
import { microBatch } from './micro-batch.ts';

/** Milliseconds. A crash within them repeats a few events more; without them each statement takes out what two or three posts delivered. */
const restMs = 10;

/** What is written a delivery would else cost more than the delivery. */
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
