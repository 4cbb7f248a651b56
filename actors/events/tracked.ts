/** What couriers do to the world, counted, so that a stop can wait for the end of it. */
import type { OutboxStore, Receiver } from '../ports.ts';
import type { UnderWay } from '../waiting.ts';

export const trackedOutbox = (outbox: OutboxStore, underWay: UnderWay): OutboxStore => ({
  due: (webhookId, instanceId, after, now, limit) => outbox.due(webhookId, instanceId, after, now, limit),
  nextDue: (webhookId, instanceId) => outbox.nextDue(webhookId, instanceId),
  remove: (seqs) => underWay.track(outbox.remove(seqs)),
  archive: (ended) => underWay.track(outbox.archive(ended)),
  postpone: (seq, notBefore, last) => underWay.track(outbox.postpone(seq, notBefore, last)),
  pending: () => outbox.pending(),
});

export const trackedReceiver = (receiver: Receiver, underWay: UnderWay): Receiver => ({
  post: (url, body, headers) => underWay.track(receiver.post(url, body, headers)),
  objection: (url) => receiver.objection(url),
});
