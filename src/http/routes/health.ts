/** What watchdogs ask: is the process alive, and can it do its work. */
import type { Gateway } from '#actors/gateway.ts';
import type { HttpOptions } from '../options.ts';
import { done, refuse } from '../outcome.ts';
import { type Route, route } from '../route.ts';
import { HealthAnswer, ReadyAnswer } from '../schemas/server.ts';

const tag = 'server';

export const healthRoutes = (gateway: Gateway, { version, storageHealthy }: HttpOptions): readonly Route[] => [
  route({
    on: ['GET /health'],
    credential: 'none',
    tag,
    summary: 'The process answers',
    answer: HealthAnswer,
    run: () => done({ status: 'ok', version }),
  }),
  route({
    on: ['GET /health/ready'],
    credential: 'none',
    tag,
    summary: 'How far the restore after a start is; 503 while the database is away or the server stops',
    answer: ReadyAnswer,
    run: () => {
      if (!gateway.accepting) return refuse('unavailable', 'the server is stopping');
      return storageHealthy() ? done(gateway.ready()) : refuse('unavailable', 'the database is not available now');
    },
  }),
];
