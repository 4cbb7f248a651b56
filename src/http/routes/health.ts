/** Health checks: one shows that the process answers, and another that the process can do its work. */
import type { FastifyRequest } from 'fastify';
import type { Gateway } from '#actors/gateway.ts';
import { serverStatusView } from '#src/contract/views.ts';
import type { HttpOptions } from '../options.ts';
import { done, refuse, type Route, route } from '../route.ts';
import {
  HealthAnswer,
  MetricsAnswer,
  ReadyAnswer,
  ReadyReasons,
  ServerStatusAnswer,
  StreamAnswer,
  StreamQuery,
} from '../schemas/server.ts';
import type { Hub } from '../stream/hub.ts';
import { subscriptionOf } from '../stream/subscriber.ts';

const common = { credential: 'none', tag: 'server', relieves: true } as const;

/** Returns the reasons why the server cannot do its work; empty if it can. */
const reasonsOf = ({ storageTroubles }: HttpOptions, gateway: Gateway, overloaded: boolean): readonly string[] => [
  ...(gateway.accepting ? [] : ['the server is stopping']),
  ...(gateway.draining() ? ['the node gives its sessions away'] : []),
  ...new Set([...storageTroubles(), ...gateway.troubles()]),
  ...(overloaded ? ['the event loop is overloaded'] : []),
];

const warningsOf = (gateway: Gateway): { readonly warnings?: readonly string[] } => {
  const warnings = gateway.warnings();
  return warnings.length === 0 ? {} : { warnings };
};

/** Returns true if the request gets reasons and counts, according to HEALTH_DETAILS. Above the limit of wrong admin tokens, no token is checked. */
const mayKnow = ({ healthDetails }: HttpOptions, gateway: Gateway, request: FastifyRequest): boolean => {
  const { admin } = request.server.authenticationLimit;
  const token = request.headers['admintoken'];
  if (healthDetails === 'all') return true;
  if (typeof token !== 'string' || token === '' || admin.take(request) !== null || !gateway.isAdmin(token)) return false;
  admin.giveBack(request);
  return true;
};

export const healthRoutes = (options: HttpOptions): readonly Route[] => [
  route({
    on: ['GET /health/live', 'GET /health'],
    operationId: 'getHealth',
    ...common,
    summary: 'Tell that the process answers',
    answer: HealthAnswer,
    run: () => done({ status: 'ok', version: options.version }),
  }),
  route({
    on: ['GET /status'],
    operationId: 'getServerStatus',
    ...common,
    summary: 'Tell whether the server works, and how many instances are connected',
    answer: ServerStatusAnswer,
    run: ({ gateway, now }) =>
      done(serverStatusView({ counts: gateway.counts(), healthy: gateway.accepting && options.storageTroubles().length === 0, now })),
  }),
  route({
    on: ['GET /health/ready'],
    operationId: 'getReadiness',
    refusals: {
      unavailable: { fields: { reasons: ReadyReasons }, details: ({ causes }) => (causes === undefined ? {} : { reasons: causes }) },
    },
    ...common,
    summary:
      'Tell whether the server can work, and how many sessions are restored after a start; 503 with the reasons while it stops, is overloaded or has no database. ' +
      'HEALTH_DETAILS says who gets the reasons and the counts',
    answer: ReadyAnswer,
    run: ({ gateway, request }) => {
      const reasons = reasonsOf(options, gateway, request.server.isUnderPressure());
      const details = mayKnow(options, gateway, request);
      if (reasons.length === 0) return done({ ready: true, ...(details ? { ...gateway.ready(), ...warningsOf(gateway) } : {}) });
      return refuse('unavailable', details ? reasons.join('; ') : 'not ready', details ? { causes: reasons } : {});
    },
  }),
];

/** Makes the route of the metrics in the format of Prometheus. */
export const metricsRoutes = ({ metrics }: HttpOptions): readonly Route[] =>
  metrics === undefined
    ? []
    : [
        route({
          on: ['GET /metrics'],
          operationId: 'getMetrics',
          credential: 'metrics',
          tag: 'server',
          relieves: true,
          summary: 'Show metrics in the text format of Prometheus; the admin token may also come as `Authorization: Bearer`',
          answer: MetricsAnswer,
          produces: 'text/plain',
          run: async ({ reply }) => {
            void reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
            void reply.type(metrics.contentType).send(await metrics.text());
            return null;
          },
        }),
      ];

// The event stream of an instance.

/** The Retry-After of a refused stream, in seconds. Within this time the gateway detects broken streams, which then no longer count for the limit. */
const retryAfterSeconds = 15;

export const streamRoutes = (hub: Hub): readonly Route[] => [
  route({
    on: ['GET /sse'],
    operationId: 'streamEvents',
    credential: 'stream',
    tag: 'events',
    summary: 'Stream events as they happen. With the header Last-Event-ID the stream continues after the last received event',
    query: StreamQuery,
    answer: StreamAnswer,
    produces: 'text/event-stream',
    refusals: { capped: { example: 'Maximum number of open streams per token reached (20)' } },
    run: ({ id, query, request, reply }) => {
      const subscription = subscriptionOf(query.events, query.excludeMessages);
      if (!subscription.ok) return subscription;
      const objection = hub.objection(id);
      if (objection !== null) return refuse('capped', objection, { retryAfter: retryAfterSeconds });
      reply.hijack();
      const lastEventId = request.headers['last-event-id'];
      hub.open(id, subscription.value, typeof lastEventId === 'string' ? lastEventId : '', reply.raw);
      return null;
    },
  }),
];
