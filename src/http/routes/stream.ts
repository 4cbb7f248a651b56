/** The event stream of an instance. */
import { type Route, route } from '../route.ts';
import { StreamAnswer, StreamQuery } from '../schemas/server.ts';
import type { Hub } from '../stream/hub.ts';
import { subscriptionOf } from '../stream/subscription.ts';

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
    run: ({ id, query, request, reply }) => {
      const subscription = subscriptionOf(query.events, query.excludeMessages);
      if (!subscription.ok) return subscription;
      reply.hijack();
      const lastEventId = request.headers['last-event-id'];
      hub.open(id, subscription.value, typeof lastEventId === 'string' ? lastEventId : '', reply.raw);
      return null;
    },
  }),
];
