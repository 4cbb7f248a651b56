/** Shapes of webhooks and of their error history. */
import { Type } from 'typebox';
import { deliveryStates, eventNames, eventTypes, messageFilters } from '#actors/gateway.ts';
import { deliveryDetailsFields, deliveryErrorFields, deliveryFields, webhookFields } from '#src/contract/views.ts';
import { Count, fields, Flag, FreeObject, OneOf, optional, ref, Text } from './common.ts';

const names = (known: readonly string[], description: string) =>
  Type.Array(Type.String({ maxLength: 64, examples: [known[0]] }), { maxItems: 64, description: `${description}: ${known.join(', ')}` });

const Events = names(
  eventTypes,
  'Event types, or `All`, which means all but `newsletter_messages`; `status_posts` is taken too, and no such event is made',
);
const Filters = names(messageFilters, 'Messages that are not delivered');

const privacy = {
  secret: optional(
    Type.Unsafe<string | true>({
      type: ['string', 'boolean'],
      maxLength: 128,
      not: { const: false },
      description:
        'Signs deliveries as in the Standard Webhooks specification: true makes a secret and shows it once, `whsec_…` sets one, an empty text removes it',
    }),
  ),
  headers: optional(
    Type.Record(Type.String(), Type.String({ maxLength: 4096 }), {
      maxProperties: 20,
      description: 'Sent with every delivery, such as `Authorization`; an empty object removes them',
    }),
  ),
};

const addressing = {
  addUrlEvents: optional(Flag('Append the event type to the path')),
  addUrlTypesMessages: optional(Flag('Append the message type to the path')),
};

export const Webhook = Type.Object(webhookFields, {
  $id: 'Webhook',
  examples: [
    {
      id: 'r99887766554433',
      enabled: true,
      url: 'https://example.com/hook',
      events: ['messages', 'connection'],
      excludeMessages: ['wasSentByApi'],
      addUrlEvents: false,
      addUrlTypesMessages: false,
    },
  ],
});

export const WebhookAnswer = ref(Webhook);
export const WebhooksAnswer = Type.Array(WebhookAnswer);

const Url = Type.String({ maxLength: 2048, description: 'Address of the receiver, http or https', examples: ['https://example.com/hook'] });

export const WebhookBody = Type.Object({
  id: optional(Text(64, 'For update and delete')),
  enabled: optional(Flag('True if events are delivered')),
  url: optional(Url),
  events: optional(Events),
  excludeMessages: optional(Filters),
  ...addressing,
  ...privacy,
  action: optional(
    OneOf(['add', 'update', 'delete', ''], {
      description: 'Without it, or empty, the one webhook of simple mode is set',
    }),
  ),
});

/** The names of events. At least one must be known, because a webhook with only unknown names would never get an event. */
const KnownEvents = Type.Unsafe<string[]>({ ...Events, contains: { enum: [...eventNames] } });

const WebUrl = Type.String({
  maxLength: 2048,
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^\\s]+$',
  description: 'An http or https address',
  examples: ['https://example.com/hook'],
});

export const GlobalWebhookBody = Type.Object({
  url: WebUrl,
  enabled: optional(Flag('false switches it off; it is on when this is left out')),
  events: KnownEvents,
  excludeMessages: optional(Filters),
  ...addressing,
  ...privacy,
});

export const ErrorsAnswer = Type.Array(Type.Object(deliveryErrorFields));

// Shapes of deliveries: queries and answers.

const WebhookId = Text(64, 'Id of a webhook; all of the owner when absent');

const someTime = 'Time of the event: ISO 8601 or Unix milliseconds';

export const DeliveryQuery = Type.Object({
  webhook: optional(WebhookId),
  state: optional(OneOf(deliveryStates, { description: 'Only deliveries in this state' })),
  from: optional(Text(40, someTime)),
  to: optional(Text(40, 'The same; both are included')),
  limit: optional(Count(0, 999_999, 'At most 500; 100 when absent')),
  offset: optional(Count(0, 999_999, 'So many of the newest are left out')),
});

/** Makes the schema of one text or a list of texts. */
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
  id: optional(oneOrMore({ minLength: 1, maxLength: 64 }, 1000, 'Id of an event, as in the header `webhook-id`, or a list of such ids')),
  event: optional(
    Type.Unsafe<string | readonly string[]>({
      type: ['string', 'array'],
      items: { type: 'string' },
      maxItems: 64,
      description: `Event types: ${eventTypes.join(', ')}`,
    }),
  ),
  from: optional(Moment(someTime)),
  to: optional(Moment('The same; both are included')),
  state: optional(
    Type.Unsafe<string | readonly string[]>({
      type: ['string', 'array'],
      items: { type: 'string' },
      maxItems: 8,
      description: 'dead, delivered, parked; all of them when absent',
    }),
  ),
  webhook: optional(WebhookId),
  limit: optional(Type.Integer({ minimum: 1, maximum: 10_000, description: '1000 when absent; the oldest first' })),
});

export const TestBody = Type.Object({
  id: optional(Text(64, 'Id of the webhook; if absent, the webhook of simple mode')),
  event: optional(
    Type.String({ enum: [...eventTypes, 'test'], description: 'Event type that the test pretends to be; `test` when absent' }),
  ),
});

const Queue = Type.Object({
  webhook: Type.String(),
  ...fields('waiting parked bytes', Type.Integer()),
  dropped: Type.Record(Type.String(), Type.Integer(), {
    description: 'Events that were dropped since the start because too many waited, by event type',
  }),
});

export const Delivery = Type.Object(deliveryFields, {
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
});

export const DeliveriesAnswer = Type.Object({
  deliveries: Type.Array(ref(Delivery)),
  ...fields('limit offset', Type.Integer()),
  hasMore: Type.Boolean(),
  queues: Type.Array(Queue),
});

export const DeliveryParams = Type.Object({ id: Text(64, 'Id of the event, as in the header `webhook-id`') });

export const OneDeliveryQuery = Type.Object({
  webhook: optional(Text(64, 'Id of a webhook; the newest delivery of the event when absent')),
});

export const OneDeliveryAnswer = Type.Object(deliveryDetailsFields);

export const ReplayAnswer = Type.Object({ replayed: Type.Integer() });

export const TestAnswer = Type.Object({
  ok: Type.Boolean(),
  ...fields('id url', Type.String()),
  ms: Type.Integer(),
  status_code: optional(Type.Integer()),
  error: optional(Type.String()),
});

// Shapes of the connector to Chatwoot.

const most = Number.MAX_SAFE_INTEGER;

const token = {
  description: 'Access token of an agent or administrator; answers show *** in its place, which sent back keeps the stored one',
  examples: ['pXXGHHHyJPYHYgWHJHYHgJjj'],
};

export const ChatwootSettings = Type.Object({
  chatwoot_enabled: Flag('Messages become messages in the inbox'),
  chatwoot_url: Type.String({ examples: ['https://app.chatwoot.com'] }),
  chatwoot_account_id: Type.Integer({ examples: [1] }),
  chatwoot_inbox_id: Type.Integer({ examples: [5] }),
  chatwoot_access_token: Type.String({ ...token, examples: ['***'] }),
  chatwoot_ignore_groups: Type.Boolean(),
  chatwoot_sign_messages: Type.Boolean(),
  chatwoot_create_new_conversation: Type.Boolean(),
});

export const ChatwootBody = Type.Object({
  enabled: Flag('Messages become messages in the inbox'),
  url: Type.String({
    minLength: 1,
    maxLength: 2048,
    description: 'Address of the server, http or https',
    examples: ['https://app.chatwoot.com'],
  }),
  access_token: Type.String({ minLength: 1, maxLength: 500, ...token }),
  account_id: Count(1, most, 'The number in the addresses of the dashboard of Chatwoot'),
  inbox_id: Count(1, most, 'An inbox of the type API'),
  ignore_groups: optional(Flag('Messages of groups stay out')),
  sign_messages: optional(Flag('Start messages of agents with the name of the agent')),
  create_new_conversation: optional(
    Flag('After a conversation was resolved the next message begins a new one, instead of opening it again'),
  ),
});

export const ChatwootSaved = Type.Object({
  message: Type.String({ examples: ['Chatwoot settings saved'] }),
  chatwoot_inbox_webhook_url: Type.String({
    description: 'To be entered as the webhook of the inbox; everybody who knows it can write in the name of the instance',
    examples: ['https://api.example.com/chatwoot/webhook/yIDBe3RNJyRhqZ0vRkIqKcs0KNSWvW4r'],
  }),
});

export const ChatwootTested = Type.Object({
  ok: Type.Boolean({ description: 'Chatwoot knows the inbox and takes the token' }),
  ms: Type.Integer({ description: 'Milliseconds until the answer' }),
  error: optional(Type.String({ description: 'The reason, if it failed', examples: ['Chatwoot does not take the access token'] })),
});

export const HookParams = Type.Object({
  hook: Type.String({
    maxLength: 64,
    description: 'The end of the address that PUT /chatwoot/config answered',
    examples: ['yIDBe3RNJyRhqZ0vRkIqKcs0KNSWvW4r'],
  }),
});

export const HookBody = FreeObject('An event of Chatwoot, such as message_created');

export const HookAnswer = Type.Object({ message: Type.String({ examples: ['accepted'] }) });
