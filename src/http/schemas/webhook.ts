/** Shapes of webhooks and of their error history. */
import { Type } from 'typebox';
import { eventNames, eventTypes, messageFilters } from '#actors/gateway.ts';
import { fields, Flag, OneOf, optional, ref, Text } from './common.ts';

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

export const Webhook = Type.Object(
  {
    id: Type.String(),
    enabled: Type.Boolean(),
    url: Type.String(),
    events: Type.Array(Type.String()),
    excludeMessages: Type.Array(Type.String()),
    addUrlEvents: Type.Boolean(),
    addUrlTypesMessages: Type.Boolean(),
    signed: optional(Type.Boolean({ description: 'There only when deliveries are signed' })),
    headerNames: optional(Type.Array(Type.String(), { description: 'Names of the headers of its own; their values are not shown' })),
    reason: optional(Type.String({ description: 'There only when nothing is posted because the stored secret and headers are damaged' })),
    secret: optional(Type.String({ description: 'Only in the answer to the request that made it' })),
  },
  {
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
  },
);

export const WebhookAnswer = ref(Webhook);
export const WebhooksAnswer = Type.Array(WebhookAnswer);

const Url = Type.String({ maxLength: 2048, description: 'Address of the receiver, http or https', examples: ['https://example.com/hook'] });

export const WebhookBody = Type.Object({
  id: optional(Text(64, 'For update and delete')),
  enabled: optional(Flag('Whether events are delivered')),
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

/** At least one name must be known. A webhook with unknown names alone would never get an event. */
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

export const ErrorsAnswer = Type.Array(
  Type.Object({
    ...fields('created url event message_type error', Type.String()),
    type: OneOf(['local', 'global']),
    status_code: optional(Type.Integer({ description: 'Only when the receiver gave one', examples: [502] })),
    attempts: Type.Integer(),
    payload: Type.Unsafe<unknown>({ type: 'object', additionalProperties: true, description: 'The body that was posted' }),
  }),
);
