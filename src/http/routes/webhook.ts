/** Webhooks of an instance and the global one, with their error histories. */
import type { FastifyReply } from 'fastify';
import type { Static } from 'typebox';
import type { ErrorHistory, SavedWebhooks, WebhookInput } from '#actors/gateway.ts';
import { deliveryErrorView, savedWebhooksView, webhookView } from '#src/contract/views.ts';
import { done, mapResult, refuse, type Route, route } from '../route.ts';
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
const relevantFields = (body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
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

const globalView = (saved: SavedWebhooks) => {
  const [view] = savedWebhooksView(saved);
  if (view === undefined) throw new Error('the global webhook was saved and is not there');
  return view;
};

const captureHeader = { 'x-webhook-error-capture-started-at': 'Time since when failures are kept, ISO 8601' };

const historyOf = ({ since, errors }: ErrorHistory, reply: FastifyReply) => {
  void reply.header('x-webhook-error-capture-started-at', new Date(since).toISOString());
  return done(errors.map(deliveryErrorView));
};

const localRoutes: readonly Route[] = [
  route({
    on: ['GET /webhook'],
    operationId: 'listWebhooks',
    credential: 'webhook',
    tag,
    summary: 'List the webhooks of the instance',
    answer: shape.WebhooksAnswer,
    failure: { text: 'Failed to process webhook data' },
    run: ({ gateway, id }) => done(gateway.webhooks(id).map(webhookView)),
  }),
  route({
    on: ['POST /webhook'],
    operationId: 'saveWebhook',
    refusals: { notFound: { example: 'Webhook not found' } },
    credential: 'webhook',
    tag,
    summary: 'Add, change or delete a webhook; without action and id the one webhook of simple mode is created or changed',
    body: shape.WebhookBody,
    relevantFields,
    answer: shape.WebhooksAnswer,
    invalidTexts: { action: 'Invalid action' },
    failure: { text: 'Could not save webhook' },
    run: async ({ gateway, id, body }) => mapResult(await gateway.saveWebhook(id, inputOf(body)), savedWebhooksView),
  }),
  route({
    on: ['GET /webhook/errors'],
    operationId: 'listWebhookErrors',
    headers: captureHeader,
    credential: 'webhook',
    tag,
    summary: 'List the last 20 failed deliveries of the instance; they are kept in memory',
    answer: shape.ErrorsAnswer,
    run: async ({ gateway, id, reply }) => historyOf(await gateway.webhookErrors(id), reply),
  }),
];

const globalRoutes: readonly Route[] = [
  route({
    on: ['GET /globalwebhook'],
    operationId: 'getGlobalWebhook',
    refusals: { notFound: { example: 'Global webhook not found' } },
    credential: 'globalWebhook',
    tag,
    summary: 'Show the webhook that gets the events of all instances',
    answer: shape.WebhookAnswer,
    run: ({ gateway }) => {
      const webhook = gateway.globalWebhook();
      return webhook === null ? refuse('notFound', 'Global webhook not found') : done(webhookView(webhook));
    },
  }),
  route({
    on: ['POST /globalwebhook'],
    operationId: 'saveGlobalWebhook',
    credential: 'globalWebhook',
    tag,
    summary: 'Set the webhook that gets the events of all instances',
    body: shape.GlobalWebhookBody,
    answer: shape.WebhookAnswer,
    invalidTexts: { '*': 'Invalid payload' },
    refusals: { invalid: { text: 'Invalid payload' } },
    failure: { text: 'Failed to save global webhook to database' },
    run: async ({ gateway, body: { url, enabled = true, ...choices } }) =>
      mapResult(await gateway.saveGlobalWebhook({ ...pick({ ...choices, enabled }), action: '', id: '', url }), globalView),
  }),
  route({
    on: ['GET /globalwebhook/errors'],
    operationId: 'listGlobalWebhookErrors',
    headers: captureHeader,
    credential: 'globalWebhook',
    tag,
    summary: 'List the last 20 failed deliveries of the global webhook; they are kept in memory',
    answer: shape.ErrorsAnswer,
    run: async ({ gateway, reply }) => historyOf(await gateway.globalWebhookErrors(), reply),
  }),
];

export const webhookRoutes: readonly Route[] = [...localRoutes, ...globalRoutes];
