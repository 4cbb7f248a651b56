/** Webhooks of an instance and the global one, with their error histories. */
import type { FastifyReply } from 'fastify';
import type { Static } from 'typebox';
import type { ErrorHistory, Gateway, SavedWebhooks, WebhookInput } from '#actors/gateway.ts';
import { deliveryErrorView, savedWebhooksView, webhookView } from '#src/contract/views.ts';
import { answering, done, refuse } from '../outcome.ts';
import { type Route, route } from '../route.ts';
import * as shape from '../schemas/webhook.ts';

const tag = 'webhook';

/** The rules are the gateway's; here absent texts become ''. */
const inputOf = ({ action = '', id = '', url = '', ...rest }: Static<typeof shape.WebhookBody>): WebhookInput => ({
  action,
  id,
  url,
  ...pick(rest),
});

/** A delete goes by the id alone, or by the address as some clients do it; whatever else comes with it is ignored (specification 4.1 rule 4). */
const essential = (body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  const { action, id, url } = body;
  if (action !== 'delete') return body;
  return id === undefined || id === '' ? { action, ...(url === undefined ? {} : { url }) } : { action, id };
};

type Choices = Omit<WebhookInput, 'action' | 'id' | 'url'>;

/** Drops fields that nobody knows. */
const pick = ({ enabled, events, excludeMessages, addUrlEvents, addUrlTypesMessages, secret, headers }: Choices): Choices => ({
  ...(enabled === undefined ? {} : { enabled }),
  ...(events === undefined ? {} : { events }),
  ...(excludeMessages === undefined ? {} : { excludeMessages }),
  ...(addUrlEvents === undefined ? {} : { addUrlEvents }),
  ...(addUrlTypesMessages === undefined ? {} : { addUrlTypesMessages }),
  ...(secret === undefined ? {} : { secret }),
  ...(headers === undefined ? {} : { headers }),
});

const globalView = (saved: SavedWebhooks) => savedWebhooksView(saved)[0];

const historyOf = ({ since, errors }: ErrorHistory, reply: FastifyReply) => {
  void reply.header('x-webhook-error-capture-started-at', new Date(since).toISOString());
  return done(errors.map(deliveryErrorView));
};

const localRoutes = (gateway: Gateway): readonly Route[] => [
  route({
    on: ['GET /webhook'],
    credential: 'webhook',
    tag,
    summary: 'Webhooks of the instance',
    answer: shape.WebhooksAnswer,
    surprise: 'Failed to process webhook data',
    run: ({ id }) => done(gateway.webhooks(id).map(webhookView)),
  }),
  route({
    on: ['POST /webhook'],
    credential: 'webhook',
    tag,
    summary: 'Add, change or delete a webhook; without action and id there is one that is created or changed',
    body: shape.WebhookBody,
    essential,
    answer: shape.WebhooksAnswer,
    complaints: { action: 'Invalid action' },
    surprise: 'Could not save webhook',
    run: async ({ id, body }) => answering(savedWebhooksView)(await gateway.saveWebhook(id, inputOf(body))),
  }),
  route({
    on: ['GET /webhook/errors'],
    credential: 'webhook',
    tag,
    summary: 'The last 20 failed deliveries of the instance, kept in memory',
    answer: shape.ErrorsAnswer,
    run: ({ id, reply }) => historyOf(gateway.webhookErrors(id), reply),
  }),
];

const globalRoutes = (gateway: Gateway): readonly Route[] => [
  route({
    on: ['GET /globalwebhook'],
    credential: 'globalWebhook',
    tag,
    summary: 'The webhook that gets the events of all instances',
    answer: shape.WebhookAnswer,
    run: () => {
      const webhook = gateway.globalWebhook();
      return webhook === null ? refuse('notFound', 'Global webhook not found') : done(webhookView(webhook));
    },
  }),
  route({
    on: ['POST /globalwebhook'],
    credential: 'globalWebhook',
    tag,
    summary: 'Set the webhook that gets the events of all instances',
    body: shape.GlobalWebhookBody,
    answer: shape.WebhookAnswer,
    complaints: { '*': 'Invalid payload' },
    surprise: 'Failed to save global webhook to database',
    // There is no way to switch it off: what is saved works.
    run: async ({ body: { url, ...choices } }) =>
      answering(globalView)(await gateway.saveGlobalWebhook({ ...pick({ ...choices, enabled: true }), action: '', id: '', url })),
  }),
  route({
    on: ['GET /globalwebhook/errors'],
    credential: 'globalWebhook',
    tag,
    summary: 'The last 20 failed deliveries of the global webhook, kept in memory',
    answer: shape.ErrorsAnswer,
    run: ({ reply }) => historyOf(gateway.globalWebhookErrors(), reply),
  }),
];

export const webhookRoutes = (gateway: Gateway): readonly Route[] => [...localRoutes(gateway), ...globalRoutes(gateway)];
