/** Shapes of deliveries: what is asked about them, and what is answered. */
import { Type } from 'typebox';
import { deliveryStates, eventTypes } from '#actors/gateway.ts';
import { Count, fields, OneOf, optional, ref, Text } from './common.ts';

const Webhook = Text(64, 'Id of a webhook; all of the owner when absent');

export const DeliveryQuery = Type.Object({
  webhook: optional(Webhook),
  state: optional(OneOf(deliveryStates, { description: 'Only deliveries in this state' })),
  limit: optional(Count(0, 999_999, 'At most 500; 100 when absent')),
  offset: optional(Count(0, 999_999, 'So many of the newest are left out')),
});

/** One word or several. */
const oneOrMore = <T extends string>(item: object, maxItems: number, description: string) =>
  Type.Unsafe<T | readonly T[]>({
    type: ['string', 'array'],
    ...item,
    items: { type: 'string', ...item },
    minItems: 1,
    maxItems,
    description,
  });

const Moment = (description: string) =>
  Type.Unsafe<string | number>({ type: ['string', 'integer'], minimum: 0, maximum: 8_640_000_000_000_000, maxLength: 40, description });

export const ReplayBody = Type.Object({
  id: optional(oneOrMore({ minLength: 1, maxLength: 64 }, 1000, 'Of an event, as in the header `webhook-id`; or a list of them')),
  event: optional(
    Type.Unsafe<string | readonly string[]>({
      type: ['string', 'array'],
      items: { type: 'string' },
      maxItems: 64,
      description: `Event types: ${eventTypes.join(', ')}`,
    }),
  ),
  from: optional(Moment('Time of the event: ISO 8601 or Unix milliseconds')),
  to: optional(Moment('The same; both are included')),
  state: optional(
    Type.Unsafe<string | readonly string[]>({
      type: ['string', 'array'],
      items: { type: 'string' },
      maxItems: 8,
      description: 'dead, delivered, parked; all of them when absent',
    }),
  ),
  webhook: optional(Webhook),
  limit: optional(Type.Integer({ minimum: 1, maximum: 10_000, description: '1000 when absent; the oldest first' })),
});

export const TestBody = Type.Object({
  id: optional(Text(64, 'Of the webhook; the one of simple mode when absent')),
  event: optional(
    Type.String({ enum: [...eventTypes, 'test'], description: 'Event type that the test pretends to be; `test` when absent' }),
  ),
});

const Queue = Type.Object({
  webhook: Type.String(),
  ...fields('waiting parked bytes', Type.Integer()),
  dropped: Type.Record(Type.String(), Type.Integer(), { description: 'By event type, since the start: too much waited' }),
});

export const Delivery = Type.Object(
  {
    ...fields('id webhook state event message_type created', Type.String()),
    attempts: Type.Integer(),
    instance: optional(Type.String({ description: 'Of the global webhook only' })),
    ...fields('next_attempt ended reason', optional(Type.String())),
    status_code: optional(Type.Integer()),
  },
  {
    $id: 'Delivery',
    examples: [
      {
        id: '8b1a9953c4611296a827abf8c47804d7',
        webhook: 'r99887766554433',
        state: 'parked',
        event: 'messages',
        message_type: 'text',
        attempts: 4,
        created: '2026-08-19T17:36:34.345Z',
        next_attempt: '2026-08-19T17:38:34.345Z',
        status_code: 502,
        reason: 'webhook returned non-success status: 502 Bad Gateway',
      },
    ],
  },
);

export const DeliveriesAnswer = Type.Object({
  deliveries: Type.Array(ref(Delivery)),
  ...fields('limit offset', Type.Integer()),
  hasMore: Type.Boolean(),
  queues: Type.Array(Queue),
});

export const ReplayAnswer = Type.Object({ replayed: Type.Integer() });

export const TestAnswer = Type.Object({
  ok: Type.Boolean(),
  ...fields('id url', Type.String()),
  ms: Type.Integer(),
  status_code: optional(Type.Integer()),
  error: optional(Type.String()),
});
