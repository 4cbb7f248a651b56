/** The event stream of an instance. */
import { refuse, type Route, route } from '../route.ts';
import { StreamAnswer, StreamQuery } from '../schemas/server.ts';
import type { Hub } from '../stream/hub.ts';
import { subscriptionOf } from '../stream/subscriber.ts';

/** Seconds after which a broken connection is known to be gone. */
const retryAfterSeconds = 15;

export const streamRoutes = (hub: Hub): readonly Route[] => [
  route({
    on: ['GET /sse'],
    operationId: 'streamEvents',
    credential: 'stream',
    tag: 'events',
    summary: 'Stream events as they happen; with the header Last-Event-ID the stream goes on where it was cut',
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
