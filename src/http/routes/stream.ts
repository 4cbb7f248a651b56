/** The event stream of an instance. */
import { done } from '../outcome.ts';
import { type Route, route } from '../route.ts';
import { StreamAnswer, StreamQuery } from '../schemas/server.ts';
import type { Hub } from '../stream/hub.ts';
import { subscriptionOf } from '../stream/subscription.ts';

export const streamRoutes = (hub: Hub): readonly Route[] => [
  route({
    on: ['GET /sse'],
    credential: 'stream',
    tag: 'events',
    summary: 'Events as they happen; Last-Event-ID resumes where a stream was cut',
    query: StreamQuery,
    answer: StreamAnswer,
    produces: 'text/event-stream',
    run: ({ id, query, request, reply }) => {
      const subscription = subscriptionOf(query.events, query.excludeMessages);
      if (!subscription.ok) return subscription;
      reply.hijack();
      const lastEventId = request.headers['last-event-id'];
      hub.open(id, subscription.value, typeof lastEventId === 'string' ? lastEventId : '', reply.raw);
      return done(null);
    },
  }),
];
