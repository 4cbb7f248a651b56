/** Deliveries of the webhooks of an instance and of the global webhook: list, replay, test. */
import type { Static } from 'typebox';
import {
  deliveryStates,
  eventTypes,
  type DeliveryFilter,
  type DeliveryPage,
  type InstanceId,
  type ReplayFilter,
  type Result,
} from '#actors/gateway.ts';
import { deliveryPageView, webhookTestView } from '#src/contract/views.ts';
import type { CredentialName } from '../credentials.ts';
import { done, mapResult, refuse, type Route, route } from '../route.ts';
import * as shape from '../schemas/webhook.ts';

const tag = 'webhook';
const [usualPage, largestPage, usualReplay] = [100, 500, 1000];

const filterOf = ({ webhook, state, limit, offset }: Static<typeof shape.DeliveryQuery>): DeliveryFilter => ({
  ...(webhook === undefined ? {} : { webhook }),
  ...(state === undefined ? {} : { state }),
  limit: Math.min(Math.max(1, limit ?? usualPage), largestPage),
  offset: offset ?? 0,
});

/** Names of an enumeration, one or several; null when one is no member. */
const known = <T extends string>(names: string | readonly string[] | undefined, all: readonly T[]): readonly T[] | undefined | null => {
  if (names === undefined) return undefined;
  const list = [names].flat() as T[];
  return list.every((name) => all.includes(name)) ? list : null;
};

/** null when it is no time. */
const momentOf = (value: string | number | undefined): number | undefined | null => {
  if (value === undefined || typeof value === 'number') return value;
  const at = /^\d+$/.test(value) ? Number(value) : Date.parse(value);
  return Number.isSafeInteger(at) ? at : null;
};

const replayOf = (body: Static<typeof shape.ReplayBody>): Result<ReplayFilter> => {
  const { id, event, webhook, limit = usualReplay } = body;
  if ([id, event, body.state, body.from, body.to].every((one) => one === undefined))
    return refuse('invalid', `say what to replay: id, event, state (${deliveryStates.join(', ')}), from or to`);
  const types = known(event, eventTypes);
  const states = known(body.state, deliveryStates);
  const [from, to] = [momentOf(body.from), momentOf(body.to)];
  if (types === null) return refuse('invalid', `event must be one of ${eventTypes.join(', ')}`);
  if (states === null) return refuse('invalid', `state must be one of ${deliveryStates.join(', ')}`);
  if (from === null || to === null) return refuse('invalid', 'from and to must be ISO 8601 or Unix milliseconds');
  if (from !== undefined && to !== undefined && from > to) return refuse('invalid', 'from must not be later than to');
  return done({
    limit,
    ...(webhook === undefined ? {} : { webhook }),
    ...(id === undefined ? {} : { ids: [id].flat() }),
    ...(types === undefined ? {} : { types }),
    ...(states === undefined ? {} : { states }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  });
};

interface Side {
  readonly path: '/webhook' | '/globalwebhook';
  readonly credential: CredentialName;
  readonly of: string;
  /** In the names of operations. */
  readonly name: string;
  owner(id: InstanceId): InstanceId | null;
}

const sides: readonly Side[] = [
  { path: '/webhook', credential: 'webhook', of: 'of the instance', name: 'Webhook', owner: (id) => id },
  { path: '/globalwebhook', credential: 'globalWebhook', of: 'of the global webhook', name: 'GlobalWebhook', owner: () => null },
];

const missing = { notFound: { example: 'Webhook not found' } } as const;

const routesOf = ({ path, credential, of, name, owner }: Side): readonly Route[] => [
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
      const { limit, offset } = filter;
      const view = (page: DeliveryPage) => ({ ...deliveryPageView(page, owner(id) === null), limit, offset });
      return mapResult(await gateway.deliveries(owner(id), filter), view);
    },
  }),
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
    refusals: missing,
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

export const deliveryRoutes: readonly Route[] = sides.flatMap(routesOf);
