/** Health checks: is the process alive, and can it do its work. */
import { serverStatusView } from '#src/contract/views.ts';
import type { HttpOptions } from '../options.ts';
import { done, refuse } from '../outcome.ts';
import { type Route, route } from '../route.ts';
import { HealthAnswer, ReadyAnswer, ServerStatusAnswer } from '../schemas/server.ts';

const tag = 'server';

export const healthRoutes = ({ version, storageHealthy }: HttpOptions): readonly Route[] => [
  route({
    on: ['GET /health'],
    operationId: 'getHealth',
    credential: 'none',
    tag,
    summary: 'Tell that the process answers',
    answer: HealthAnswer,
    run: () => done({ status: 'ok', version }),
  }),
  route({
    on: ['GET /status'],
    operationId: 'getServerStatus',
    credential: 'none',
    tag,
    summary: 'Tell whether the server works, and how many instances are connected',
    answer: ServerStatusAnswer,
    run: ({ gateway, now }) => done(serverStatusView(gateway.counts(), { healthy: gateway.accepting && storageHealthy(), now })),
  }),
  route({
    on: ['GET /health/ready'],
    operationId: 'getReadiness',
    refusals: { unavailable: {} },
    credential: 'none',
    tag,
    summary: 'Tell how many sessions are restored after a start; 503 while the database is away or the server stops',
    answer: ReadyAnswer,
    run: ({ gateway }) => {
      if (!gateway.accepting) return refuse('unavailable', 'the server is stopping');
      return storageHealthy() ? done(gateway.ready()) : refuse('unavailable', 'the database is not available now');
    },
  }),
];
