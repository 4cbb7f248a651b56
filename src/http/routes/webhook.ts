/** Routes of the webhooks of an instance and of the global webhook, with their error histories and deliveries. */
import type { FastifyReply } from 'fastify';
import type { Static } from 'typebox';
import {
  type DeliveryFilter,
  type DeliveryPage,
  deliveryStates,
  type ErrorHistory,
  eventTypes,
  type InstanceId,
  type ReplayFilter,
  type Result,
  type SavedWebhooks,
  type WebhookInput,
} from '#actors/gateway.ts';
import {
  deliveryDetailsView,
  deliveryErrorView,
  deliveryPageView,
  isoTime,
  savedWebhooksView,
  webhookTestView,
  webhookView,
} from '#src/contract/views.ts';
import { type CredentialName, done, mapResult, refuse, type Route, route } from '../route.ts';
import * as shape from '../schemas/webhook.ts';

const tag = 'webhook';

/** Replaces absent texts by ''. The gateway validates them. */
const inputOf = ({ action = '', id = '', url = '', ...rest }: Static<typeof shape.WebhookBody>): WebhookInput => ({
  action,
  id,
  url,
  ...pick(rest),
});

/** Reduces the body of a delete to the id, or to the URL if there is no id. Some clients name the webhook by its URL. Other bodies stay unchanged. */
const relevantFields = (body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  const { action, id, url } = body;
  if (action !== 'delete') return body;
  return id === undefined || id === '' ? { action, ...(url === undefined ? {} : { url }) } : { action, id };
};

type Choices = Omit<WebhookInput, 'action' | 'id' | 'url'>;

/** Drops unknown fields. */
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
  void reply.header('x-webhook-error-capture-started-at', isoTime(since));
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

// Deliveries of the webhooks of an instance and of the global webhook: list, replay, test.

const [usualPage, largestPage, usualReplay] = [100, 500, 1000];

/** Returns the names as a list; undefined if they are absent, and null if one of them is no member of the enumeration. */
const known = <T extends string>(names: string | readonly string[] | undefined, all: readonly T[]): readonly T[] | undefined | null => {
  if (names === undefined) return undefined;
  const list = [names].flat() as T[];
  return list.every((name) => all.includes(name)) ? list : null;
};

/** Returns the Unix milliseconds of a time; undefined if it is absent, and null if the text is not a time. */
const momentOf = (value: string | number | undefined): number | undefined | null => {
  if (value === undefined || typeof value === 'number') return value;
  const at = /^\d+$/.test(value) ? Number(value) : Date.parse(value);
  return Number.isSafeInteger(at) ? at : null;
};

interface Period {
  readonly from?: number;
  readonly to?: number;
}

const periodOf = (asked: { readonly from?: string | number; readonly to?: string | number }): Result<Period> => {
  const [from, to] = [momentOf(asked.from), momentOf(asked.to)];
  if (from === null || to === null) return refuse('invalid', 'from and to must be ISO 8601 or Unix milliseconds');
  if (from !== undefined && to !== undefined && from > to) return refuse('invalid', 'from must not be later than to');
  return done({ ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) });
};

const filterOf = ({ webhook, state, limit, offset, ...times }: Static<typeof shape.DeliveryQuery>): Result<DeliveryFilter> =>
  mapResult(periodOf(times), (period) => ({
    ...(webhook === undefined ? {} : { webhook }),
    ...(state === undefined ? {} : { state }),
    ...period,
    limit: Math.min(Math.max(1, limit ?? usualPage), largestPage),
    offset: offset ?? 0,
  }));

const replayOf = (body: Static<typeof shape.ReplayBody>): Result<ReplayFilter> => {
  const { id, event, webhook, limit = usualReplay } = body;
  if ([id, event, body.state, body.from, body.to].every((one) => one === undefined))
    return refuse('invalid', `say what to replay: id, event, state (${deliveryStates.join(', ')}), from or to`);
  const types = known(event, eventTypes);
  const states = known(body.state, deliveryStates);
  const period = periodOf(body);
  if (types === null) return refuse('invalid', `event must be one of ${eventTypes.join(', ')}`);
  if (states === null) return refuse('invalid', `state must be one of ${deliveryStates.join(', ')}`);
  if (!period.ok) return period;
  return done({
    limit,
    ...(webhook === undefined ? {} : { webhook }),
    ...(id === undefined ? {} : { ids: [id].flat() }),
    ...(types === undefined ? {} : { types }),
    ...(states === undefined ? {} : { states }),
    ...period.value,
  });
};

/** One of two sets of routes: for the webhooks of an instance, or for the global webhook. */
interface Side {
  readonly path: '/webhook' | '/globalwebhook';
  readonly credential: CredentialName;
  readonly of: string;
  /** The part of each operationId that differs between the two sets. */
  readonly name: string;
  owner(id: InstanceId): InstanceId | null;
}

const sides: readonly Side[] = [
  { path: '/webhook', credential: 'webhook', of: 'of the instance', name: 'Webhook', owner: (id) => id },
  { path: '/globalwebhook', credential: 'globalWebhook', of: 'of the global webhook', name: 'GlobalWebhook', owner: () => null },
];

const missing = { notFound: { example: 'Webhook not found' } } as const;

const readingRoutes = ({ path, credential, of, name, owner }: Side): readonly Route[] => [
  route({
    on: [`GET ${path}/deliveries`],
    credential,
    tag,
    operationId: `list${name}Deliveries`,
    refusals: missing,
    summary: `List deliveries ${of}: waiting, parked, given up and lately delivered ones`,
    query: shape.DeliveryQuery,
    answer: shape.DeliveriesAnswer,
    run: async ({ gateway, id, query }) => {
      const filter = filterOf(query);
      if (!filter.ok) return filter;
      const { limit, offset } = filter.value;
      const view = (page: DeliveryPage) => ({ ...deliveryPageView(page, owner(id) === null), limit, offset });
      return mapResult(await gateway.deliveries(owner(id), filter.value), view);
    },
  }),
  route({
    on: [`GET ${path}/deliveries/:id`],
    credential,
    tag,
    operationId: `get${name}Delivery`,
    refusals: { notFound: { example: 'Delivery not found' } },
    summary: `Show one delivery ${of}: its request, and each attempt with its start, duration and outcome`,
    params: shape.DeliveryParams,
    query: shape.OneDeliveryQuery,
    answer: shape.OneDeliveryAnswer,
    run: async ({ gateway, id, params, query, request }) => {
      const shown = { withInstance: owner(id) === null, withAnswer: request.caller?.actor !== 'instanceToken' };
      return mapResult(await gateway.delivery(owner(id), { id: params.id, ...query }), (found) => deliveryDetailsView(found, shown));
    },
  }),
];

const actingRoutes = ({ path, credential, of, name, owner }: Side): readonly Route[] => [
  route({
    on: [`POST ${path}/replay`],
    credential,
    tag,
    operationId: `replay${name}Deliveries`,
    refusals: missing,
    summary: `Send deliveries ${of} again; each keeps its webhook-id`,
    body: shape.ReplayBody,
    examples: { body: { state: 'dead', from: '2026-08-19T00:00:00.000Z' } },
    answer: shape.ReplayAnswer,
    run: async ({ gateway, id, body }) => {
      const filter = replayOf(body);
      return filter.ok ? mapResult(await gateway.replay(owner(id), filter.value), (replayed) => ({ replayed })) : filter;
    },
  }),
  route({
    on: [`POST ${path}/test`],
    credential,
    tag,
    operationId: `test${name}`,
    refusals: { ...missing, limited: { example: 'another test of a webhook of this owner is under way' } },
    summary: `Post a test event (\`test: true\`) to the receiver ${of} at once and tell what it answered`,
    body: shape.TestBody,
    answer: shape.TestAnswer,
    run: async ({ gateway, id, body }) =>
      mapResult(
        await gateway.testWebhook(owner(id), {
          ...(body.id === undefined ? {} : { webhook: body.id }),
          ...(body.event === undefined ? {} : { type: body.event }),
        }),
        webhookTestView,
      ),
  }),
];

export const deliveryRoutes: readonly Route[] = sides.flatMap((side) => [...readingRoutes(side), ...actingRoutes(side)]);
