/** The answers of the fake gateway about deliveries. */
import { done, type DeliveryDetails, type Gateway } from '#actors/gateway.ts';
import type { Attempt } from './definitions.ts';
import { instance as sample, now } from '#test/contract/samples.ts';

/** A delivery that the receiver refused once, with the text of that answer. */
const deliveryDetails: DeliveryDetails = {
  webhookId: 'w1',
  instanceId: sample.record.id,
  eventId: 'e1',
  type: 'messages',
  messageType: 'text',
  state: 'parked',
  attempts: 1,
  status: 503,
  error: 'webhook returned non-success status: 503 Service Unavailable',
  at: now,
  notBefore: now + 60_000,
  endedAt: 0,
  nextAttempt: now + 60_000,
  reason: 'webhook returned non-success status: 503 Service Unavailable',
  url: 'https://example.com/hook',
  headers: { 'webhook-id': 'e1', Authorization: '***' },
  payload: { EventType: 'messages', token: '***' },
  tries: [{ at: now, ms: 12, status: 503, error: 'webhook returned non-success status: 503 Service Unavailable', answer: 'out of order' }],
};

export const deliveryCalls = (attempt: Attempt): Pick<Gateway, 'deliveries' | 'delivery' | 'testWebhook'> => ({
  deliveries: () => attempt(() => done({ deliveries: [], more: false, queues: [] })),
  delivery: () => attempt(() => done(deliveryDetails)),
  testWebhook: () => attempt(() => done({ id: 'test_1', url: 'https://example.com/hook', outcome: { ok: true, status: 200 }, ms: 1 })),
});
